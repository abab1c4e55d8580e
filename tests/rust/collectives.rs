//! Every collective, blocking, in place and immediate, against its expected result: on any number of ranks.

use ompi::collective::UserOperation;
use ompi::datatype::{Partition, PartitionMut};
use ompi::topology::SimpleCommunicator;
use ompi::traits::*;
use ompi::{ErrorClass, ErrorHandler, SystemOperation, request};

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    equal_blocks(&world)?;
    rooted(&world)?;
    any_blocks(&world)?;
    reductions(&world)?;
    in_place(&world)?;
    several_at_once(&world)?;
    closures(&world)?;
    errors(&world)?;
    world.immediate_barrier()?.wait_without_status()
}

fn equal_blocks(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut all = vec![[0; 2]; size as usize];
    world.all_gather_into(&[rank, -rank], &mut all)?;
    assert!(all.iter().enumerate().all(|(from, pair)| *pair == [from as i32, -(from as i32)]));
    let mine: Vec<i64> = (0..size).map(|to| i64::from(100 * rank + to)).collect();
    let (mut once, mut later) = (vec![0; mine.len()], vec![0; mine.len()]);
    world.all_to_all_into(&mine, &mut once)?;
    assert!((0..size).map(|from| i64::from(100 * from + rank)).eq(once.iter().copied()));
    request::scope(|scope| world.immediate_all_to_all_into(scope, &mine, &mut later)?.wait())?;
    assert_eq!(once, later);
    Ok(())
}

fn rooted(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for root in 0..size {
        let process = world.process_at_rank(root);
        let mut word = if rank == root { *b"root" } else { *b"none" };
        process.broadcast_into(&mut word)?;
        assert_eq!(&word, b"root");
        let (mut part, mut all) = ([0; 2], vec![0; 2 * size as usize]);
        let mut largest = -1;
        if rank == root {
            process.gather_into_root(&[rank; 2], &mut all)?;
            assert!(all.iter().enumerate().all(|(place, from)| *from == place as i32 / 2));
            process.scatter_into_root(&all, &mut part)?;
            process.reduce_into_root(&rank, &mut largest, SystemOperation::max())?;
            assert_eq!(largest, size - 1);
        } else {
            process.gather_into(&[rank; 2])?;
            process.scatter_into(&mut part)?;
            process.reduce_into(&rank, SystemOperation::max())?;
        }
        assert_eq!(part, [rank; 2]);
        request::scope(|scope| {
            if rank == root {
                process.immediate_gather_into_root(scope, &part, &mut all)?.wait()?;
                process.immediate_reduce_into_root(scope, &rank, &mut largest, SystemOperation::min())?.wait()
            } else {
                process.immediate_gather_into(scope, &part)?.wait()?;
                process.immediate_reduce_into(scope, &rank, SystemOperation::min())?.wait()
            }
        })?;
        assert!(rank != root || largest == 0);
        let mut again = [9; 2];
        request::scope(|scope| {
            process.immediate_broadcast_into(scope, &mut word)?.wait()?;
            match rank == root {
                true => process.immediate_scatter_into_root(scope, &all, &mut again)?.wait(),
                false => process.immediate_scatter_into(scope, &mut again)?.wait(),
            }
        })?;
        assert_eq!(again, [rank; 2]);
    }
    Ok(())
}

