//! Two ranks: their flags, and operations whose data is a word that travels beside a flag.
//!
//! What is said of turns (`turn.rs`) holds here, too: these are the same operations with less around them. MPI_Alltoall of
//! eight bytes takes 681 instead of 820 instructions so, and 0.119 instead of 0.143 µs; MPI_Allreduce 0.104 instead of 0.124.

use crate::flags::data_movement::{block, contribution};
use crate::flags::epoch::{OPERATIONS_PER_PASS, Shape};
use crate::flags::layout as wire;
use crate::flags::segment::{Flag, Lines, Peer};
use crate::raw::{copy, load, store};
use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;
use opal_core::progress;
use opal_core::sync::Ordering;

impl Lines {
    /// Begins the next operation of two ranks, in which each that writes writes `bytes`; its number.
    #[inline]
    pub fn begin_pair(&self, shape: Shape, bytes: usize) -> Result<u64> {
        progress::flush();
        let mut past = self.past.lock();
        let number = past.number + 1;
        past.number = number;
        let parity = (number & 1) as usize;
        let (owed, waits) = match shape {
            Shape::All => (if bytes > 0 { number + 1 } else { 0 }, true),
            Shape::From(root) if root != self.rank => (0, true),
            Shape::To(root) if root == self.rank => (0, true),
            // Of two ranks nobody goes up: it is a message.
            Shape::From(_) | Shape::To(_) | Shape::Up => (number, false),
        };
        let owed = core::mem::replace(&mut past.owed[parity], owed);
        if waits && past.owed[1 - parity] == number {
            // This operation's own waiting is as good, and loads the line once less.
            past.owed[1 - parity] = 0;
        }
        drop(past);
        if number.is_multiple_of(OPERATIONS_PER_PASS) {
            progress::pass();
        }
        if owed != 0 {
            Lines::await_word(self.flag(1 - self.rank, owed).number, owed)?;
        }
        Ok(number)
    }

    /// This rank has come to an operation, perhaps with a value.
    #[inline(always)]
    pub fn raise(&self, number: u64, value: Option<u64>, peers: &[Option<Peer>]) {
        let flag = self.flag(self.rank, number);
        if let Some(value) = value {
            flag.value.store(value, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `await_word`.
        flag.number.store(number, Ordering::Release);
        if let Some(Some(peer)) = peers.get(1 - self.rank) {
            peer.neighbor.notify();
        }
    }

    /// Until the other rank has come, too; the flag, whose value is that of this operation if it brought one.
    #[inline(always)]
    pub fn await_pair(&self, number: u64) -> Result<&Flag> {
        let flag = self.flag(1 - self.rank, number);
        Lines::await_word(flag.number, number)?;
        Ok(flag)
    }

    #[inline(always)]
    fn flag(&self, rank: usize, number: u64) -> &Flag {
        &self.flags[rank & 1][(number & 1) as usize]
    }
}

/// Whether an operation in which each rank writes `bytes` can be one of words.
#[inline(always)]
pub fn serves((lines, _): Ends<'_>, bytes: usize) -> bool {
    lines.size == 2 && (1..=wire::TINY_BYTES).contains(&bytes)
}

/// The lines and whom to wake.
pub type Ends<'a> = (&'a Lines, &'a [Option<Peer>]);

/// MPI_Barrier.
#[inline(always)]
pub fn barrier((lines, peers): Ends<'_>) -> Result<()> {
    let number = lines.begin_pair(Shape::All, 0)?;
    lines.raise(number, None, peers);
    lines.await_pair(number).map(drop)
}

/// MPI_Allgather.
pub fn allgather(ends: Ends<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (mine, theirs) = (block(to, ends.0.rank), block(to, 1 - ends.0.rank));
    let (out, apart) = match from {
        Source::From(from) => (from, Some((from, mine))),
        Source::InPlace => (mine, None),
    };
    exchange(ends, executor, &out, apart, &theirs)
}

/// MPI_Alltoall.
pub fn alltoall(ends: Ends<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, peer) = (ends.0.rank, 1 - ends.0.rank);
    let (out, apart) = match from {
        Source::From(from) => (block(&from, peer), Some((block(&from, rank), block(to, rank)))),
        Source::InPlace => (block(to, peer), None),
    };
    exchange(ends, executor, &out, apart, &block(to, peer))
}

/// MPI_Allreduce, if [`combines`] says so. Both combine, and the operands meet in rank order.
pub fn allreduce(
    (lines, peers): Ends<'_>,
    executor: &mut dyn Executor,
    from: Source<'_>,
    to: &Data<'_>,
    op: &Op,
) -> Result<()> {
    let (rank, bytes) = (lines.rank & 1, to.bytes());
    let number = lines.begin_pair(Shape::All, bytes)?;
    let mut words = [0u64; 2];
    let copied = store(executor, &contribution(from, *to), word(&mut words[rank]), bytes);
    lines.raise(number, Some(words[rank]), peers);
    words[1 - rank] = lines.await_pair(number)?.value.load(Ordering::Relaxed);
    let [mut first, mut sum] = words;
    let operand = |at: &mut u64| Data { at: word(at), ..*to };
    executor.reduce(op, &operand(&mut first), &operand(&mut sum))?;
    copied.and(load(executor, word(&mut sum), to))
}

/// Whether elements lie in words as they do in the result.
#[inline(always)]
pub fn combines(to: &Data<'_>) -> bool {
    to.datatype.is_predefined() && to.contiguous() == Some(to.at)
}

// Both write a word and read the other one's; what a rank has for itself is copied while these are on their way.
#[inline(always)]
fn exchange(
    (lines, peers): Ends<'_>,
    executor: &mut dyn Executor,
    out: &Data<'_>,
    apart: Option<(Data<'_>, Data<'_>)>,
    into: &Data<'_>,
) -> Result<()> {
    let number = lines.begin_pair(Shape::All, into.bytes())?;
    let mut value = 0;
    let mut copied = store(executor, out, word(&mut value), into.bytes());
    lines.raise(number, Some(value), peers);
    if let Some((from, to)) = apart {
        copied = copied.and(copy(executor, &from, &to));
    }
    let mut theirs = lines.await_pair(number)?.value.load(Ordering::Relaxed);
    copied.and(load(executor, word(&mut theirs), into))
}

fn word(value: &mut u64) -> *mut u8 {
    (&raw mut *value).cast()
}
