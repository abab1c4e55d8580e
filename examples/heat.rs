//! Heat in a rod of metal: each rank has a part of it and exchanges one value with each neighbour per step, while it
//! already computes what needs none. `cargo xtask run -n 4 examples/heat.rs`.

use ompi::traits::*;
use ompi::{SystemOperation, request};

const CELLS: usize = 240;
const STEPS: usize = 2000;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    // The last rank takes what does not divide.
    let mine = CELLS / size + if rank + 1 == size { CELLS % size } else { 0 };
    // Beyond the ends of the rod there is nobody: what is sent there vanishes, and nothing comes.
    let left = world.process_or_null((rank > 0).then(|| rank as i32 - 1));
    let right = world.process_or_null((rank + 1 < size).then(|| rank as i32 + 1));

    // One cell more at each end, for the neighbours'; hot at the left end of the rod, cold elsewhere.
    let mut now = vec![0.0; mine + 2];
    if rank == 0 {
        now[0] = 100.0;
    }
    let mut next = now.clone();
    for _ in 0..STEPS {
        let (first, last) = ([now[1]], [now[mine]]);
        // What is there of the ends of the rod stays.
        let (mut before, mut behind) = ([now[0]], [now[mine + 1]]);
        request::scope(|scope| {
            let from_left = left.immediate_receive_into(scope, &mut before)?;
            let from_right = right.immediate_receive_into(scope, &mut behind)?;
            left.immediate_send(scope, &first)?;
            right.immediate_send(scope, &last)?;
            (2..mine).for_each(|cell| next[cell] = stepped(&now[cell - 1..=cell + 1]));
            from_left.wait()?;
            from_right.wait()
        })?;
        (now[0], now[mine + 1]) = (before[0], behind[0]);
        for cell in [1, mine] {
            next[cell] = stepped(&now[cell - 1..=cell + 1]);
        }
        (next[0], next[mine + 1]) = (now[0], now[mine + 1]);
        std::mem::swap(&mut now, &mut next);
    }

    let mut heat = 0.0;
    world.all_reduce_into(&now[1..=mine].iter().sum::<f64>(), &mut heat, SystemOperation::sum())?;
    if rank == 0 {
        println!("{heat:.6} of heat in the rod after {STEPS} steps on {size} ranks");
    }
    let alone = alone();
    assert!((heat - alone).abs() < 1e-9, "{heat} on {size} ranks, {alone} on one");
    Ok(())
}

fn stepped(around: &[f64]) -> f64 {
    around[1] + 0.25 * (around[0] - 2.0 * around[1] + around[2])
}

/// The same without MPI.
fn alone() -> f64 {
    let mut now = vec![0.0; CELLS + 2];
    now[0] = 100.0;
    for _ in 0..STEPS {
        let mut next = now.clone();
        (1..=CELLS).for_each(|cell| next[cell] = stepped(&now[cell - 1..=cell + 1]));
        now = next;
    }
    now[1..=CELLS].iter().sum()
}
