//! Many operations at a time, persistent ones, values on their way, several threads: on any number of ranks.

use ompi::topology::{Shared, SimpleCommunicator};
use ompi::traits::*;
use ompi::{ErrorClass, ErrorHandler, SystemOperation, Threading, request};

fn main() -> ompi::Result<()> {
    let (mut universe, level) = ompi::initialize_with_threading(Threading::Multiple).expect("MPI starts once");
    universe.set_buffer_size(1 << 16)?;
    let world = universe.world();
    some_of_many(&world)?;
    left_in_a_collection(&world)?;
    futures(&world)?;
    halo(&world)?;
    sums(&world)?;
    panics(&world)?;
    assert_eq!(level, Threading::Multiple);
    let world = Shared::new(world).expect("MPI was started for several threads");
    threads(&world)
}

fn neighbours(world: &SimpleCommunicator) -> (i32, i32) {
    let (rank, size) = (world.rank(), world.size());
    ((rank + size - 1) % size, (rank + 1) % size)
}

/// Everybody sends to everybody; each way of waiting finds all of them once.
fn some_of_many(world: &SimpleCommunicator) -> ompi::Result<()> {
    let size = world.size() as usize;
    for way in 0..5 {
        let (mine, mut heard) = (vec![world.rank() * 10 + way; 1], vec![[-1]; size]);
        let mut seen = vec![false; size];
        request::multiple_scope(size, |scope, receives| {
            for (from, into) in heard.iter_mut().enumerate() {
                let from = world.process_at_rank(from as i32);
                receives.add(from.immediate_receive_into_with_tag(scope, into, way)?);
            }
            assert_eq!(receives.incomplete(), size);
            for to in 0..world.size() {
                world.process_at_rank(to).immediate_send_with_tag(scope, &mine, way)?;
            }
            while receives.incomplete() > 0 {
                let ended = match way {
                    0 => receives.wait_any()?.into_iter().collect(),
                    1 => receives.wait_some()?,
                    2 => receives.wait_all()?,
                    3 => receives.test_any()?.into_iter().collect(),
                    _ => receives.test_some()?,
                };
                for (place, status, value) in ended {
                    assert!(!std::mem::replace(&mut seen[place], true), "one ends once");
                    assert_eq!((status.source_rank(), value[0]), (place as i32, place as i32 * 10 + way));
                }
            }
            assert!(receives.wait_any()?.is_none() && receives.wait_some()?.is_empty());
            Ok::<(), ompi::Error>(())
        })?;
        assert!(seen.iter().all(|one| *one));
        assert!(heard.iter().enumerate().all(|(from, value)| *value == [from as i32 * 10 + way]));
    }
    Ok(())
}

/// What is left in a collection is there when the scope is over, also after an error.
fn left_in_a_collection(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (left, right) = neighbours(world);
    let (mine, mut theirs) = (vec![world.rank(); 50_000], vec![-1; 50_000]);
    request::multiple_scope(1, |scope, receives| {
        receives.add(world.process_at_rank(left).immediate_receive_into(scope, &mut theirs[..])?);
        drop(world.process_at_rank(right).immediate_send(scope, &mine)?);
        Ok::<(), ompi::Error>(())
    })?;
    assert!(theirs.iter().all(|one| *one == left));
    let own = world.duplicate()?;
    own.set_error_handler(ErrorHandler::Return);
    let me = own.process_at_rank(own.rank());
    let (mut short, mut long) = ([0u8; 1], [0u8; 4]);
    let error = request::multiple_scope(2, |scope, receives| {
        receives.add(me.immediate_receive_into_with_tag(scope, &mut short[..], 1)?);
        receives.add(me.immediate_receive_into_with_tag(scope, &mut long[..], 2)?);
        me.buffered_send_with_tag(&[1u8; 4], 1)?;
        me.buffered_send_with_tag(&[2u8; 4], 2)?;
        receives.wait_all().map(drop)
    });
    assert_eq!(error.unwrap_err().class(), ErrorClass::Truncate);
    assert_eq!(long, [2; 4], "the others have ended all the same");
    Ok(())
}

fn futures(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (left, right) = neighbours(world);
    let value = world.process_at_rank(left).immediate_receive::<[f64; 2]>()?;
    drop(world.any_process().immediate_receive_with_tag::<i32>(99)?);
    world.process_at_rank(right).send(&[f64::from(world.rank()), 0.5])?;
    assert_eq!(value.get()?.0, [f64::from(left), 0.5]);
    let mut value = world.process_at_rank(left).immediate_receive::<i32>()?;
    world.process_at_rank(right).buffered_send(&world.rank())?;
    let (heard, status) = loop {
        match value.r#try()? {
            Ok(heard) => break heard,
            Err(still) => value = still,
        }
    };
    assert_eq!((heard, status.source_rank()), (left, left));
    Ok(())
}

