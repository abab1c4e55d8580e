//! The operations straight between the ranks' buffers: each rank reads what it needs from where it lies, and what is to be
//! combined is cut among the ranks, so that every byte is copied once and by all cores at the same time.

use crate::direct::exchange::{Crossing, Ends, Outcome};
use crate::flags::data_movement::{block, contribution, packed};
use crate::params;
use ompi_core::data::{Data, Source};
use ompi_core::datatype::Datatype;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::Call;
use ompi_core::framework::op::Operation;
use ompi_core::op::Op;

/// Whether it can be done directly at all, the same on all ranks: MPI_IN_PLACE is said by all of them or none (MPI 5.0
/// §6.8), and types with gaps would have to be packed first.
pub fn serves(call: &Call<'_>) -> bool {
    match call {
        Call::Bcast(..) | Call::Allgather(..) | Call::Alltoall(Source::From(_), _) => true,
        _ => combined(call).is_some_and(|datatype| datatype.layout.is_contiguous()),
    }
}

/// The type of a reduction, which is equal on all ranks (MPI 5.0 §6.9.1).
pub fn combined<'a>(call: &Call<'a>) -> Option<&'a Datatype> {
    match *call {
        Call::Reduce(Source::From(own), ..) => Some(own.datatype),
        Call::Reduce(Source::InPlace, to, ..) => to.map(|to| to.datatype),
        Call::Allreduce(_, to, _) => Some(to.datatype),
        _ => None,
    }
}

/// MPI_Bcast. Two ranks copy a half each. Of more, each but the root reads a piece from the root and then the other pieces
/// from who read them, each rank from another one at a time: a process whose memory many read at once slows all down.
///
/// Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for multi-/many-core systems,
/// <https://doi.org/10.1109/CLUSTER.2017.119>.
pub fn bcast(ends: &Ends<'_>, executor: &mut dyn Executor, data: &Data<'_>, root: usize) -> Result<Outcome> {
    let (rank, size) = (executor.rank(), executor.size());
    let run = if rank == root { filled_run(executor, data)? } else { run(executor, data)? };
    let crossing = ends.open(run.at, run.at, run.count)?;
    crossing.begin()?;
    let readers = size - 1;
    let pieces = if readers <= READERS_AT_ONCE { 1 } else { readers };
    // Readers are numbered from the root on.
    let reader = (rank + size - root - 1) % size;
    let mut well = match (size, rank == root) {
        (2, true) => crossing.write(1 - root, piece(&run, 1, 2)),
        (2, false) => crossing.read(root, piece(&run, 0, 2)),
        (_, true) => true,
        (_, false) => crossing.read(root, piece(&run, reader % pieces, pieces)),
    };
    if pieces > 1 {
        crossing.meet()?;
        for step in (1..pieces).filter(|_| rank != root) {
            let other = (reader + step) % readers;
            well &= crossing.read((root + 1 + other) % size, piece(&run, other, pieces));
        }
    }
    let outcome = crossing.close(well, false)?.outcome()?;
    if rank != root && data.contiguous().is_none() {
        executor.copy(&run, data)?;
    }
    Ok(outcome)
}

/// MPI_Allgather.
pub fn allgather(ends: &Ends<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<Outcome> {
    let (rank, size) = (executor.rank(), executor.size());
    let run = filled_run(executor, &contribution(from, block(to, rank)))?;
    let crossing = ends.open(run.at, run.at, run.count)?;
    let (early, late) = halves(&contribution(from, block(to, rank)), &block(to, rank));
    let apart = matches!(from, Source::From(_));
    let mut copied = if apart { executor.copy(&early.0, &early.1) } else { Ok(()) };
    crossing.begin()?;
    let mut well = true;
    for peer in (1..size).map(|step| (rank + step) % size) {
        well &= read_into(&crossing, executor, (peer, 0), &block(to, peer))?;
    }
    let closing = crossing.close(well, false)?;
    if apart {
        copied = copied.and(executor.copy(&late.0, &late.1));
    }
    let outcome = closing.outcome()?;
    copied.map(|()| outcome)
}

/// MPI_Alltoall.
pub fn alltoall(ends: &Ends<'_>, executor: &mut dyn Executor, from: &Data<'_>, to: &Data<'_>) -> Result<Outcome> {
    let (rank, size) = (executor.rank(), executor.size());
    let run = filled_run(executor, &Data { count: from.count * size, ..*from })?;
    let crossing = ends.open(run.at, run.at, run.count)?;
    let (early, late) = halves(&block(from, rank), &block(to, rank));
    let copied = executor.copy(&early.0, &early.1);
    crossing.begin()?;
    let mut well = true;
    for peer in (1..size).map(|step| (rank + step) % size) {
        well &= read_into(&crossing, executor, (peer, rank * to.bytes()), &block(to, peer))?;
    }
    let closing = crossing.close(well, false)?;
    let copied = copied.and(executor.copy(&late.0, &late.1));
    let outcome = closing.outcome()?;
    copied.map(|()| outcome)
}

/// What a rank brings into a reduction.
pub struct Operands<'a> {
    /// Its data, of a type without gaps.
    pub from: Source<'a>,
    /// Where it wants the result, if it does.
    pub to: Option<Data<'a>>,
    /// How operands meet.
    pub op: &'a Op,
    /// The only rank that wants it, or all.
    pub root: Option<usize>,
}

