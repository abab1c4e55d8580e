//! The ways to the memory of other processes of this node, tried once each.

use crate::comm::Communicator;
use crate::{addresses, process};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use opal_core::framework::smsc::{self, Endpoint};
use opal_core::sync::ConditionalLock;

/// By index of the process; `None` where the system copies nothing, and for all processes of other jobs: those say no address for
/// it, so it does not matter that their indices are used again.
static TRIED: ConditionalLock<BTreeMap<u32, Option<Endpoint>>> = ConditionalLock::new(BTreeMap::new());

/// By rank, `None` for this process; nothing if the memory of some process cannot be reached, all of it.
pub fn endpoints(comm: &Communicator) -> Option<Box<[Option<Endpoint>]>> {
    let to = |index| match process::get(index).is_self {
        true => Some(None),
        false => endpoint(index).map(Some),
    };
    comm.group.members().iter().map(to).collect()
}

/// The ways to all memory of one process of this node.
pub fn endpoint(index: u32) -> Option<Endpoint> {
    *TRIED.lock().entry(index).or_insert_with(|| reach(index))
}

/// The system forbids now what it allowed when it was tried, to or from the process of this rank: nobody asks again.
pub fn forbid(comm: &Communicator, rank: usize) {
    if let Some(index) = comm.group.members().get(rank) {
        TRIED.lock().insert(index, None);
    }
}

fn reach(index: u32) -> Option<Endpoint> {
    // They were looked at for the transports before.
    let process = process::get(index);
    let addresses = process.same_node.then(|| process.addresses().ok())??;
    smsc::reach(index, |name| addresses::find(addresses, smsc::FRAMEWORK.name, name)).filter(Endpoint::reaches_all)
}