fn any_blocks(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    // Rank r has r + 1 elements; blocks lie backwards, with a gap of one element.
    let counts: Vec<usize> = (1..=size).collect();
    let starts: Vec<usize> = (0..size).map(|from| (from + 1..size).map(|later| later + 2).sum()).collect();
    let length = starts[0] + counts[0];
    let mine = vec![rank as u32; counts[rank]];
    let right = |all: &[u32]| {
        for from in 0..size {
            assert!(all[starts[from]..][..counts[from]].iter().all(|one| *one == from as u32), "{all:?}");
        }
        assert_eq!(all.iter().filter(|one| **one == 77).count(), length - counts.iter().sum::<usize>(), "gaps stay");
    };
    let mut all = vec![77; length];
    world.all_gather_varcount_into(&mine, &mut PartitionMut::new(&mut all, &counts, &starts)?)?;
    right(&all);
    all.fill(77);
    request::scope(|scope| {
        let blocks = PartitionMut::new(&mut all, &counts, &starts)?;
        world.immediate_all_gather_varcount_into(scope, &mine, blocks)?.wait()
    })?;
    right(&all);
    let root = world.process_at_rank(0);
    let mut back = vec![88; counts[rank]];
    if rank == 0 {
        all.fill(77);
        root.gather_varcount_into_root(&mine, &mut PartitionMut::new(&mut all, &counts, &starts)?)?;
        right(&all);
        root.scatter_varcount_into_root(&Partition::new(&all, &counts, &starts)?, &mut back)?;
    } else {
        root.gather_varcount_into(&mine)?;
        root.scatter_varcount_into(&mut back)?;
    }
    assert_eq!(back, mine);
    let mut again = vec![88; counts[rank]];
    request::scope(|scope| {
        let requests = match rank == 0 {
            true => {
                let blocks = PartitionMut::new(&mut all, &counts, &starts)?;
                root.immediate_gather_varcount_into_root(scope, &mine, blocks)?.wait()?;
                root.immediate_scatter_varcount_into_root(
                    scope,
                    Partition::contiguous(&mine, &counts[..1]).and_then(
                        // Of one process there is one block; of more the root's own is taken from a vector of all.
                        |one| if size == 1 { Ok(one) } else { Partition::contiguous(leaked(size), &counts) },
                    )?,
                    &mut again,
                )?
                .wait()
            }
            false => {
                root.immediate_gather_varcount_into(scope, &mine)?.wait()?;
                root.immediate_scatter_varcount_into(scope, &mut again)?.wait()
            }
        };
        requests
    })?;
    assert_eq!(again, mine);
    to_each_other(world, &counts)
}

/// What the root scatters: each rank's number, as often as it is long.
fn leaked(size: usize) -> &'static Vec<u32> {
    Box::leak(Box::new((0..size).flat_map(|to| vec![to as u32; to + 1]).collect()))
}

fn to_each_other(world: &SimpleCommunicator, counts: &[usize]) -> ompi::Result<()> {
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    // To rank t go t + 1 elements; so rank + 1 come from each.
    let send: Vec<u64> = counts.iter().flat_map(|count| vec![rank as u64; *count]).collect();
    let mut received = vec![0; size * counts[rank]];
    let mine = vec![counts[rank]; size];
    let right = |received: &[u64]| {
        assert!(received.iter().enumerate().all(|(place, from)| *from == (place / counts[rank]) as u64));
    };
    world.all_to_all_varcount_into(
        &Partition::contiguous(&send, counts)?,
        &mut PartitionMut::contiguous(&mut received, &mine)?,
    )?;
    right(&received);
    received.fill(0);
    request::scope(|scope| {
        let from = Partition::contiguous(&send, counts)?;
        let to = PartitionMut::contiguous(&mut received, &mine)?;
        world.immediate_all_to_all_varcount_into(scope, from, to)?.wait()
    })?;
    right(&received);
    // Numbers of bytes that grow with the receiver, of another type for each parity.
    let (wide, narrow) = (vec![rank as u64; size], vec![rank as u16; size]);
    let (mut wides, mut narrows) = (vec![vec![0u64; rank]; size], vec![vec![0u16; rank]; size]);
    let out: Vec<&dyn Buffer> = (0..size)
        .map(|to| if to % 2 == 0 { &*leaked_slice(&wide, to) as &dyn Buffer } else { leaked_slice(&narrow, to) })
        .collect();
    let mut into: Vec<&mut dyn BufferMut> = match rank % 2 {
        0 => wides.iter_mut().map(|one| one as &mut dyn BufferMut).collect(),
        _ => narrows.iter_mut().map(|one| one as &mut dyn BufferMut).collect(),
    };
    world.all_to_all_buffers_into(&out, &mut into)?;
    request::scope(|scope| world.immediate_all_to_all_buffers_into(scope, &out, into)?.wait())?;
    for from in 0..size {
        match rank % 2 {
            0 => assert_eq!(wides[from], vec![from as u64; rank]),
            _ => assert_eq!(narrows[from], vec![from as u16; rank]),
        }
    }
    Ok(())
}

fn leaked_slice<T: Clone>(all: &[T], length: usize) -> &'static Vec<T> {
    Box::leak(Box::new(all[..length].to_vec()))
}

