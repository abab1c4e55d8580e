//! MPI_Gather and MPI_Gatherv: the root receives from everyone.

use ompi_core::data::{Blocks, Data, Source};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;

/// `to`, at the root: `count` elements per rank.
pub fn gather<E: Executor + ?Sized>(
    executor: &mut E,
    from: Source<'_>,
    to: Option<&Data<'_>>,
    root: usize,
) -> Result<()> {
    linear(executor, from, to.map(|to| |rank: usize| to.at_element((rank * to.count) as isize, to.count)), root)
}

/// `to`, at the root: a block per rank.
pub fn gatherv<E: Executor + ?Sized>(
    executor: &mut E,
    from: Source<'_>,
    to: Option<&Blocks<'_>>,
    root: usize,
) -> Result<()> {
    linear(executor, from, to.map(|to| |rank| to.block(rank)), root)
}

/// All receives are posted before any is waited for, so that the order of arrival does not matter.
fn linear<'a, E: Executor + ?Sized>(
    executor: &mut E,
    from: Source<'_>,
    block: Option<impl Fn(usize) -> Data<'a>>,
    root: usize,
) -> Result<()> {
    match (block, from) {
        (Some(block), from) if executor.rank() == root => {
            for rank in (0..executor.size()).filter(|rank| *rank != root) {
                executor.start_recv(&block(rank), rank)?;
            }
            if let Source::From(own) = from {
                executor.copy(&own, &block(root))?;
            }
            executor.finish()
        }
        (_, Source::From(own)) => executor.send(&own, root),
        (_, Source::InPlace) => Err(in_place_elsewhere("sendbuf")),
    }
}

/// MPI_IN_PLACE has no meaning at other ranks than the root.
#[cold]
pub(crate) fn in_place_elsewhere(argument: &'static str) -> Fault {
    Fault::new(Class::Buffer).argument(argument).because("MPI_IN_PLACE is for the root only")
}
