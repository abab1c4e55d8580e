//! From a descriptor number in the environment to a checked segment.

use crate::raw::{self, Mapping};
use alloc::format;
use alloc::string::String;
use orte_core::environment::{ADVICE, Contract, SEGMENT};
use orte_core::segment::layout::HEADER_BYTES;
use orte_core::segment::member::{Member, Patience};
use orte_core::segment::{Control, Layout};
use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, SealFlags};
use rustix::io::{Errno, FdFlags};

/// Checks that the inherited descriptor is the segment of this job and maps its control part. `Err` with a sentence.
pub fn open(contract: Contract, patience: Patience) -> Result<Member<Mapping>, String> {
    let number = contract.segment;
    let wrong =
        |why: &str| format!("{SEGMENT} names descriptor {number}, which is not this job's segment: {why}; {ADVICE}");
    let descriptor = raw::inherited(number);
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
    let layout = checked(descriptor).map_err(|why| wrong(&why))?;
    let mapping = raw::map(descriptor, layout.control_bytes()).map_err(|errno| wrong(&refused(errno)))?;
    let control = Control::new(layout, mapping).ok_or_else(|| wrong("it is too short"))?;
    Member::new(contract, control, patience).map_err(|why| wrong(&why))
}

fn checked(descriptor: BorrowedFd<'_>) -> Result<Layout, String> {
    let stat = rustix::fs::fstat(descriptor).map_err(refused)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(String::from("it is not a memory file"));
    }
    // Only memory files have seals; without this one a peer could cut the mapping off and kill this process.
    match rustix::fs::fcntl_get_seals(descriptor) {
        Ok(seals) if seals.contains(SealFlags::SHRINK) => {}
        Ok(_) => return Err(String::from("it is not sealed against shrinking")),
        Err(_) => return Err(String::from("it is not a memory file")),
    }
    let mut header = [0; HEADER_BYTES];
    let read = rustix::io::pread(descriptor, &mut header, 0).map_err(refused)?;
    let file_bytes = u64::try_from(stat.st_size).unwrap_or(0);
    Layout::new_checked(&header[..read], file_bytes).map_err(|flaw| format!("{flaw}"))
}

fn refused(errno: Errno) -> String {
    format!("the system refused ({errno})")
}
