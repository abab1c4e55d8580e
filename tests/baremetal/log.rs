//! A Rust program that logs at every level, which `cargo xtask test boot/log` shows as text and by frames of defmt.

use ompi::traits::*;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    error!("an error of rank {}", world.rank());
    warn!("numbers: {} {} {:#x}", -7, u64::MAX, 0xfeed_u32);
    info!("words: {} and {}", "one", world.size() == 2);
    debug!("the last level that is shown when nobody says more");
    trace!("nobody asked for this");
    // As a crate does that knows nothing of the machine.
    hw_x86_64::log::facade::warn!("by crate log: {:.2}", 2.5);
    world.barrier()
}
