//! Groups, communicators, topologies, attributes, hints, sessions, datatypes: on any number of ranks.

use ompi::attribute::Attribute;
use ompi::collective::UserOperation;
use ompi::datatype::{PartitionMut, UserDatatype, ValueIndex, View, ViewMut};
use ompi::info::Info;
use ompi::session::Session;
use ompi::topology::{
    CartesianCommunicator, CommunicatorRelation, DistGraphCommunicator, GraphCommunicator, GroupRelation,
    InterCommunicator, SimpleCommunicator, balanced_dimensions,
};
use ompi::traits::*;
use ompi::{Equivalence, ErrorClass, ErrorHandler, SystemOperation, Threading, request};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn main() -> ompi::Result<()> {
    let mut universe = ompi::initialize().expect("MPI starts once per process");
    universe.set_buffer_size(1 << 16)?;
    let world = universe.world();
    groups(&world)?;
    parts(&world)?;
    between(&world)?;
    grid(&world)?;
    graphs(&world)?;
    attributes(&world)?;
    hints(&world)?;
    sessions()?;
    datatypes(&world)?;
    structs(&world)?;
    many(&world)?;
    // MPI goes on as long as a communicator lives, whoever started it.
    drop(universe);
    world.barrier()
}

fn groups(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (all, size) = (world.group(), world.size());
    let even = all.include(&all.ranks_of(&[[0, size - 1, 2]])?)?;
    let odd = all.difference(&even);
    assert_eq!(even.size() + odd.size(), size);
    assert_eq!(even.rank().is_some(), world.rank() % 2 == 0);
    assert_eq!(
        even.union(&odd).compare(&all),
        if size < 3 { GroupRelation::Identical } else { GroupRelation::Similar }
    );
    assert_eq!(all.exclude(&[0])?.intersection(&all).size(), size - 1);
    assert_eq!(all.translate_ranks(&[0, size - 1, size], &even)[0], Some(0));
    assert_eq!(all.translate_rank(size, &even), None);
    assert_eq!(all.include(&[0, 0]).unwrap_err().class(), ErrorClass::Rank);
    let part = world.split_by_subgroup_collective(&even)?;
    assert_eq!(part.as_ref().map(|part| part.rank()), even.rank());
    if even.rank().is_some() {
        let members = world.split_by_subgroup(&even, 3)?.expect("this process is in it");
        assert_eq!(members.compare(&part.unwrap()), CommunicatorRelation::Congruent);
        assert_eq!(world.process_at_rank(world.rank()).rank_in(&even), even.rank());
    }
    Ok(())
}

fn parts(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let backwards = world.split(Some(0), -rank)?.unwrap();
    assert_eq!((backwards.rank(), backwards.size()), (size - 1 - rank, size));
    let expected = if size == 1 { CommunicatorRelation::Congruent } else { CommunicatorRelation::Similar };
    assert_eq!(world.compare(&backwards), expected);
    assert!(world.split_by_color((rank == 0).then_some(4))?.is_some() == (rank == 0));
    assert_eq!(world.split_shared(0)?.size(), size, "all ranks of this test are on one node");
    // Messages of one communicator are not those of another.
    let copy = world.duplicate()?;
    world.process_at_rank(rank).buffered_send(&1)?;
    copy.process_at_rank(rank).buffered_send(&2)?;
    assert_eq!((copy.any_process().receive::<i32>()?.0, world.any_process().receive::<i32>()?.0), (2, 1));
    Ok(())
}

fn between(world: &SimpleCommunicator) -> ompi::Result<()> {
    if world.size() < 2 {
        return Ok(());
    }
    let side = world.rank() % 2;
    let half = world.split(Some(side), 0)?.unwrap();
    let there = InterCommunicator::new(&half, 0, world, 1 - side, 7)?;
    assert_eq!((there.size(), there.remote_size()), (half.size(), world.size() - half.size()));
    assert_eq!(there.remote_group().rank(), None);
    let copy = there.duplicate()?;
    if half.rank() == 0 {
        let other = copy.process_at_rank(0);
        let mut heard = -1;
        request::scope(|scope| {
            let receive = other.immediate_receive_into(scope, &mut heard)?;
            other.send(&side)?;
            receive.wait()
        })?;
        assert_eq!(heard, 1 - side);
    }
    let merged = there.merge(side == 1)?;
    assert_eq!((merged.size(), merged.rank() < half.size() || side == 1), (world.size(), true));
    copy.set_error_handler(ErrorHandler::Return);
    let error = copy.process_at_rank(0).broadcast_into(&mut 1).unwrap_err();
    assert_eq!(error.class(), ErrorClass::UnsupportedOperation, "{error}");
    Ok(())
}