fn reductions(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mine = [f64::from(rank), 1.0, -2.0];
    let mut sum = [0.0; 3];
    world.all_reduce_into(&mine, &mut sum, SystemOperation::sum())?;
    assert_eq!(sum, [f64::from(size * (size - 1) / 2), f64::from(size), f64::from(-2 * size)]);
    let mut bits = 0u8;
    world.all_reduce_into(&(1u8 << (rank % 8)), &mut bits, SystemOperation::bitwise_or())?;
    assert_eq!(bits, (0..size).fold(0, |bits, rank| bits | 1 << (rank % 8)));
    let (mut upto, mut before) = (0, 77);
    world.scan_into(&(rank + 1), &mut upto, SystemOperation::sum())?;
    world.exclusive_scan_into(&(rank + 1), &mut before, SystemOperation::sum())?;
    assert_eq!((upto, before), ((rank + 1) * (rank + 2) / 2, if rank == 0 { 77 } else { rank * (rank + 1) / 2 }));
    let (mut later, mut long_before) = (0, 77);
    request::scope(|scope| {
        let upto = world.immediate_scan_into(scope, &rank, &mut later, SystemOperation::max())?;
        let before = world.immediate_exclusive_scan_into(scope, &rank, &mut long_before, SystemOperation::max())?;
        before.wait()?;
        upto.wait()
    })?;
    assert_eq!((later, long_before), (rank, if rank == 0 { 77 } else { rank - 1 }));
    let all: Vec<i32> = (0..2 * size).collect();
    let (mut block, mut immediate) = ([0; 2], [0; 2]);
    world.reduce_scatter_block_into(&all, &mut block, SystemOperation::sum())?;
    request::scope(|scope| {
        world.immediate_reduce_scatter_block_into(scope, &all, &mut immediate, SystemOperation::sum())?.wait()
    })?;
    assert_eq!((block, immediate), ([2 * rank * size, (2 * rank + 1) * size], block));
    let counts: Vec<usize> = (1..=size as usize).collect();
    let ones = vec![1i64; counts.iter().sum()];
    let (mut own, mut again) = (vec![0; counts[rank as usize]], vec![0; counts[rank as usize]]);
    world.reduce_scatter_into(&ones, &mut own, &counts, SystemOperation::sum())?;
    request::scope(|scope| {
        world.immediate_reduce_scatter_into(scope, &ones, &mut again, &counts, SystemOperation::sum())?.wait()
    })?;
    assert_eq!((&own, own.iter().sum::<i64>()), (&again, (rank as i64 + 1) * i64::from(size)));
    Ok(())
}

fn in_place(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut all = vec![-1; size as usize];
    all[rank as usize] = rank;
    world.all_gather_in_place(&mut all)?;
    assert!((0..size).eq(all.iter().copied()));
    let mut each: Vec<i32> = (0..size).map(|to| 10 * rank + to).collect();
    world.all_to_all_in_place(&mut each)?;
    assert!((0..size).map(|from| 10 * from + rank).eq(each));
    let mut value = [rank; 2];
    world.all_reduce_in_place(&mut value, SystemOperation::sum())?;
    assert_eq!(value, [size * (size - 1) / 2; 2]);
    let (mut upto, mut before) = (1, 1);
    world.scan_in_place(&mut upto, SystemOperation::sum())?;
    world.exclusive_scan_in_place(&mut before, SystemOperation::sum())?;
    assert_eq!((upto, before), (rank + 1, rank.max(1)));
    let mut blocks: Vec<i32> = (0..size).collect();
    world.reduce_scatter_block_in_place(&mut blocks, SystemOperation::sum())?;
    assert_eq!(blocks[0], rank * size);
    let root = world.process_at_rank(size - 1);
    let (mut mine, mut total) = (rank, 1);
    if rank == root.rank() {
        let mut all = vec![rank; size as usize];
        root.gather_in_place_root(&mut all)?;
        assert!((0..size).eq(all.iter().copied()));
        root.scatter_in_place_root(&mut all)?;
        root.reduce_in_place_root(&mut total, SystemOperation::sum())?;
        assert_eq!(total, size);
    } else {
        root.gather_into(&mine)?;
        root.scatter_into(&mut mine)?;
        root.reduce_into(&total, SystemOperation::sum())?;
    }
    assert_eq!(mine, rank);
    Ok(())
}