impl<'a> Operands<'a> {
    /// This rank's operand, wherever it lies.
    pub fn own(&self) -> Option<Data<'a>> {
        match self.from {
            Source::From(own) => Some(own),
            Source::InPlace => self.to,
        }
    }
}

/// MPI_Reduce and MPI_Allreduce: each rank combines a part of the elements, piece by piece, and writes each piece to who
/// wants it, so that all have the same bits. Operations that commute begin with the rank's own operand and take the others
/// by rank from there on, so that no process is read by many at once; the others go strictly by rank, as do those of two
/// ranks of which the order may change a bit, since between calls these may go another way.
pub fn reduce(ends: &Ends<'_>, executor: &mut dyn Executor, operands: &Operands<'_>) -> Result<Outcome> {
    let Operands { from, to, op, root } = operands;
    let (rank, size) = (executor.rank(), executor.size());
    let in_place = matches!(from, Source::InPlace);
    let Some(own) = operands.own() else { return Ok(Outcome::Lost) };
    let own_first = op.is_commutative() && (size > 2 || is_symmetric(op));
    let element = own.datatype.layout.size().max(1);
    let (begin, end) = share(own.count, rank, size, *root);
    let most = (params::REDUCE_PIECE.size() / element).clamp(1, (end - begin).max(1));
    let like = Data { count: most, ..own };
    let scratch = executor.room(&like)?;
    // The sum grows in the result, unless that is not here, or holds an operand that is not the first.
    let aside = match to {
        Some(_) if own_first || !in_place => None,
        _ => Some(executor.room(&like)?),
    };
    let crossing = ends.open(own.at, to.map_or(core::ptr::null_mut(), |to| to.at), own.bytes())?;
    crossing.begin()?;
    let mut well = true;
    for at in (begin..end).step_by(most) {
        let count = most.min(end - at);
        let result = to.map(|to| to.at_element(at as isize, count));
        let sum = aside.map(|aside| Data { count, ..aside }).or(result).unwrap_or(scratch);
        let share = Share { crossing: &crossing, own: own.at_element(at as isize, count), offset: at * element, sum };
        let scratch = Data { count, ..scratch };
        well &= match own_first {
            true => share.own_first(executor, op, &scratch)?,
            false => share.by_rank(executor, op, &scratch)?,
        };
        if let (Some(result), true) = (result, aside.is_some()) {
            executor.copy(&sum, &result)?;
        }
        for peer in (1..size).map(|step| (rank + step) % size).filter(|peer| root.is_none_or(|root| root == *peer)) {
            well &= crossing.write(peer, (share.offset, sum));
        }
    }
    crossing.close(well, in_place)?.outcome()
}

// Whether two operands give the same bits in either order; not so 0 and -0 for MPI_MIN, and what users write.
fn is_symmetric(op: &Op) -> bool {
    matches!(op, Op::Predefined(operation) if !matches!(operation, Operation::Min | Operation::Max))
}

// A piece of the elements that one rank combines.
struct Share<'a> {
    crossing: &'a Crossing<'a>,
    own: Data<'a>,
    // Of the piece in the others' data.
    offset: usize,
    // May be where the own operand lies, if that is the first.
    sum: Data<'a>,
}

