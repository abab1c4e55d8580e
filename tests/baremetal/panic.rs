//! A Rust program that finds a defect in itself, on the last rank. Booted by `cargo xtask test --all boot/panic`.

use ompi::traits::*;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    let numbers: Vec<i32> = (0..world.rank()).collect();
    if world.rank() == world.size() - 1 {
        println!("{}", numbers[numbers.len()]);
    }
    world.barrier()
}
