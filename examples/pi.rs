//! Pi as the integral of 4/(1+x²) from 0 to 1, each rank adding up every size-th strip:
//! `cargo xtask run -n 4 examples/pi.rs -- 1000000`.

use ompi::SystemOperation;
use ompi::traits::*;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    let root = world.process_at_rank(0);

    // The command line is the root's affair.
    let mut strips = 1_000_000u64;
    if world.rank() == 0 {
        strips = std::env::args().nth(1).map_or(strips, |word| word.parse().expect("a number of strips"));
    }
    root.broadcast_into(&mut strips)?;

    let start = ompi::time();
    let width = 1.0 / strips as f64;
    let mine = (world.rank() as u64..strips).step_by(world.size() as usize);
    let part: f64 = mine.map(|strip| 4.0 * width / (1.0 + ((strip as f64 + 0.5) * width).powi(2))).sum();
    if world.rank() != 0 {
        return root.reduce_into(&part, SystemOperation::sum());
    }
    let mut pi = 0.0;
    root.reduce_into_root(&part, &mut pi, SystemOperation::sum())?;
    println!("pi is {pi:.12}, by {} ranks in {:.4} s", world.size(), ompi::time() - start);
    assert!((pi - std::f64::consts::PI).abs() < 1e-9);
    Ok(())
}
