//! A token goes once around the ring, then all add up what they saw: `cargo xtask run -n 4 examples/ring.rs`.

use ompi::SystemOperation;
use ompi::traits::*;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let next = world.process_at_rank((rank + 1) % size);

    let mut token = [0i64; 4];
    if rank == 0 {
        next.send_with_tag(&[1, 2, 3, 4i64], 7)?;
    }
    let status = world.any_process().receive_into(&mut token)?;
    assert_eq!((status.source_rank(), status.tag(), status.count::<i64>()), ((rank + size - 1) % size, 7, Some(4)));
    token.iter_mut().for_each(|value| *value += 1);
    if rank != 0 {
        next.send_with_tag(&token, 7)?;
    }

    let mut sum = [0i64; 1];
    world.all_reduce_into(&[i64::from(rank)], &mut sum, SystemOperation::sum())?;
    assert_eq!(sum[0], i64::from(size * (size - 1) / 2));
    let mut everyone = vec![0i32; size as usize];
    world.all_gather_into(&[rank * 10], &mut everyone)?;
    assert!(everyone.iter().enumerate().all(|(rank, value)| *value == rank as i32 * 10));
    let mut word = [if rank == 0 { 42u8 } else { 0 }];
    world.process_at_rank(0).broadcast_into(&mut word)?;
    assert_eq!(word, [42]);
    world.barrier()?;
    if rank == 0 {
        println!("the token came back as {token:?} after {size} ranks; their ranks add up to {}", sum[0]);
    }
    Ok(())
}
