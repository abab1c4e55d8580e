//! Data that goes straight from one group to the other.

use crate::groups::{Groups, Root};
use ompi_core::data::{Data, Source};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;

/// From each process of the root's other group a block to the root.
pub fn collect<'a>(
    executor: &mut dyn Executor,
    groups: &Groups,
    from: Source<'_>,
    block: Option<impl Fn(usize) -> Data<'a>>,
    root: Root,
) -> Result<()> {
    match (root, from, block) {
        (Root::Beside, ..) => Ok(()),
        (Root::Here, _, Some(block)) => {
            for (rank, process) in groups.there.iter().enumerate() {
                executor.start_recv(&block(rank), *process)?;
            }
            executor.finish()
        }
        (Root::There(root), Source::From(own), _) => executor.send(&own, root),
        _ => Err(no_buffer()),
    }
}

/// From the root a block to each process of the other group.
pub fn hand_out<'a>(
    executor: &mut dyn Executor,
    groups: &Groups,
    block: Option<impl Fn(usize) -> Data<'a>>,
    to: Option<&Data<'_>>,
    root: Root,
) -> Result<()> {
    match (root, block, to) {
        (Root::Beside, ..) => Ok(()),
        (Root::Here, Some(block), _) => {
            for (rank, process) in groups.there.iter().enumerate() {
                executor.start_send(&block(rank), *process)?;
            }
            executor.finish()
        }
        (Root::There(root), _, Some(to)) => executor.recv(to, root),
        _ => Err(no_buffer()),
    }
}

/// From each to each of the other group; every rank begins with another one.
pub fn exchange<'a, 'b>(
    executor: &mut dyn Executor,
    groups: &Groups,
    from: impl Fn(usize) -> Data<'a>,
    to: impl Fn(usize) -> Data<'b>,
) -> Result<()> {
    let (rank, size) = (executor.rank(), groups.there.len());
    let turns = || (0..size).map(|step| (rank + step) % size);
    for source in turns() {
        executor.start_recv(&to(source), groups.there[source])?;
    }
    for dest in turns() {
        executor.start_send(&from(dest), groups.there[dest])?;
    }
    executor.finish()
}

/// The framework's promise about which buffers are there was not kept.
#[cold]
pub fn no_buffer() -> Fault {
    Fault::new(Class::Intern).because("a rank of an intercommunicator has no buffer where its part needs one")
}
