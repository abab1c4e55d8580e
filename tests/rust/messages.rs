//! All ways to send and to receive, on any number of ranks: `cargo xtask run -n 4 tests/rust/messages.rs`.

use ompi::point_to_point::{send_receive, send_receive_into, send_receive_replace_into};
use ompi::topology::SimpleCommunicator;
use ompi::traits::*;
use ompi::{ErrorClass, ErrorHandler, request};

fn main() -> ompi::Result<()> {
    let mut universe = ompi::initialize().expect("MPI starts once per process");
    universe.set_buffer_size(1 << 16)?;
    let world = universe.world();
    modes(&world)?;
    lengths(&world)?;
    probes(&world)?;
    exchanges(&world)?;
    leaks(&world)?;
    errors(&world)?;
    world.barrier()
}

fn neighbours(world: &SimpleCommunicator) -> (i32, i32) {
    let (rank, size) = (world.rank(), world.size());
    ((rank + size - 1) % size, (rank + 1) % size)
}

/// Every mode of sending round the ring, blocking and immediate.
fn modes(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (left, right) = neighbours(world);
    let (from, to) = (world.process_at_rank(left), world.process_at_rank(right));
    let mine = [world.rank(), 7];
    for mode in 0..8 {
        let mut heard = [-1; 2];
        let status = request::scope(|scope| {
            let receive = from.immediate_receive_into_with_tag(scope, &mut heard, mode)?;
            // A ready send must find its receive.
            world.barrier()?;
            let send = match mode {
                0 => to.send_with_tag(&mine, mode).map(|()| None)?,
                1 => to.buffered_send_with_tag(&mine, mode).map(|()| None)?,
                2 if world.size() > 1 => None,
                2 | 3 => Some(to.immediate_synchronous_send_with_tag(scope, &mine, mode)?),
                4 => to.ready_send_with_tag(&mine, mode).map(|()| None)?,
                5 => Some(to.immediate_ready_send_with_tag(scope, &mine, mode)?),
                6 => Some(to.immediate_buffered_send_with_tag(scope, &mine, mode)?),
                _ => Some(to.immediate_send_with_tag(scope, &mine, mode)?),
            };
            if mode == 2 && world.size() > 1 {
                to.synchronous_send_with_tag(&mine, mode)?;
            }
            let status = receive.wait()?;
            send.map_or(Ok(()), |send| send.wait_without_status())?;
            Ok::<_, ompi::Error>(status)
        })?;
        assert_eq!((heard, status.source_rank(), status.tag()), ([left, 7], left, mode));
        assert_eq!(
            (status.count::<i32>(), status.count::<[i32; 2]>(), status.count::<u64>()),
            (Some(2), Some(1), Some(1))
        );
        assert_eq!(status.count::<[i32; 3]>(), None);
    }
    Ok(())
}

/// Vectors of any length, short and long, to oneself and to others.
fn lengths(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (left, right) = neighbours(world);
    for length in [0, 1, 7, 8, 100, 5000, 300_000] {
        let mine: Vec<u16> = (0..length).map(|place| (place as i32 * 3 + world.rank()) as u16).collect();
        let (theirs, status) = request::scope(|scope| {
            let send = world.process_at_rank(right).immediate_send(scope, &mine)?;
            let received = world.any_process().receive_vec::<u16>()?;
            send.wait()?;
            Ok::<_, ompi::Error>(received)
        })?;
        assert_eq!((status.source_rank(), theirs.len(), status.bytes()), (left, length, 2 * length as u64));
        assert!(theirs.iter().enumerate().all(|(place, value)| *value == (place as i32 * 3 + left) as u16));
    }
    Ok(())
}

fn probes(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (left, right) = neighbours(world);
    world.process_at_rank(right).buffered_send_with_tag(&[1.5f32, 2.5], 3)?;
    world.process_at_rank(right).buffered_send_with_tag(&[9u8], 4)?;
    let status = world.process_at_rank(left).probe_with_tag(4)?;
    assert_eq!((status.tag(), status.count::<u8>()), (4, Some(1)));
    let message = world.any_process().matched_probe_with_tag(3)?;
    assert!(world.any_process().immediate_probe_with_tag(3)?.is_none(), "the message was taken");
    assert_eq!(message.status().count::<f32>(), Some(2));
    assert_eq!(message.receive::<[f32; 2]>()?.0, [1.5, 2.5]);
    // One that is dropped is received all the same.
    drop(world.any_process().matched_probe()?);
    assert!(world.any_process().immediate_matched_probe()?.is_none());
    world.barrier()
}

