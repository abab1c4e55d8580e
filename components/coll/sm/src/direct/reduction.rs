//! Reductions straight between the ranks' buffers: each rank combines a part of the elements, so that every byte is copied
//! once and by all cores at the same time.

use super::exchange::{Direct, Exchange, Outcome};
use crate::buffer::bound;
use crate::operand::Operands;
use crate::params;
use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::op::Operation;
use ompi_core::op::Op;

/// MPI_Reduce and MPI_Allreduce: each rank combines a part of the elements, piece by piece, and writes each piece to the ranks
/// that get the result, so that all have the same bits.
///
/// Unordered: an operation that commutes begins with the rank's own operand and takes the others by rank from there on, so
/// that no process is read by many at once. Ordered: all others go strictly by rank. So do those of two ranks whose order may
/// change a bit, since another algorithm may serve the next call.
pub fn reduce(over: &Direct<'_>, executor: &mut dyn Executor, operands: &Operands<'_>) -> Result<Outcome> {
    let Operands { from, to, op, root } = operands;
    let (rank, size) = (executor.rank(), executor.size());
    let in_place = matches!(from, Source::InPlace);
    let Some(own) = operands.own() else { return Ok(Outcome::Lost) };
    let is_unordered = op.is_commutative() && (size > 2 || is_symmetric(op));
    let element = own.datatype.layout.size().max(1);
    let (begin, end) = share(own.count, rank, size, *root);
    let most = (params::REDUCE_PIECE.size() / element).clamp(1, (end - begin).max(1));
    let like = Data { count: most, ..own };
    let scratch = executor.scratch(&like)?;
    // The sum is made in the result, unless that is not here, or holds an operand that is not the first.
    let aside = match to {
        Some(_) if is_unordered || !in_place => None,
        _ => Some(executor.scratch(&like)?),
    };
    let exchange = over.open(own.at, to.map_or(core::ptr::null_mut(), |to| to.at), own.bytes())?;
    exchange.begin()?;
    let mut succeeded = true;
    for at in (begin..end).step_by(most) {
        let count = most.min(end - at);
        let result = to.map(|to| to.at_element(at as isize, count));
        let sum = aside.map(|aside| Data { count, ..aside }).or(result).unwrap_or(scratch);
        let share = Share { exchange: &exchange, own: own.at_element(at as isize, count), offset: at * element, sum };
        let scratch = Data { count, ..scratch };
        succeeded &= match is_unordered {
            true => share.unordered(executor, op, &scratch)?,
            false => share.ordered(executor, op, &scratch)?,
        };
        if let (Some(result), true) = (result, aside.is_some()) {
            executor.copy(&sum, &result)?;
        }
        for peer in (1..size).map(|step| (rank + step) % size).filter(|peer| root.is_none_or(|root| root == *peer)) {
            succeeded &= exchange.write(peer, (share.offset, sum));
        }
    }
    exchange.complete(succeeded, in_place)?.outcome()
}

// Whether two operands give the same bits in either order; not so 0 and -0 for MPI_MIN, and users' operations.
fn is_symmetric(op: &Op) -> bool {
    matches!(op, Op::Predefined(operation) if !matches!(operation, Operation::Min | Operation::Max))
}

// A piece of the elements that one rank combines.
struct Share<'a> {
    exchange: &'a Exchange<'a>,
    own: Data<'a>,
    // Of the piece in the others' data.
    offset: usize,
    // May be the rank's own operand, if that is the first.
    sum: Data<'a>,
}

impl Share<'_> {
    fn unordered(&self, executor: &mut dyn Executor, op: &Op, scratch: &Data<'_>) -> Result<bool> {
        let (rank, size) = (executor.rank(), executor.size());
        let mut others = (1..size).map(|step| (rank + step) % size);
        if self.own.at != self.sum.at {
            // The first peer's operand becomes the sum, and the own one is added from its place.
            let first = others.next().unwrap_or(rank);
            if !self.exchange.read(first, (self.offset, self.sum)) {
                return Ok(false);
            }
            executor.reduce(op, &self.own, &self.sum)?;
        }
        self.add(executor, op, others, scratch)
    }

    fn ordered(&self, executor: &mut dyn Executor, op: &Op, scratch: &Data<'_>) -> Result<bool> {
        let (rank, last) = (executor.rank(), executor.size() - 1);
        match rank == last {
            true => executor.copy(&self.own, &self.sum)?,
            false if self.exchange.read(last, (self.offset, self.sum)) => {}
            false => return Ok(false),
        }
        self.add(executor, op, (0..last).rev(), scratch)
    }

    // `sum = peer op sum` for one after the other.
    fn add(
        &self,
        executor: &mut dyn Executor,
        op: &Op,
        ranks: impl Iterator<Item = usize>,
        scratch: &Data<'_>,
    ) -> Result<bool> {
        let rank = executor.rank();
        for peer in ranks {
            if peer == rank {
                executor.reduce(op, &self.own, &self.sum)?;
            } else if self.exchange.read(peer, (self.offset, *scratch)) {
                executor.reduce(op, scratch, &self.sum)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

// The elements that a rank combines. A root need not write the result to anybody, and takes more: to read a part costs
// about twice as much as to combine it.
fn share(count: usize, rank: usize, size: usize, root: Option<usize>) -> (usize, usize) {
    let each = 3 * (size - 1);
    let more = |rank: usize| root.map_or(0, |root| if rank > root { 2 } else { 0 });
    let whole = size * each + root.map_or(0, |_| 2);
    let begin = |rank: usize| bound(count, rank * each + more(rank), whole);
    (begin(rank), begin(rank + 1))
}
