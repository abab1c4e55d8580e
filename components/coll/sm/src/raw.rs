//! The module: turns the framework's unsafe calls into calls of the algorithms, and their copies.
#![allow(unsafe_code)]

use crate::algorithms::{self, packed};
use crate::choice::{Choices, Way};
use crate::direct::combined;
use crate::lines::{Lines, Peer};
use crate::long::{LongData, Task};
use crate::pair::{self, Ends};
use crate::turn::{Shape, Turn};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{Call, FRAMEWORK, Function, Functions, Module, Next, Table};
use ompi_core::op::Op;
use opal_core::framework::smsc;
use opal_core::sync::{AtomicU32, Once, Ordering};
use opal_core::{message, progress, verbose};

/// For one communicator.
pub struct Sm {
    rank: usize,
    peers: Box<[Option<Peer>]>,
    choices: Choices,
    // Calls that could have used the lines.
    calls: AtomicU32,
    lines: Once<Option<Lines>>,
    long: LongData,
    next: Next,
}

const SERVED: [Function; 8] = [
    Function::Barrier,
    Function::Bcast,
    Function::Gather,
    Function::Scatter,
    Function::Allgather,
    Function::Alltoall,
    Function::Reduce,
    Function::Allreduce,
];

impl Sm {
    /// Peers by rank, `None` for this one.
    pub fn new(rank: usize, peers: Vec<Option<Peer>>) -> Sm {
        let (peers, choices) = (peers.into_boxed_slice(), Choices::by_parameters());
        let (calls, lines, next) = (AtomicU32::new(0), Once::new(), Next::new(&SERVED));
        Sm { rank, peers, choices, calls, lines, long: LongData::new(), next }
    }

