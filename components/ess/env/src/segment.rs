//! From a descriptor number in the environment to a checked segment.

use alloc::format;
use alloc::string::String;
use orte_core::environment::{ADVICE, Contract, OutputPipe, SEGMENT};
use orte_core::modex;
use orte_core::segment::mapping::{self, Mapping};
use orte_core::segment::member::{Member, Patience};
use rustix::io::{Errno, FdFlags};

/// The environment of this rank.
pub enum Place {
    /// The whole job is on this node.
    OneNode(Member<Mapping>),
    /// There are other nodes.
    Nodes(modex::member::MultiNodeMember),
}

/// Checks that the inherited descriptor is the segment of this job and maps its control part. `Err` with a sentence.
pub fn open(contract: Contract, patience: Patience) -> Result<Place, String> {
    let number = contract.segment;
    let wrong =
        |why: &str| format!("{SEGMENT} names descriptor {number}, which is not this job's segment: {why}; {ADVICE}");
    let descriptor = mapping::inherited(number);
    match rustix::io::fcntl_getfd(descriptor) {
        Ok(flags) if flags.contains(FdFlags::CLOEXEC) => {
            return Err(format!(
                "MPI was already started with {SEGMENT} in this process by another copy of ompi-rs, or by the process \
                 that forked this one; link programs and the libraries that they load with mpicc and without -static, \
                 and call MPI in one process a rank"
            ));
        }
        Ok(flags) => {
            // From now on only this process has it: its children are not ranks.
            rustix::io::fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC).map_err(|errno| wrong(&refused(errno)))?;
        }
        Err(_) => {
            return Err(format!(
                "{SEGMENT} names descriptor {number}, which is not open: somebody between mpirun and this program closed \
                 it, or a rank started this program itself; {ADVICE}, or unset {SEGMENT} to run it alone"
            ));
        }
    }
    let control = mapping::open(descriptor).map_err(|why| wrong(&why))?;
    let place = match contract.wireup {
        None => Member::new(contract, control, patience).map(Place::OneNode).map_err(|why| wrong(&why)),
        Some(_) => modex::member::MultiNodeMember::new(contract, control, patience).map(Place::Nodes),
    }?;
    if let Some(OutputPipe { pipe, inode, terminal }) = contract.output {
        opal_core::sys::replace_output(pipe, inode, terminal);
    }
    Ok(place)
}

fn refused(errno: Errno) -> String {
    format!("the system refused ({errno})")
}