fn grid(world: &SimpleCommunicator) -> ompi::Result<()> {
    let mut dims = [0; 2];
    balanced_dimensions(world.size(), &mut dims)?;
    let grid = CartesianCommunicator::new(world, &dims, &[true, false], false)?.expect("a place for each");
    let at = grid.coordinates();
    assert_eq!((grid.dimensions(), grid.coordinates_to_rank(&at)?), (&dims[..], grid.rank()));
    assert_eq!(grid.coordinates_to_rank(&[at[0] + dims[0], at[1]])?, grid.rank());
    assert_eq!(grid.coordinates_to_rank(&[0, dims[1]]).unwrap_err().class(), ErrorClass::Arg);
    let (before, behind) = grid.shift(1, 1);
    assert_eq!((before.is_some(), behind.is_some()), (at[1] > 0, at[1] + 1 < dims[1]));
    let row = grid.subgroup(&[false, true])?;
    assert_eq!((row.size(), row.rank()), (dims[1], at[1]));
    assert_eq!(CartesianCommunicator::of(grid.duplicate()?)?.coordinates(), at);
    assert!(CartesianCommunicator::of(world.duplicate()?).is_err());
    // Each tells all neighbours its rank; what lies beyond the edge stays.
    let (mut heard, mut later) = ([-9; 4], [-9; 4]);
    grid.neighbor_all_gather_into(&grid.rank(), &mut heard)?;
    let expected: Vec<i32> =
        (0..2).flat_map(|dim| <[_; 2]>::from(grid.shift(dim, 1))).map(|to| to.unwrap_or(-9)).collect();
    assert_eq!(heard[..], expected);
    let to_each = [1, 2, 3, 4].map(|place| place + 10 * grid.rank());
    request::scope(|scope| grid.immediate_neighbor_all_to_all_into(scope, &to_each, &mut later)?.wait())?;
    for (place, from) in expected.iter().enumerate() {
        assert_eq!(later[place], if *from < 0 { -9 } else { 10 * from + [2, 1, 4, 3][place] });
    }
    Ok(())
}

fn graphs(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let everybody: Vec<i32> = (0..size).flat_map(|_| 0..size).collect();
    let index: Vec<i32> = (1..=size).map(|node| node * size).collect();
    let full = GraphCommunicator::new(world, &index, &everybody, true)?.unwrap();
    assert!((0..size).eq(full.neighbors(0).iter().copied()));
    let mut all = vec![-1; size as usize];
    full.neighbor_all_to_all_into(&vec![full.rank(); size as usize], &mut all)?;
    assert!((0..size).eq(all.iter().copied()));
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let ring = DistGraphCommunicator::adjacent(world, &[before], Some(&[2]), &[next], Some(&[2]), false)?;
    assert_eq!(ring.weights(), Some((&[2][..], &[2][..])));
    let mut heard = vec![-1; before as usize + 1];
    ring.neighbor_all_gather_varcount_into(
        &vec![rank; rank as usize + 1],
        &mut PartitionMut::contiguous(&mut heard, &[before as usize + 1])?,
    )?;
    assert_eq!(heard, vec![before; before as usize + 1]);
    // Rank 0 names all edges of a star around itself.
    let leaves: Vec<i32> = (0..size).collect();
    let star = match rank {
        0 => DistGraphCommunicator::new(world, &[0], &[size], &leaves, None, false)?,
        _ => DistGraphCommunicator::new(world, &[], &[], &[], None, false)?,
    };
    assert_eq!((star.sources(), star.destinations().len()), (&[0][..], if rank == 0 { size as usize } else { 0 }));
    let mut word = [0u8; 4];
    star.neighbor_all_gather_into(if rank == 0 { b"star" } else { b"none" }, &mut word)?;
    assert_eq!(&word, b"star");
    Ok(())
}

fn attributes(world: &SimpleCommunicator) -> ompi::Result<()> {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Level(u32);
    impl Attribute for Level {
        fn duplicate(&self) -> Option<Level> {
            (self.0 < 2).then(|| Level(self.0 + 1))
        }
    }
    impl Drop for Level {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    world.set_attribute(Level(0))?;
    world.set_attribute(Level(1))?;
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1, "the first was replaced");
    let kept: Arc<Level>;
    {
        let copy = world.duplicate()?;
        kept = copy.attribute::<Level>().expect("it was copied");
        assert_eq!((kept.0, copy.duplicate()?.attribute::<Level>().is_none()), (2, true));
    }
    assert_eq!((kept.0, DROPPED.load(Ordering::Relaxed)), (2, 1), "who holds it keeps it");
    drop(kept);
    world.delete_attribute::<Level>()?;
    world.delete_attribute::<Level>()?;
    assert_eq!(DROPPED.load(Ordering::Relaxed), 3);
    Ok(())
}

fn hints(world: &SimpleCommunicator) -> ompi::Result<()> {
    let mut info = Info::new().with("mpi_assert_exact_length", "true")?.with("other", "x")?;
    assert!(info.remove("other") && !info.remove("other"));
    assert_eq!(info.set("", "x").unwrap_err().class(), ErrorClass::InfoKey);
    let copy = world.duplicate_with_info(&info)?;
    assert_eq!(copy.info().get("mpi_assert_exact_length").as_deref(), Some("true"));
    copy.set_info(&Info::new().with("mpi_assert_exact_length", "false")?);
    assert!(copy.info().pairs().any(|pair| pair == ("mpi_assert_exact_length".into(), "false".into())));
    Ok(())
}