    /// Lines for a short operation to which each rank that writes contributes `bytes`, which is equal on all ranks; `None` on
    /// all if it is not one, or there are none.
    #[inline(always)]
    fn short(&self, function: Function, bytes: usize, executor: &mut dyn Executor) -> Result<Option<Ends<'_>>> {
        if self.choices.way(function, bytes, self.peers.len()) != Way::Lines {
            return Ok(None);
        }
        let Some(lines) = self.lines(executor)? else { return Ok(None) };
        self.tell(function, bytes, "lines");
        Ok(Some((lines, &self.peers)))
    }

    /// Begins such an operation.
    #[inline(always)]
    fn turn(
        &self,
        function: Function,
        (shape, bytes): (Shape, usize),
        executor: &mut dyn Executor,
    ) -> Result<Option<Turn<'_>>> {
        match self.short(function, bytes, executor)? {
            Some((lines, peers)) => Turn::begin(lines, peers, shape, bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Whether one of two ranks' data goes as a message, and to or from whom.
    #[inline(always)]
    fn message(&self, function: Function, bytes: usize) -> Option<usize> {
        if self.peers.len() != 2 || self.choices.way(function, bytes, 2) != Way::Message {
            return None;
        }
        self.tell(function, bytes, "message");
        Some(1 - self.rank)
    }

    #[inline(always)]
    fn tell(&self, function: Function, bytes: usize, way: &str) {
        verbose!(FRAMEWORK, 40, "sm: {function:?} of {bytes} bytes among {} ranks: {way}", self.peers.len());
    }

    // Whether it is done.
    #[inline(always)]
    fn allgather(&self, from: Source<'_>, to: &Data<'_>, on: &mut dyn Executor) -> Result<bool> {
        let bytes = to.bytes();
        if let Some(peer) = self.message(Function::Allgather, bytes) {
            algorithms::tell_each_other((self.rank, peer), on, from, to)?;
            return Ok(true);
        }
        let Some(ends) = self.short(Function::Allgather, bytes, on)? else { return Ok(false) };
        match pair::serves(ends, bytes) {
            true => pair::allgather(ends, on, from, to)?,
            false => algorithms::allgather(&meeting(ends, bytes)?, on, from, to)?,
        }
        Ok(true)
    }

    #[inline(always)]
    fn alltoall(&self, from: Source<'_>, to: &Data<'_>, on: &mut dyn Executor) -> Result<bool> {
        let bytes = self.others_bytes(to.bytes());
        if let Some(peer) = self.message(Function::Alltoall, bytes) {
            algorithms::trade((self.rank, peer), on, from, to)?;
            return Ok(true);
        }
        let Some(ends) = self.short(Function::Alltoall, bytes, on)? else { return Ok(false) };
        match pair::serves(ends, bytes) {
            true => pair::alltoall(ends, on, from, to)?,
            false => algorithms::alltoall(&meeting(ends, bytes)?, on, from, to)?,
        }
        Ok(true)
    }

    #[inline(always)]
    fn allreduce(&self, (from, to, op): (Source<'_>, &Data<'_>, &Op), on: &mut dyn Executor) -> Result<bool> {
        let bytes = to.bytes();
        let Some(ends) = self.short(Function::Allreduce, bytes, on)? else { return Ok(false) };
        match pair::serves(ends, bytes) && pair::combines(to) {
            true => pair::allreduce(ends, on, from, to, op)?,
            false => algorithms::allreduce(&meeting(ends, bytes)?, on, from, to, op)?,
        }
        Ok(true)
    }

    #[inline(always)]
    fn lines(&self, executor: &mut dyn Executor) -> Result<Option<&Lines>> {
        match self.lines.get() {
            Some(lines) => Ok(lines.as_ref()),
            None => self.establish(executor),
        }
    }

    /// Long data; whether it is done.
    #[inline(never)]
    fn long(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let bytes = match call {
            Call::Bcast(data, _) => data.bytes(),
            Call::Allgather(_, to) | Call::Allreduce(_, to, _) => to.bytes(),
            Call::Alltoall(_, to) => self.others_bytes(to.bytes()),
            Call::Reduce(from, to, _, root) => contributed(*from, to.filter(|_| self.rank == *root)),
            _ => return Ok(false),
        };
        let way = self.choices.way(call.function(), bytes, self.peers.len());
        if !matches!(way, Way::Direct | Way::Pipeline | Way::Measured) {
            return Ok(false);
        }
        let Some(lines) = self.lines(executor)? else { return Ok(false) };
        self.long.perform(&Task { lines, peers: &self.peers, call, bytes, way }, executor)
    }

    #[cold]
    #[inline(never)]
    fn establish(&self, executor: &mut dyn Executor) -> Result<Option<&Lines>> {
        // A communicator that is hardly used needs no lines.
        if self.calls.fetch_add(1, Ordering::Relaxed) < CALLS_BEFORE {
            return Ok(None);
        }
        let lines = Lines::establish(self.rank, &self.peers, executor)?;
        Ok(self.lines.call_once(|| lines).as_ref())
    }

    fn others_bytes(&self, block: usize) -> usize {
        block.saturating_mul(self.peers.len() - 1)
    }
}

const CALLS_BEFORE: u32 = 2;

/// Reads a run of a peer's memory.
pub fn read(way: &smsc::Way, remote: u64, to: &Data<'_>) -> opal_core::Result<()> {
    in_steps(way, to, |at, done, bytes| {
        // SAFETY: part of a target among the module's arguments or of the executor's room; one run, says the caller.
        unsafe { way.module.copy_from(way.peer, remote.wrapping_add(done as u64), at, bytes) }
    })
}

/// Writes a run to a peer's memory.
pub fn write(way: &smsc::Way, remote: u64, from: &Data<'_>) -> opal_core::Result<()> {
    in_steps(way, from, |at, done, bytes| {
        // SAFETY: as above, of a source or of what was written before.
        unsafe { way.module.copy_to(way.peer, remote.wrapping_add(done as u64), at, bytes) }
    })
}

fn in_steps(
    way: &smsc::Way,
    run: &Data<'_>,
    mut copy: impl FnMut(*mut u8, usize, usize) -> opal_core::Result<()>,
) -> opal_core::Result<()> {
    let (all, most) = (run.bytes(), way.module.caps().max_bytes);
    for done in (0..all).step_by(most) {
        if done > 0 {
            progress::pass();
        }
        copy(run.at.wrapping_add(done), done, most.min(all - done))?;
    }
    Ok(())
}

/// Copies an argument to a place in the lines for so many bytes, a word in one go. `Err(Truncate)` if there are more.
#[inline(always)]
pub fn store(executor: &mut dyn Executor, from: &Data<'_>, at: *mut u8, room: usize) -> Result<()> {
    let bytes = from.bytes();
    match from.contiguous().filter(|_| bytes <= room) {
        // SAFETY: an argument of the module's methods, and this rank's place in the lines, which has room.
        Some(from) if unsafe { is_moved(bytes, from, at) } => Ok(()),
        _ => executor.copy(from, &packed(at, room)),
    }
}

/// Copies from the lines into an argument, likewise.
#[inline(always)]
pub fn load(executor: &mut dyn Executor, at: *mut u8, to: &Data<'_>) -> Result<()> {
    let bytes = to.bytes();
    match to.contiguous() {
        Some(to) => load_run(executor, at, to, bytes),
        None => executor.copy(&packed(at, bytes), to),
    }
}

/// Copies so many bytes from the lines into a run of an argument, likewise.
#[inline(always)]
pub fn load_run(executor: &mut dyn Executor, at: *mut u8, to: *mut u8, bytes: usize) -> Result<()> {
    // SAFETY: what a rank has contributed, for which the caller has waited; the methods' contract makes targets writable.
    match unsafe { is_moved(bytes, at, to) } {
        true => Ok(()),
        false => executor.copy(&packed(at, bytes), &packed(to, bytes)),
    }
}

/// Copies between two arguments, likewise.
#[inline(always)]
pub fn copy(executor: &mut dyn Executor, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    let bytes = from.bytes();
    match (from.contiguous(), to.contiguous().filter(|_| bytes <= to.bytes())) {
        // SAFETY: arguments of the module's methods; the target is long enough.
        (Some(from), Some(to)) if unsafe { is_moved(bytes, from, to) } => Ok(()),
        _ => executor.copy(from, to),
    }
}

/// Moves four or eight bytes; whether it was so many.
///
/// # Safety
/// `from` is readable and `to` writable for `bytes`; they do not overlap.
#[inline(always)]
unsafe fn is_moved(bytes: usize, from: *const u8, to: *mut u8) -> bool {
    match bytes {
        // SAFETY: the caller's promise.
        8 => unsafe { from.copy_to_nonoverlapping(to, 8) },
        // SAFETY: likewise.
        4 => unsafe { from.copy_to_nonoverlapping(to, 4) },
        _ => return false,
    }
    true
}

/// Whether it serves a function.
pub fn is_served(function: Function) -> bool {
    SERVED.contains(&function)
}

impl Module for Sm {
    fn functions(&self) -> Functions {
        self.next.functions()
    }

    fn recordable(&self) -> Functions {
        0
    }

    fn forced(&self) -> Functions {
        self.choices.forced()
    }

    fn fingerprint(&self) -> u64 {
        self.long.sizes.print()
    }

    fn disagreed(&self) {
        message!(
            "coll_sm_pipeline_piece or coll_sm_pipeline_ring is not the same on all ranks of a communicator, which sends no \
             data through pipelines; set them alike everywhere"
        );
        self.long.do_without_pipelines();
    }

    fn above(&self, others: &Table) {
        self.next.keep(others, Table::entry);
    }

    unsafe fn call(&self, call: Call<'_>, on: &mut dyn Executor) -> Result<()> {
        // What is not done here goes another way, which the long ones choose.
        let is_short = match call {
            Call::Barrier => {
                if let Some(ends) = self.short(Function::Barrier, 0, on)? {
                    return if ends.0.size == 2 { pair::barrier(ends) } else { meeting(ends, 0)?.meet() };
                }
                false
            }
            Call::Bcast(data, root) => {
                if let Some(peer) = self.message(Function::Bcast, data.bytes()) {
                    return if self.rank == root { on.send(data, peer) } else { on.recv(data, peer) };
                }
                if let Some(turn) = self.turn(Function::Bcast, (Shape::From(root), data.bytes()), on)? {
                    return algorithms::bcast(&turn, on, data, root);
                }
                false
            }
            Call::Gather(from, to, root) => {
                if let Some(turn) = self.turn(Function::Gather, (Shape::To(root), contributed(from, to)), on)? {
                    return algorithms::gather(&turn, on, from, to);
                }
                false
            }
            Call::Scatter(from, to, root) => {
                let bytes = self.others_bytes(from.or(to).map_or(0, Data::bytes));
                if let Some(turn) = self.turn(Function::Scatter, (Shape::From(root), bytes), on)? {
                    return algorithms::scatter(&turn, on, from, to, root);
                }
                false
            }
            Call::Allgather(from, to) => self.allgather(from, to, on)?,
            Call::Alltoall(from, to) => self.alltoall(from, to, on)?,
            Call::Reduce(from, to, op, root) => {
                let to = to.filter(|_| self.rank == root);
                // Else an error that the next component knows.
                if let Some(datatype) = combined(&call) {
                    op.check(datatype)?;
                    if let Some(turn) = self.turn(Function::Reduce, (Shape::To(root), contributed(from, to)), on)? {
                        return algorithms::reduce(&turn, on, from, to, op);
                    }
                }
                false
            }
            Call::Allreduce(from, to, op) => {
                op.check(to.datatype)?;
                self.allreduce((from, to, op), on)?
            }
            _ => false,
        };
        if is_short {
            return Ok(());
        }
        let done = self.long(&call, on)?;
        // SAFETY: this method has the same contract.
        if done { Ok(()) } else { unsafe { self.next.call(call, on) } }
    }
}

/// Begins an operation in which all wait for all.
fn meeting((lines, peers): Ends<'_>, bytes: usize) -> Result<Turn<'_>> {
    Turn::begin(lines, peers, Shape::All, bytes)
}

/// Bytes of one rank's contribution, as the root and as the others know it.
fn contributed(from: Source<'_>, to: Option<&Data<'_>>) -> usize {
    match (from, to) {
        (_, Some(to)) => to.bytes(),
        (Source::From(from), None) => from.bytes(),
        (Source::InPlace, None) => 0,
    }
}
