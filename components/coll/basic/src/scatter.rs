//! MPI_Scatter and MPI_Scatterv: the root sends to everyone.

use crate::gather::in_place_elsewhere;
use ompi_core::data::{Blocks, Data};
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// `from`, at the root: `count` elements per rank; `to` is `None` for MPI_IN_PLACE at the root.
pub fn scatter<E: Executor + ?Sized>(
    executor: &mut E,
    from: Option<&Data<'_>>,
    to: Option<&Data<'_>>,
    root: usize,
) -> Result<()> {
    linear(executor, from.map(|from| |rank: usize| from.at_element((rank * from.count) as isize, from.count)), to, root)
}

/// `from`, at the root: a block per rank.
pub fn scatterv<E: Executor + ?Sized>(
    executor: &mut E,
    from: Option<&Blocks<'_>>,
    to: Option<&Data<'_>>,
    root: usize,
) -> Result<()> {
    linear(executor, from.map(|from| |rank| from.block(rank)), to, root)
}

/// The root's part, from its blocks to `to` at every rank.
pub(crate) fn linear<'a, E: Executor + ?Sized>(
    executor: &mut E,
    block: Option<impl Fn(usize) -> Data<'a>>,
    to: Option<&Data<'_>>,
    root: usize,
) -> Result<()> {
    match (block, to) {
        (Some(block), to) if executor.rank() == root => {
            for rank in (0..executor.size()).filter(|rank| *rank != root) {
                executor.start_send(&block(rank), rank)?;
            }
            if let Some(to) = to {
                executor.copy(&block(root), to)?;
            }
            executor.finish()
        }
        (_, Some(to)) => executor.recv(to, root),
        (_, None) => Err(in_place_elsewhere("recvbuf")),
    }
}
