//! Registration, and where processes are.

use crate::algorithm::Algorithm;
use crate::layout::Layout;
use crate::module::Han;
use crate::params;
use crate::select::{Choices, SERVED};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll::{self, About, Case, Function};
use ompi_core::process;
use opal_core::mca::{self, Declined};
use opal_core::{Error, message};

/// The component.
pub struct HanColl;

impl mca::Component for HanColl {
    opal_core::component_info!();
}

impl coll::Component for HanColl {
    fn configure(&self) -> opal_core::Result<()> {
        pretended().map(drop)
    }

    fn query(&self, comm: &Communicator) -> Result<(i32, Arc<dyn coll::Module>), Declined> {
        if comm.is_inter() {
            return Err(Declined("it serves intracommunicators only"));
        }
        // Of other jobs a process knows whether they share its node, but not which of them share one with each other.
        if comm.group.members().iter().any(|process| process as usize >= process::count()) {
            return Err(Declined("it has processes of several jobs"));
        }
        let pretended = pretended().map_err(|_| Declined("coll_han_pretend_nodes has a mistake"))?;
        let node = |process| match pretended.len() {
            0 => process::get(process).node(),
            nodes => pretended[process as usize % nodes],
        };
        let layout = Layout::new(comm.group.members().iter().map(node));
        match layout.members().len() {
            0 | 1 => return Err(Declined("all its processes are on one node")),
            _ if !layout.has_levels() => return Err(Declined("each of its processes is on another node")),
            _ => {}
        }
        Ok((PRIORITY, Arc::new(Han::new(layout, comm.rank as usize, Choices::by_parameters()))))
    }

    fn about(&self, function: Function, case: Case) -> Option<About> {
        let (algorithm, _) = Choices::by_parameters().algorithm(function, case.bytes, case.ranks);
        let choice = match algorithm {
            Algorithm::Leaders => Err("all processes are on one node: it would serve several nodes"),
            Algorithm::Fallback => Err("it leaves so many bytes to others"),
        };
        let counts = match function {
            Function::Gather | Function::Scatter | Function::Allgather => "of a rank's block",
            _ => "of the data",
        };
        SERVED.iter().any(|(served, ..)| *served == function).then_some(About {
            priority: PRIORITY,
            algorithms: &Algorithm::WORDS[2..],
            counts,
            forced: Choices::by_parameters().forces(function),
            choice,
        })
    }
}

/// Above coll/sm, which has nothing to say of several nodes, unless these are pretended.
const PRIORITY: i32 = 45;

/// What `coll_han_pretend_nodes` says; nothing if it is not set. `Err(Invalid)` after a message.
fn pretended() -> opal_core::Result<Vec<u32>> {
    let text = params::PRETEND_NODES.text();
    let numbers = text.split(',').filter(|_| !text.is_empty()).map(|word| word.trim().parse::<u32>());
    numbers.collect::<Result<_, _>>().map_err(|_| {
        message!("coll_han_pretend_nodes: {text} is not a list of numbers; write, for example, 0,0,1,1");
        Error::Invalid
    })
}

opal_core::component! {
    /// Collectives in two levels: within each node, and between one process of each.
    pub static COMPONENT: HanColl = HanColl;
    in ompi_core::framework::coll, name "han", params params::ALL
}
