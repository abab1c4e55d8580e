//! MPI_Alltoall in few rounds for short blocks, one partner at a time for long ones.

use ompi_core::data::Data;
use ompi_core::datatype;
use ompi_core::error::Result;
use ompi_core::executor::Executor;

fn block<'a>(of: &Data<'a>, index: usize) -> Data<'a> {
    of.at_element((index * of.count) as isize, of.count)
}

/// Blocks travel in steps of 1, 2, 4, … ranks: ⌈log2 n⌉ messages of half the data.
///
/// Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications,
/// <https://doi.org/10.1109/71.642949>.
pub fn bruck<E: Executor + ?Sized>(executor: &mut E, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    // Signatures are equal, types need not be: blocks travel as bytes.
    let bytes = Data { at: core::ptr::null_mut(), count: to.bytes() * size, datatype: datatype::byte() };
    let mut scratch = || executor.scratch(&bytes).map(|scratch| Data { count: to.bytes(), ..scratch });
    let (held, out, into) = (scratch()?, scratch()?, scratch()?);
    // Place i: what has i ranks still to go.
    for index in 0..size {
        executor.copy(&block(from, (rank + index) % size), &block(&held, index))?;
    }
    let mut distance = 1;
    while distance < size {
        let moving = || (0..size).filter(|index| index & distance != 0);
        for (place, index) in moving().enumerate() {
            executor.copy(&block(&held, index), &block(&out, place))?;
        }
        let count = moving().count() * held.count;
        let (up, down) = ((rank + distance) % size, (rank + size - distance) % size);
        executor.exchange(&Data { count, ..out }, up, &Data { count, ..into }, down)?;
        for (place, index) in moving().enumerate() {
            executor.copy(&block(&into, place), &block(&held, index))?;
        }
        distance *= 2;
    }
    // What came i ranks far is from i ranks below.
    for index in 0..size {
        executor.copy(&block(&held, index), &block(to, (rank + size - index) % size))?;
    }
    Ok(())
}

/// In step k every rank sends to the one k above and receives from the one k below.
pub fn pairwise<E: Executor + ?Sized>(executor: &mut E, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    executor.copy(&block(from, rank), &block(to, rank))?;
    for step in 1..size {
        let (up, down) = ((rank + step) % size, (rank + size - step) % size);
        executor.exchange(&block(from, up), up, &block(to, down), down)?;
    }
    Ok(())
}
