//! Performance variables: what MPI's tool interface reads of this component.

use crate::module::MODULE;
use crate::wire;
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};

/// All of them.
pub static ALL: &[&Pvar] = &[
    &Pvar::new(
        "peers",
        PvarClass::Level,
        3,
        "Processes of the node to which this one is connected through shared memory.",
        Reading::Of(peers),
    ),
    &Pvar::new(
        "queue_memory",
        PvarClass::Level,
        4,
        "Shared memory of the queues between this process and those to which it is connected, both directions, in bytes. What is not \
         used of it takes no memory.",
        Reading::Of(queue_memory),
    ),
];

fn peers() -> u64 {
    MODULE.get().map_or(0, |module| module.node().connected() as u64)
}

fn queue_memory() -> u64 {
    MODULE.get().map_or(0, |module| {
        let node = module.node();
        2 * node.connected() as u64 * wire::queue_bytes(node.ranks()) as u64
    })
}
