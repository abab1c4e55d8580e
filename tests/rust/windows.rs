//! Windows, on any number of ranks: epochs of every kind, atomic accesses, errors, an epoch that an error leaves.

use ompi::topology::SimpleCommunicator;
use ompi::traits::*;
use ompi::window::{Lock, Window};
use ompi::{ErrorClass, ErrorHandler, SystemOperation};

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once");
    let world = universe.world();
    fences(&world)?;
    counts(&world)?;
    mistakes(&world)?;
    early_end(&world)
}

/// Everybody writes into everybody.
fn fences(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut window = Window::<[i32; 2]>::allocate(world, size as usize)?;
    let mine: Vec<_> = (0..size).map(|to| [rank, to]).collect();
    let mut heard = vec![[-1; 2]; size as usize];
    window.fence(|epoch| (0..size).try_for_each(|to| epoch.put(to, rank as usize, &mine[to as usize..][..1])))?;
    window.lock(rank, Lock::Shared, |epoch| epoch.get(rank, 0, &mut heard))?;
    assert!(heard.iter().enumerate().all(|(from, value)| *value == [from as i32, rank]), "{heard:?}");
    assert!(!window.is_empty() && window.size() == size);
    Ok(())
}

/// Every number is drawn once.
fn counts(world: &SimpleCommunicator) -> ompi::Result<()> {
    const EACH: usize = 50;
    let all = world.size() as usize * EACH;
    let mut window = Window::<u64>::allocate(world, if world.rank() == 0 { 1 } else { 0 })?;
    let mut drawn = vec![0; EACH];
    window.lock_all(|epoch| {
        for before in drawn.chunks_mut(1) {
            epoch.get_accumulate(0, 0, &[1], before, SystemOperation::sum())?;
            epoch.flush(0)?;
        }
        Ok(())
    })?;
    assert!(drawn.is_sorted(), "what one process draws rises: {drawn:?}");
    let (mine, mut sum) = (drawn.iter().sum::<u64>(), 0);
    world.all_reduce_into(&mine, &mut sum, SystemOperation::sum())?;
    assert_eq!(sum, (all * (all - 1) / 2) as u64);
    world.barrier()
}

/// The standard's classes come back, and the window works on.
fn mistakes(world: &SimpleCommunicator) -> ompi::Result<()> {
    let next = (world.rank() + 1) % world.size();
    let mut window = Window::<f64>::allocate(world, 2)?;
    window.set_error_handler(ErrorHandler::Return);
    let values = [1.0; 3];
    let fault = window.lock(next, Lock::Exclusive, |epoch| epoch.put(next, 0, &values)).unwrap_err();
    assert_eq!(fault.class(), ErrorClass::RmaRange);
    let fault =
        window.lock(next, Lock::Exclusive, |epoch| epoch.accumulate(next, 0, &[1.0], SystemOperation::bitwise_or()));
    assert_eq!(fault.unwrap_err().class(), ErrorClass::Op);
    window.lock(next, Lock::Exclusive, |epoch| epoch.put(next, 0, &values[..2]))
}

/// An error that leaves the epoch ends it, so others get the lock.
fn early_end(world: &SimpleCommunicator) -> ompi::Result<()> {
    let mut window = Window::<i32>::allocate(world, 1)?;
    window.set_error_handler(ErrorHandler::Return);
    let left = window.lock(0, Lock::Exclusive, |epoch| {
        epoch.accumulate(0, 0, &[1], SystemOperation::sum())?;
        epoch.put(0, 1, &[7])
    });
    assert_eq!(left.unwrap_err().class(), ErrorClass::RmaRange);
    world.barrier()?;
    let mut sum = [0];
    window.lock(0, Lock::Shared, |epoch| epoch.get(0, 0, &mut sum))?;
    assert_eq!(sum, [world.size()]);
    Ok(())
}
