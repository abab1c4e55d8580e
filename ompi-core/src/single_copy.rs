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
    let endpoint = |index| match process::get(index).is_self {
        true => Some(None),
        false => TRIED.lock().entry(index).or_insert_with(|| reach(index)).map(Some),
    };
    comm.group.members().iter().map(endpoint).collect()
}

fn reach(index: u32) -> Option<Endpoint> {
    // They were looked at for the transports before.
    let process = process::get(index);
    let addresses = process.same_node.then(|| process.addresses().ok())??;
    smsc::reach(index, |name| addresses::find(addresses, smsc::FRAMEWORK.name, name)).filter(Endpoint::reaches_all)
}