/// Four operations under way, completed by the end of their scope.
fn several_at_once(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mut sum, mut all, mut word) = (0, vec![0; size as usize], if rank == 0 { 3u8 } else { 0 });
    let mut largest = [0.0; 1000];
    request::scope(|scope| {
        drop(world.immediate_all_reduce_into(scope, &rank, &mut sum, SystemOperation::sum())?);
        std::mem::forget(world.immediate_all_gather_into(scope, &rank, &mut all)?);
        drop(world.process_at_rank(0).immediate_broadcast_into(scope, &mut word)?);
        let mine = Box::leak(Box::new([f64::from(rank); 1000]));
        drop(world.immediate_all_reduce_into(scope, &*mine, &mut largest, SystemOperation::max())?);
        Ok::<(), ompi::Error>(())
    })?;
    assert_eq!((sum, word, largest), (size * (size - 1) / 2, 3, [f64::from(size - 1); 1000]));
    assert!((0..size).eq(all));
    Ok(())
}

fn closures(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let modulus = 1_000_003u64;
    let product = UserOperation::commutative(|left: &u64, right: &mut u64| *right = *left * *right % modulus);
    let wanted = (0..size).fold(1, |all, rank| all * (rank as u64 + 2) % modulus);
    let (mut now, mut later) = ([0; 40], [0; 40]);
    world.all_reduce_into(&[rank as u64 + 2; 40], &mut now, &product)?;
    let mine = [rank as u64 + 2; 40];
    request::scope(|scope| world.immediate_all_reduce_into(scope, &mine, &mut later, &product)?.wait())?;
    assert_eq!((now, later), ([wanted; 40], [wanted; 40]));
    // Neither commutative nor the same from the left and from the right: the decimal digits of all ranks.
    let digits = UserOperation::associative(|left: &u64, right: &mut u64| {
        let places = right.checked_ilog10().unwrap_or(0) + 1;
        *right += left * 10u64.pow(places);
    });
    let mut all = 0;
    world.all_reduce_into(&(rank as u64 % 9 + 1), &mut all, &digits)?;
    assert_eq!(all, (0..size as u64).fold(0, |all, rank| all * 10 + rank % 9 + 1));
    Ok(())
}

fn errors(world: &SimpleCommunicator) -> ompi::Result<()> {
    let own = world.duplicate()?;
    own.set_error_handler(ErrorHandler::Return);
    let mut long = vec![0; own.size() as usize + 1];
    let class = |result: ompi::Result<()>| result.unwrap_err().class();
    assert_eq!(class(own.all_gather_into(&[1, 2], &mut long[..own.size() as usize])), ErrorClass::Count);
    assert_eq!(class(own.all_reduce_into(&1, &mut [0; 2], SystemOperation::sum())), ErrorClass::Count);
    assert_eq!(class(own.all_reduce_into(&1i32, &mut 1.0f32, SystemOperation::sum())), ErrorClass::Type);
    assert_eq!(class(own.all_reduce_into(&1.5, &mut 0.0, SystemOperation::bitwise_and())), ErrorClass::Op);
    let wrong = UserOperation::commutative(|_: &i32, _: &mut i32| {});
    assert_eq!(class(own.all_reduce_into(&1.5, &mut 0.0, &wrong)), ErrorClass::Op);
    assert_eq!(class(own.process_or_null(None).broadcast_into(&mut 1)), ErrorClass::Root);
    let root = own.process_at_rank((own.rank() + 1) % own.size());
    if own.size() > 1 {
        assert_eq!(class(root.gather_into_root(&1, &mut long)), ErrorClass::Root);
    }
    assert_eq!(class(own.process_at_rank(own.rank()).gather_into(&1)), ErrorClass::Root);
    let too_few = PartitionMut::new(&mut long, &[], &[]).unwrap();
    assert_eq!(class(own.all_gather_varcount_into(&1, &mut { too_few })), ErrorClass::Count);
    assert_eq!(class(own.reduce_scatter_into(&[1], &mut [0], &[7], SystemOperation::sum())), ErrorClass::Count);
    Ok(())
}