impl Share<'_> {
    fn own_first(&self, executor: &mut dyn Executor, op: &Op, scratch: &Data<'_>) -> Result<bool> {
        let (rank, size) = (executor.rank(), executor.size());
        let mut others = (1..size).map(|step| (rank + step) % size);
        if self.own.at != self.sum.at {
            // The first peer's operand goes where the sum grows, and the own one is added where it lies.
            let first = others.next().unwrap_or(rank);
            if !self.crossing.read(first, (self.offset, self.sum)) {
                return Ok(false);
            }
            executor.reduce(op, &self.own, &self.sum)?;
        }
        self.add(executor, op, others, scratch)
    }

    fn by_rank(&self, executor: &mut dyn Executor, op: &Op, scratch: &Data<'_>) -> Result<bool> {
        let (rank, last) = (executor.rank(), executor.size() - 1);
        match rank == last {
            true => executor.copy(&self.own, &self.sum)?,
            false if self.crossing.read(last, (self.offset, self.sum)) => {}
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
            } else if self.crossing.read(peer, (self.offset, *scratch)) {
                executor.reduce(op, scratch, &self.sum)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

// What a rank has for itself, in two parts: one to copy while the others come, one while they go.
fn halves<'a>(from: &Data<'a>, to: &Data<'a>) -> ((Data<'a>, Data<'a>), (Data<'a>, Data<'a>)) {
    if from.count != to.count || from.datatype.layout.size() != to.datatype.layout.size() {
        return ((*from, *to), (Data { count: 0, ..*from }, Data { count: 0, ..*to }));
    }
    let (middle, end) = (from.count / 2, from.count);
    let part = |data: &Data<'a>, begin: usize, end: usize| data.at_element(begin as isize, end - begin);
    ((part(from, 0, middle), part(to, 0, middle)), (part(from, middle, end), part(to, middle, end)))
}

// Reads what lies at a place of a rank's source, whatever the target's layout.
fn read_into(
    crossing: &Crossing<'_>,
    executor: &mut dyn Executor,
    (peer, offset): (usize, usize),
    to: &Data<'_>,
) -> Result<bool> {
    let run = run(executor, to)?;
    let well = crossing.read(peer, (offset, run));
    if to.contiguous().is_none() {
        executor.copy(&run, to)?;
    }
    Ok(well)
}

/// The data as one run of bytes: where it lies, or room for it.
pub fn run<'a>(executor: &mut dyn Executor, data: &Data<'a>) -> Result<Data<'a>> {
    match data.contiguous() {
        Some(at) => Ok(packed(at, data.bytes())),
        None => executor.room(&packed(core::ptr::null_mut(), data.bytes())),
    }
}

/// The same, with the data in it.
pub fn filled_run<'a>(executor: &mut dyn Executor, data: &Data<'a>) -> Result<Data<'a>> {
    let run = run(executor, data)?;
    if data.contiguous().is_none() {
        executor.copy(data, &run)?;
    }
    Ok(run)
}

// Offset and place of one of several pieces of a run of bytes, equal on all ranks.
fn piece<'a>(run: &Data<'a>, index: usize, pieces: usize) -> (usize, Data<'a>) {
    let begin = |index: usize| match index == pieces {
        true => run.count,
        false => bound(run.count, index, pieces).next_multiple_of(PAGE).min(run.count),
    };
    (begin(index), run.at_element(begin(index) as isize, begin(index + 1) - begin(index)))
}

// Which elements a rank combines. Who wants the result alone need not write it to anybody, and takes more: to read a part
// costs about twice as much as to combine it.
fn share(count: usize, rank: usize, size: usize, root: Option<usize>) -> (usize, usize) {
    let each = 3 * (size - 1);
    let more = |rank: usize| root.map_or(0, |root| if rank > root { 2 } else { 0 });
    let whole = size * each + root.map_or(0, |_| 2);
    let begin = |rank: usize| bound(count, rank * each + more(rank), whole);
    (begin(rank), begin(rank + 1))
}

// Where a piece begins, without overflow for any count.
fn bound(count: usize, piece: usize, pieces: usize) -> usize {
    count / pieces * piece + (count % pieces).min(piece)
}

/// Readers of one process's memory that do not yet slow each other down.
const READERS_AT_ONCE: usize = 3;
const PAGE: usize = 4096;