fn sessions() -> ompi::Result<()> {
    for round in 0..3 {
        let session = Session::initialize(Threading::Single)?;
        let group = session.group("mpi://WORLD")?;
        let size = session.process_set_info("mpi://WORLD")?.get("mpi_size");
        assert_eq!(size, Some(group.size().to_string()));
        assert_eq!(session.group("nowhere").unwrap_err().class(), ErrorClass::Arg);
        let library = session.communicator(&group, &format!("library {round}"))?.unwrap();
        drop((session, group));
        let mut sum = 0;
        library.all_reduce_into(&1, &mut sum, SystemOperation::sum())?;
        assert_eq!(sum, library.size());
    }
    Ok(())
}

/// A matrix is transposed on its way: columns go, rows come.
fn datatypes(world: &SimpleCommunicator) -> ompi::Result<()> {
    let me = world.process_at_rank(world.rank());
    let matrix: Vec<i64> = (0..12).collect();
    let mut transposed = vec![0i64; 12];
    let columns = UserDatatype::<i64>::vector(3, 1, 4)?.resized(1)?;
    me.buffered_send(&View::new(&matrix, 0, 4, &columns)?)?;
    me.receive_into(&mut transposed)?;
    assert_eq!(transposed, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
    let mut back = vec![-1; 12];
    me.buffered_send(&transposed)?;
    me.receive_into(&mut ViewMut::new(&mut back, 0, 4, &columns)?)?;
    assert_eq!(back, matrix);
    let pieces = UserDatatype::<i64>::indexed(&[(2, 1), (1, 9)])?;
    let error = View::new(&matrix[..9], 0, 1, &pieces).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Disp, "{error}");
    me.buffered_send(&View::new(&matrix, 2, 1, &pieces)?)?;
    assert_eq!(me.receive_vec::<i64>()?.0, [3, 4, 11]);
    let backwards = UserDatatype::<i64>::indexed_block(1, &[0, -1, -2])?;
    assert!(View::new(&matrix, 1, 1, &backwards).is_err());
    me.buffered_send(&View::new(&matrix, 5, 1, &backwards)?)?;
    assert_eq!(me.receive_vec::<i64>()?.0, [5, 4, 3]);
    let twice = UserDatatype::<[i64; 2]>::contiguous(2)?.strided(2, 1, 1)?;
    assert_eq!((twice.as_datatype().size(), twice.repeated(3)?.as_datatype().size()), (64, 192));
    // A column in a reduction, and blocks of columns in a collective.
    let mut column = matrix.clone();
    let root = world.process_at_rank(0);
    if world.rank() != 0 {
        column.fill(0);
    }
    root.broadcast_into(&mut ViewMut::new(&mut column, 1, 1, &columns)?)?;
    assert_eq!([column[1], column[5], column[9]], [1, 5, 9]);
    Ok(())
}

/// With padding, inside of each other, and with a field that Rust may have moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Equivalence)]
struct Cell {
    kind: u8,
    weights: [f32; 3],
    inner: Pair,
    count: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Equivalence)]
struct Pair(u64, i8);

fn structs(world: &SimpleCommunicator) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let cell = |rank: i32| Cell {
        kind: rank as u8,
        weights: [rank as f32, 0.5, -1.0],
        inner: Pair(rank as u64 * 3, -(rank as i8)),
        count: 7,
    };
    assert!(!Cell::IS_DENSE && Cell::equivalent_datatype().size() == 1 + 12 + 9 + 2);
    assert_eq!(Cell::equivalent_datatype().extent() as usize, size_of::<Cell>());
    let mut all = vec![[Cell::default(); 2]; size as usize];
    world.all_gather_into(&[cell(rank), cell(rank + 1)], &mut all)?;
    assert!(all.iter().enumerate().all(|(from, two)| *two == [cell(from as i32), cell(from as i32 + 1)]));
    // A reduction of structs with padding, by a closure.
    let most = UserOperation::commutative(|left: &Cell, right: &mut Cell| {
        if left.inner.0 > right.inner.0 {
            *right = *left;
        }
    });
    let mut best = [Cell::default(); 5];
    world.all_reduce_into(&[cell(rank); 5], &mut best, &most)?;
    assert_eq!(best, [cell(size - 1); 5]);
    let mut least = ValueIndex::<f64>::default();
    let mine = ValueIndex { value: f64::from((rank - 1).abs()), index: rank };
    world.all_reduce_into(&mine, &mut least, SystemOperation::min_location())?;
    assert_eq!(least.index, i32::from(size > 1));
    let own = world.duplicate()?;
    own.set_error_handler(ErrorHandler::Return);
    let error = own.all_reduce_into(&cell(0), &mut Cell::default(), SystemOperation::sum()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Op, "{error}");
    Ok(())
}

/// Communicators are given back when they are dropped.
fn many(world: &SimpleCommunicator) -> ompi::Result<()> {
    for _ in 0..300 {
        let copy = world.duplicate()?;
        assert_eq!(copy.size(), world.size());
    }
    Ok(())
}
