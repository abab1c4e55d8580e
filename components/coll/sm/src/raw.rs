//! The module: turns the framework's unsafe calls into calls of the algorithms, and their copies.
#![allow(unsafe_code)]

use crate::choice::{Choices, Way};
use crate::crossing::{self, Ends, Outcome, Ways};
use crate::direct::{self, Operands};
use crate::lines::{Lines, Peer};
use crate::turn::{Shape, Turn};
use crate::{algorithms, params};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::data::{Data, Source};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{Call, FRAMEWORK, Function, Functions, Module, Next, Table};
use ompi_core::op::Op;
use opal_core::framework::smsc;
use opal_core::sync::{AtomicBool, AtomicU32, Once, Ordering};
use opal_core::{progress, verbose};

/// For one communicator.
pub struct Sm {
    rank: usize,
    peers: Box<[Option<Peer>]>,
    choices: Choices,
    // Calls that could have used the lines.
    calls: AtomicU32,
    lines: Once<Option<Lines>>,
    // Straight copies are possible, as far as all ranks know.
    copies: AtomicBool,
    ways: Once<Option<Ways>>,
    next: Next,
}

// How one call is served.
enum Served<'a> {
    Lines(Turn<'a>),
    Direct(Ends<'a>),
    Next,
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
        Sm { rank, peers, choices, calls, lines, copies: AtomicBool::new(true), ways: Once::new(), next }
    }

    /// Begins an operation to which each rank that writes contributes `bytes`, which is equal on all ranks, as is whether
    /// it can be done directly.
    #[inline(always)]
    fn serve(
        &self,
        function: Function,
        (shape, bytes, direct): (Shape, usize, bool),
        executor: &mut dyn Executor,
    ) -> Result<Served<'_>> {
        let ranks = self.peers.len();
        let way = self.choices.way(function, bytes, ranks);
        if way == Way::Next || way == Way::Direct && !(direct && self.copies.load(Ordering::Relaxed)) {
            return Ok(Served::Next);
        }
        let lines = match self.lines.get() {
            Some(lines) => lines.as_ref(),
            None => self.establish(executor)?,
        };
        let Some(lines) = lines else { return Ok(Served::Next) };
        if way == Way::Direct {
            return self.ends(function, bytes, lines);
        }
        verbose!(FRAMEWORK, 40, "sm: {function:?} of {bytes} bytes among {ranks} ranks: lines");
        Turn::begin(lines, &self.peers, shape, bytes).map(Served::Lines)
    }

    #[inline(never)]
    fn ends<'a>(&'a self, function: Function, bytes: usize, lines: &'a Lines) -> Result<Served<'a>> {
        let ways = match self.ways.get() {
            Some(ways) => ways,
            None => {
                let ways = crossing::find(lines, &self.peers)?;
                self.copies.store(ways.is_some(), Ordering::Relaxed);
                self.ways.call_once(|| ways)
            }
        };
        let Some(ways) = ways else { return Ok(Served::Next) };
        verbose!(FRAMEWORK, 40, "sm: {function:?} of {bytes} bytes among {} ranks: direct", self.peers.len());
        Ok(Served::Direct(Ends { lines, peers: &self.peers, ways }))
    }

    /// Whether the operation is done; else the next component does it.
    fn settle(&self, outcome: Outcome) -> Result<bool> {
        if outcome != Outcome::Done {
            verbose!(
                FRAMEWORK,
                10,
                "sm: a rank cannot copy: this communicator's long data goes other ways from now on"
            );
            // On all ranks: what failed once fails again.
            self.copies.store(false, Ordering::Relaxed);
        }
        match outcome {
            Outcome::Done => Ok(true),
            Outcome::Again => Ok(false),
            Outcome::Lost => Err(Fault::new(Class::Other).because(
                "the system stopped allowing copies between processes in the middle of a reduction in place; \
                 --mca smsc ^cma does without such copies from the start",
            )),
        }
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

    // Whether it is done.
    fn alltoall(&self, from: Source<'_>, to: &Data<'_>, on: &mut dyn Executor) -> Result<bool> {
        let bytes = self.others_bytes(to.bytes());
        // MPI_IN_PLACE is said by all ranks or none (MPI 5.0 §6.8).
        let apart = matches!(from, Source::From(_));
        match (self.serve(Function::Alltoall, (Shape::All, bytes, apart), on)?, from) {
            (Served::Lines(turn), _) => algorithms::alltoall(&turn, on, from, to).map(|()| true),
            (Served::Direct(ends), Source::From(from)) => self.settle(direct::alltoall(&ends, on, &from, to)?),
            _ => Ok(false),
        }
    }

    // `to` at the root only. Whether it is done.
    fn reduce(
        &self,
        (from, to, op, root): (Source<'_>, Option<&Data<'_>>, &Op, usize),
        on: &mut dyn Executor,
    ) -> Result<bool> {
        let datatype = match (from, to) {
            (Source::From(own), _) => own.datatype,
            (Source::InPlace, Some(to)) => to.datatype,
            // An error that the next component knows.
            (Source::InPlace, None) => return Ok(false),
        };
        op.check(datatype)?;
        // Count and datatype are equal on all ranks (MPI 5.0 §6.9.1).
        let dense = datatype.layout.is_contiguous();
        match self.serve(Function::Reduce, (Shape::To(root), contributed(from, to), dense), on)? {
            Served::Lines(turn) => algorithms::reduce(&turn, on, from, to, op).map(|()| true),
            Served::Direct(ends) => self.settle(direct::reduce(&ends, on, &operands(from, to, op, Some(root)))?),
            Served::Next => Ok(false),
        }
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

/// Copies between an argument and the lines, eight bytes in one go.
#[inline(always)]
pub fn copy(executor: &mut dyn Executor, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    if let (8, 8, Some(from), Some(to)) = (from.bytes(), to.bytes(), from.contiguous(), to.contiguous()) {
        // SAFETY: `from` is eight bytes of an argument of the module's methods or of the lines.
        let word = unsafe { from.cast::<u64>().read_unaligned() };
        // SAFETY: as above, and the methods' contract makes targets writable.
        unsafe { to.cast::<u64>().write_unaligned(word) };
        return Ok(());
    }
    executor.copy(from, to)
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

    fn above(&self, others: &Table) {
        self.next.keep(others, Table::entry);
    }

    unsafe fn call(&self, call: Call<'_>, on: &mut dyn Executor) -> Result<()> {
        let done = match call {
            Call::Barrier => match self.serve(Function::Barrier, (Shape::All, 0, false), on)? {
                Served::Lines(turn) => return turn.meet(),
                _ => false,
            },
            Call::Bcast(data, root) => {
                match self.serve(Function::Bcast, (Shape::From(root), data.bytes(), true), on)? {
                    Served::Lines(turn) => return algorithms::bcast(&turn, on, data, root),
                    Served::Direct(ends) => self.settle(direct::bcast(&ends, on, data, root)?)?,
                    Served::Next => false,
                }
            }
            Call::Gather(from, to, root) => {
                match self.serve(Function::Gather, (Shape::To(root), contributed(from, to), false), on)? {
                    Served::Lines(turn) => return algorithms::gather(&turn, on, from, to),
                    _ => false,
                }
            }
            Call::Scatter(from, to, root) => {
                let bytes = self.others_bytes(from.or(to).map_or(0, Data::bytes));
                match self.serve(Function::Scatter, (Shape::From(root), bytes, false), on)? {
                    Served::Lines(turn) => return algorithms::scatter(&turn, on, from, to, root),
                    _ => false,
                }
            }
            Call::Allgather(from, to) => match self.serve(Function::Allgather, (Shape::All, to.bytes(), true), on)? {
                Served::Lines(turn) => return algorithms::allgather(&turn, on, from, to),
                Served::Direct(ends) => self.settle(direct::allgather(&ends, on, from, to)?)?,
                Served::Next => false,
            },
            Call::Alltoall(from, to) => self.alltoall(from, to, on)?,
            Call::Reduce(from, to, op, root) => self.reduce((from, to.filter(|_| self.rank == root), op, root), on)?,
            Call::Allreduce(from, to, op) => {
                op.check(to.datatype)?;
                let dense = to.datatype.layout.is_contiguous();
                match self.serve(Function::Allreduce, (Shape::All, to.bytes(), dense), on)? {
                    Served::Lines(turn) => return algorithms::allreduce(&turn, on, from, to, op),
                    Served::Direct(ends) => {
                        self.settle(direct::reduce(&ends, on, &operands(from, Some(to), op, None))?)?
                    }
                    Served::Next => false,
                }
            }
            _ => false,
        };
        // SAFETY: this method has the same contract.
        if done { Ok(()) } else { unsafe { self.next.call(call, on) } }
    }
}

fn operands<'a>(from: Source<'a>, to: Option<&Data<'a>>, op: &'a Op, root: Option<usize>) -> Operands<'a> {
    Operands { from, to: to.copied(), op, root, piece_bytes: params::REDUCE_PIECE.size() }
}

/// Bytes of one rank's contribution, as the root and as the others know it.
fn contributed(from: Source<'_>, to: Option<&Data<'_>>) -> usize {
    match (from, to) {
        (_, Some(to)) => to.bytes(),
        (Source::From(from), None) => from.bytes(),
        (Source::InPlace, None) => 0,
    }
}
