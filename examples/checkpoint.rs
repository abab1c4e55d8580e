//! A checkpoint: each rank writes its blocks of a grid to one file, and reads them back as a run that goes on would, with whatever number
//! of ranks that has; then the file is deleted. `cargo xtask run -n 4 examples/checkpoint.rs [FILE]`

use ompi::file::{Every, File, OpenOptions};
use ompi::topology::SimpleCommunicator;
use ompi::{Equivalence, SystemOperation, traits::*};

#[derive(Clone, Copy, Debug, PartialEq, Equivalence)]
#[repr(C)]
struct Cell {
    temperature: f64,
    material: u32,
}

const CELLS: u64 = 100_000;
/// Cells that a rank has together, dealt out in turn.
const BLOCK: u64 = 64;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    let path = std::env::args().nth(1).unwrap_or_else(|| "checkpoint.bin".into());
    let before = simulate(&world);
    let mut file = OpenOptions::new().read(true).write(true).create(true).delete_on_close(true).open(&world, &path)?;
    save(&world, &mut file, &before)?;
    assert_eq!(load(&world, &mut file)?, before);
    let (warmest, mut all) = (before.iter().map(|cell| cell.temperature).fold(0.0, f64::max), 0.0);
    world.all_reduce_into(&warmest, &mut all, SystemOperation::max())?;
    if world.rank() == 0 {
        println!("{} bytes, warmest cell {all}", file.size()?);
    }
    world.barrier()
}

/// The blocks of this rank: every `size`th one.
fn own(world: &SimpleCommunicator) -> Every {
    Every { block: BLOCK, stride: BLOCK * world.size() as u64, first: BLOCK * world.rank() as u64 }
}

/// How many cells those are.
fn count(world: &SimpleCommunicator) -> usize {
    let Every { block, stride, first } = own(world);
    let (whole, rest) = (CELLS / stride, CELLS % stride);
    (whole * block + rest.saturating_sub(first).min(block)) as usize
}

fn simulate(world: &SimpleCommunicator) -> Vec<Cell> {
    let Every { block, stride, first } = own(world);
    let place = |at: u64| first + at / block * stride + at % block;
    (0..count(world) as u64).map(|at| Cell { temperature: place(at) as f64 / 100.0, material: at as u32 % 3 }).collect()
}

fn save(world: &SimpleCommunicator, file: &mut File, cells: &[Cell]) -> ompi::Result<()> {
    file.view::<Cell>(0, own(world))?.write_all(cells)?;
    file.sync()
}

fn load(world: &SimpleCommunicator, file: &mut File) -> ompi::Result<Vec<Cell>> {
    let mut cells = vec![Cell { temperature: 0.0, material: 0 }; count(world)];
    let there = file.view::<Cell>(0, own(world))?.read_all(&mut cells)?;
    cells.truncate(there);
    Ok(cells)
}
