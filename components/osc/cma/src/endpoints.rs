//! The ways to the memory of other processes, tried once each.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use ompi_core::comm::Communicator;
use ompi_core::{addresses, process};
use opal_core::framework::smsc::{self, Endpoint};
use opal_core::sync::ConditionalLock;

/// By index of the process, which is not used again; `None` where the system copies nothing.
static TRIED: ConditionalLock<BTreeMap<u32, Option<Endpoint>>> = ConditionalLock::new(BTreeMap::new());

/// By rank, `None` for this process; nothing if some process cannot be reached.
pub fn of(comm: &Communicator) -> Option<Box<[Option<Endpoint>]>> {
    let endpoint = |index: &u32| match process::get(*index).is_self {
        true => Some(None),
        false => TRIED.lock().entry(*index).or_insert_with(|| reach(*index)).map(Some),
    };
    comm.group.members().iter().map(endpoint).collect()
}

fn reach(index: u32) -> Option<Endpoint> {
    let name = smsc::selected()?.name;
    // They were looked at for the transports before.
    let addresses = process::get(index).addresses().ok()?;
    smsc::reach(index, addresses::find(addresses, smsc::FRAMEWORK.name, name))
}
