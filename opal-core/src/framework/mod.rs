//! One file per framework: its whole interface. `ls` here lists what a component of layer 1 can be.

pub mod atomics;
pub mod btl;
pub mod memcpy;
pub mod memory;
pub mod netif;
pub mod rcache;
pub mod reachable;
pub mod shmem;
pub mod smsc;
pub mod timer;

use crate::mca::Framework;

/// The frameworks of this layer.
pub static ALL: &[&Framework] = &[
    &atomics::FRAMEWORK,
    &btl::FRAMEWORK,
    &memcpy::FRAMEWORK,
    &memory::FRAMEWORK,
    &netif::FRAMEWORK,
    &rcache::FRAMEWORK,
    &reachable::FRAMEWORK,
    &shmem::FRAMEWORK,
    &smsc::FRAMEWORK,
    &timer::FRAMEWORK,
];

/// Opens the static components of this layer. Once, before anything is copied or timed.
pub fn open_static() -> crate::Result<()> {
    use crate::mca::open_static;
    open_static(&atomics::FRAMEWORK, &atomics::OMPI_ATOMICS)?;
    open_static(&memcpy::FRAMEWORK, &memcpy::OMPI_MEMCPYS)?;
    open_static(&memory::FRAMEWORK, &memory::OMPI_MEMORIES)?;
    open_static(&timer::FRAMEWORK, &timer::OMPI_TIMERS)
}
