//! Files, on any number of ranks: typed views, collective and single accesses, pointers, errors.

use ompi::file::{Every, OpenOptions, Seek};
use ompi::topology::SimpleCommunicator;
use ompi::traits::*;
use ompi::{Equivalence, ErrorClass};

#[derive(Clone, Copy, Debug, PartialEq, Equivalence)]
struct Record {
    kind: u8,
    place: [f64; 2],
    id: i32,
}

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once");
    let world = universe.world();
    let path = shared_path(&world)?;
    records(&world, &path)?;
    pointers(&world, &path)?;
    mistakes(&world, &path)
}

/// A name that all agree on and nobody else uses.
fn shared_path(world: &SimpleCommunicator) -> ompi::Result<String> {
    let mut number = std::process::id();
    world.process_at_rank(0).broadcast_into(&mut number)?;
    Ok(std::env::temp_dir().join(format!("ompi-rust-files-{number}")).display().to_string())
}

fn record(rank: i32, number: usize) -> Record {
    Record { kind: rank as u8, place: [number as f64, -1.5], id: rank * 1000 + number as i32 }
}

/// Each rank's records in turn, two at a time; then all of them.
fn records(world: &SimpleCommunicator, path: &str) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size() as usize);
    let options = OpenOptions::new().read(true).write(true).create(true).delete_on_close(true);
    let mut file = options.open(world, path)?;
    let mine: Vec<Record> = (0..200).map(|number| record(rank, number)).collect();
    let turns = Every { block: 2, stride: 2 * size as u64, first: 2 * rank as u64 };
    let view = file.view::<Record>(16, turns)?;
    view.write_at_all(0, &mine)?;
    let mut back = vec![record(-1, 0); 3];
    assert_eq!(view.read_at(5, &mut back)?, 3);
    assert_eq!(back, mine[5..8]);
    file.sync()?;
    assert_eq!(file.size()?, 16 + (200 * size * size_of::<Record>()) as u64);
    let mut all = vec![record(-1, 0); 200 * size + 1];
    assert_eq!(file.view::<Record>(16, Every::ONE)?.read_at_all(0, &mut all)?, 200 * size);
    for (at, have) in all[..200 * size].iter().enumerate() {
        let (turn, within) = (at / 2, at % 2);
        assert_eq!(*have, record((turn % size) as i32, turn / size * 2 + within), "record {at}");
    }
    world.barrier()?;
    // As numbers of a fixed size: an array is one value.
    let pairs = file.view::<[u64; 2]>(0, Every::ONE)?;
    pairs.write_at_all(rank as u64, &[[rank as u64, 7]])?;
    file.sync()?;
    let words = file.view::<u64>(0, Every { block: 1, stride: 2, first: 1 })?;
    let mut sevens = vec![0; size];
    assert_eq!(words.read_at_all(0, &mut sevens)?, size);
    assert!(sevens.iter().all(|seven| *seven == 7));
    Ok(())
}

/// Each process's own file pointer, and the one that all share.
fn pointers(world: &SimpleCommunicator, path: &str) -> ompi::Result<()> {
    let (rank, size) = (world.rank(), world.size() as usize);
    let options = OpenOptions::new().read(true).write(true).create_new(true).delete_on_close(true);
    let mut file = options.open(world, path)?;
    let view = file.view::<i32>(0, Every::ONE)?;
    view.write_ordered(&[rank, -rank])?;
    view.seek(Seek::Start(2 * rank as u64))?;
    let mut two = [99; 2];
    world.barrier()?;
    assert_eq!(view.read(&mut two)?, 2);
    assert_eq!((two, view.position()?), ([rank, -rank], 2 * rank as u64 + 2));
    view.seek(Seek::End(-1))?;
    assert_eq!(view.position()?, 2 * size as u64 - 1);
    assert_eq!(view.read_all(&mut two)?, 1, "the file ends");
    world.barrier()?;
    view.write_shared(&[1000 + rank])?;
    world.barrier()?;
    let mut shared = vec![0; size];
    assert_eq!(view.read_at(2 * size as u64, &mut shared)?, size);
    shared.sort_unstable();
    assert!(shared.iter().enumerate().all(|(at, value)| *value == 1000 + at as i32), "{shared:?}");
    file.set_size(8)?;
    assert_eq!(file.size()?, 8);
    Ok(())
}

/// Errors come back, on all ranks alike, and the file works on.
fn mistakes(world: &SimpleCommunicator, path: &str) -> ompi::Result<()> {
    let class = |result: ompi::Result<ompi::file::File>| result.map(drop).unwrap_err().class();
    let read = OpenOptions::new().read(true);
    assert_eq!(class(read.open(world, path)), ErrorClass::NoSuchFile);
    assert_eq!(class(read.create(true).open(world, path)), ErrorClass::Amode);
    assert_eq!(class(OpenOptions::new().open(world, path)), ErrorClass::Amode);
    assert_eq!(class(read.open(world, "a\0b")), ErrorClass::Arg);
    assert_eq!(ompi::file::delete(path).unwrap_err().class(), ErrorClass::NoSuchFile);
    let mut file = OpenOptions::new().write(true).create(true).delete_on_close(true).open(world, path)?;
    let none = Every { block: 2, stride: 1, first: 0 };
    assert_eq!(file.view::<u8>(0, none).map(drop).unwrap_err().class(), ErrorClass::Arg);
    let view = file.view::<u8>(0, Every::ONE)?;
    assert_eq!(view.read_at(0, &mut [0]).unwrap_err().class(), ErrorClass::Access);
    assert_eq!(view.write_at(u64::MAX, &[0]).unwrap_err().class(), ErrorClass::Arg);
    view.write_at_all(world.rank() as u64, &[1])
}
