//! Hangs: rank 0 in a receive that nobody serves, rank 1 in a barrier, rank 2 in a function of its own.

use ompi::traits::*;

#[inline(never)]
fn compute(mut count: u64) -> u64 {
    while std::hint::black_box(count) > 0 {
        count = count / 2 + 1;
    }
    count
}

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    let mut word = [0i32];
    match world.rank() {
        0 => drop(world.process_at_rank(1).receive_into(&mut word)?),
        1 => world.barrier()?,
        _ => println!("{}", compute(7)),
    }
    Ok(())
}