fn exchanges(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (left, right) = neighbours(world);
    let (from, to) = (world.process_at_rank(left), world.process_at_rank(right));
    let (heard, status) = send_receive::<i32, _, _, _>(&world.rank(), &to, &from)?;
    assert_eq!((heard, status.source_rank()), (left, left));
    let mut room = vec![0i64; 5];
    let status = send_receive_into(&[i64::from(world.rank()); 3], &to, &mut room, &world.any_process())?;
    assert_eq!((status.count::<i64>(), &room[..4]), (Some(3), &[i64::from(left), left.into(), left.into(), 0][..]));
    let mut token = vec![world.rank() as u8; 70_000];
    send_receive_replace_into(&mut token, &to, &from)?;
    assert!(token.iter().all(|one| *one == left as u8));
    let nobody = world.process_or_null(None);
    assert_eq!(send_receive_into(&token, &nobody, &mut room, &nobody)?.count::<u8>(), Some(0));
    Ok(())
}

/// Whatever becomes of requests: when the scope is over the messages are there.
fn leaks(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (left, right) = neighbours(world);
    let (mine, mut long, mut short) = (vec![world.rank(); 100_000], vec![0; 100_000], [0u8; 4]);
    request::scope(|scope| {
        std::mem::forget(world.process_at_rank(left).immediate_receive_into_with_tag(scope, &mut long, 1)?);
        drop(world.process_at_rank(left).immediate_receive_into_with_tag(scope, &mut short, 2)?);
        drop(world.process_at_rank(right).immediate_send_with_tag(scope, &mine, 1)?);
        std::mem::forget(world.process_at_rank(right).immediate_send_with_tag(scope, b"halo", 2)?);
        Ok::<(), ompi::Error>(())
    })?;
    assert!(long.iter().all(|one| *one == left));
    assert_eq!(&short, b"halo");

    let mut never = [5u8; 2];
    request::scope(|scope| {
        let receive = world.any_process().immediate_receive_into_with_tag(scope, &mut never, 9)?;
        receive.cancel();
        assert!(receive.wait()?.is_cancelled());
        Ok::<(), ompi::Error>(())
    })?;
    assert_eq!(never, [5; 2]);
    Ok(())
}

fn errors(world: &SimpleCommunicator) -> ompi::Result<()> {
    let own = world.duplicate()?;
    own.set_name("own");
    own.set_error_handler(ErrorHandler::Return);
    let me = own.process_at_rank(own.rank());
    me.buffered_send(&[1u8; 8])?;
    let error = own.any_process().receive_into(&mut [0u8; 4]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Truncate, "{error}");
    me.buffered_send(&[1u8; 3])?;
    let error = own.any_process().receive::<u16>().unwrap_err();
    assert!(matches!(error.class(), ErrorClass::Count | ErrorClass::Truncate), "{error}");
    me.buffered_send(&[1u8; 1])?;
    let error = own.any_process().receive::<u16>().unwrap_err();
    assert_eq!(error.class(), ErrorClass::Count, "{error}");
    me.buffered_send(&[1u8; 3])?;
    let error = own.any_process().receive_vec::<u16>().unwrap_err();
    assert!(error.to_string().contains("3 bytes"), "{error}");
    let error = own.any_process().receive_with_tag::<u8>(-7).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Tag, "{error}");
    let error = request::scope(|scope| {
        let mut small = Box::leak(Box::new([0u8; 1]));
        let receive = own.any_process().immediate_receive_into(scope, &mut *small)?;
        me.buffered_send(&[1u8; 2])?;
        let error = receive.wait();
        small = Box::leak(Box::new([0u8; 1]));
        small[0] = 1;
        error
    });
    assert_eq!(error.unwrap_err().class(), ErrorClass::Truncate);
    Ok(())
}