/// A halo exchange that is set up once.
fn halo(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (left, right) = neighbours(world);
    let (mut out, mut into) = (vec![0; 1000], vec![0; 1000]);
    request::scope(|scope| {
        let mut send = world.process_at_rank(right).send_init_with_tag(scope, &mut out, 5)?;
        let mut receive = world.process_at_rank(left).receive_init_with_tag(scope, &mut into, 5)?;
        assert_eq!(receive.wait()?.bytes(), 0, "it was not started");
        for step in 0..20 {
            send.buffers().fill(world.rank() * 100 + step);
            receive.start()?;
            send.start()?;
            assert!(receive.is_active());
            let status = match step % 2 {
                0 => receive.wait()?,
                _ => loop {
                    if let Some(status) = receive.test()? {
                        break status;
                    }
                },
            };
            send.wait()?;
            assert_eq!((status.source_rank(), status.count::<i32>()), (left, Some(1000)));
            assert!(receive.buffers().iter().all(|one| *one == left * 100 + step));
        }
        // One that is under way is completed by the scope; both are freed by it.
        receive.start()?;
        send.start()?;
        std::mem::forget(receive);
        Ok::<(), ompi::Error>(())
    })?;
    assert_eq!(into[999], left * 100 + 19);
    Ok(())
}

fn sums(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (size, mut mine, mut sum) = (world.size(), [0, 0], [0, 0]);
    let (mut each, mut all) = (vec![0; size as usize], vec![0; size as usize]);
    let mut one = world.rank();
    request::scope(|scope| {
        let mut total = world.all_reduce_init(scope, &mut mine, &mut sum, SystemOperation::sum())?;
        let mut barrier = world.barrier_init(scope)?;
        for step in 1..6 {
            *total.buffers().0 = [step, world.rank()];
            total.start()?;
            barrier.start()?;
            total.wait()?;
            barrier.wait()?;
            assert_eq!(*total.buffers().1, [step * size, size * (size - 1) / 2]);
        }
        let mut gather = world.all_gather_init(scope, &mut one, &mut each)?;
        gather.start()?;
        gather.wait()?;
        assert!((0..size).eq(gather.buffers().1.iter().copied()));
        Ok::<(), ompi::Error>(())
    })?;
    request::scope(|scope| {
        let mut exchange = world.all_to_all_init(scope, &mut each, &mut all)?;
        exchange.start()?;
        exchange.wait().map(drop)
    })?;
    assert_eq!(all, vec![world.rank(); size as usize]);
    Ok(())
}

/// A panic in a scope cancels what is under way and gives the buffers back.
fn panics(world: &SimpleCommunicator) -> ompi::Result<()> {
    if cfg!(panic = "abort") {
        return Ok(());
    }
    let mut never = [3u8; 8];
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        request::scope(|scope| {
            let _receive = world.any_process().immediate_receive_into_with_tag(scope, &mut never, 77);
            panic!("in the middle of it");
        })
    }));
    assert!(caught.is_err() && never == [3; 8]);
    Ok(())
}

/// Four threads of each rank, each with a communicator of its own kind of traffic.
fn threads(world: &Shared<SimpleCommunicator>) -> ompi::Result<()> {
    let results: Vec<ompi::Result<()>> = std::thread::scope(|scope| {
        let thread = |tag: i32| {
            move || -> ompi::Result<()> {
                let (left, right) = neighbours(world);
                let mut into = [0u64; 8];
                for step in 0..200u64 {
                    request::scope(|scope| {
                        let receive =
                            world.process_at_rank(left).immediate_receive_into_with_tag(scope, &mut into, tag)?;
                        world.process_at_rank(right).send_with_tag(&[step + tag as u64; 8], tag)?;
                        receive.wait()
                    })?;
                    assert_eq!(into, [step + tag as u64; 8]);
                }
                Ok(())
            }
        };
        let all: Vec<_> = (0..4).map(|tag| scope.spawn(thread(tag))).collect();
        all.into_iter().map(|one| one.join().expect("no thread panics")).collect()
    });
    results.into_iter().collect::<ompi::Result<()>>()?;
    world.barrier()
}
