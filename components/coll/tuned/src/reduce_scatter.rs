//! MPI_Reduce_scatter and MPI_Reduce_scatter_block without a root. For operations that commute.

use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// The contribution of this rank; `begin` says where each rank's block begins, its end where the next one begins.
pub struct Blocks<'a, F> {
    /// From the first element of the first block on.
    pub all: Data<'a>,
    /// For 0 to the number of ranks.
    pub begin: F,
}

impl<'a, F: Fn(usize) -> usize> Blocks<'a, F> {
    /// As the functions get them: `to.count` is this rank's.
    pub fn new(from: Source<'a>, to: &Data<'a>, size: usize, begin: F) -> Blocks<'a, F> {
        let all = match from {
            Source::From(from) => from,
            Source::InPlace => *to,
        };
        Blocks { all: Data { count: begin(size), ..all }, begin }
    }

    fn range(&self, of: &Data<'a>, from: usize, to: usize) -> Data<'a> {
        let (begin, end) = ((self.begin)(from), (self.begin)(to));
        of.at_element(begin as isize, end - begin)
    }
}

/// The sum of a block travels once around the ring and ends at its owner.
pub fn ring<'a, E: Executor + ?Sized, F: Fn(usize) -> usize>(
    executor: &mut E,
    blocks: &Blocks<'a, F>,
    to: &Data<'a>,
    op: &Op,
) -> Result<()> {
    op.check(to.datatype)?;
    let (rank, size) = (executor.rank(), executor.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let own = |index: usize| blocks.range(&blocks.all, index % size, index % size + 1);
    let longest = (0..size).map(|index| own(index).count).max().unwrap_or(0);
    let like = Data { count: longest, ..*to };
    let mut rooms = [executor.scratch(&like)?, executor.scratch(&like)?];
    let mut sum = own(left);
    for step in 0..size - 1 {
        let mine = own(rank + 2 * size - step - 2);
        let place = Data { count: mine.count, ..rooms[0] };
        executor.exchange(&sum, right, &place, left)?;
        executor.reduce(op, &mine, &place)?;
        sum = place;
        rooms.swap(0, 1);
    }
    executor.copy(&sum, to)
}

/// Partners exchange halves of the ranks' blocks, the far one first. For powers of two.
pub fn halving<'a, E: Executor + ?Sized, F: Fn(usize) -> usize>(
    executor: &mut E,
    blocks: &Blocks<'a, F>,
    to: &Data<'a>,
    op: &Op,
) -> Result<()> {
    op.check(to.datatype)?;
    let (rank, size) = (executor.rank(), executor.size());
    debug_assert!(size.is_power_of_two());
    let (sum, other) = (executor.scratch(&blocks.all)?, executor.scratch(&blocks.all)?);
    executor.copy(&blocks.all, &sum)?;
    let (mut first, mut bit) = (0, size / 2);
    while bit > 0 {
        let partner = rank ^ bit;
        let (keep, give) = if rank & bit == 0 { (first, first + bit) } else { (first + bit, first) };
        let (kept, came) = (blocks.range(&sum, keep, keep + bit), blocks.range(&other, keep, keep + bit));
        executor.exchange(&blocks.range(&sum, give, give + bit), partner, &came, partner)?;
        executor.reduce(op, &came, &kept)?;
        (first, bit) = (keep, bit / 2);
    }
    executor.copy(&blocks.range(&sum, rank, rank + 1), to)
}
