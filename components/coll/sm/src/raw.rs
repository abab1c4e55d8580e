//! Shared memory as words and places, and the module: turns the framework's unsafe calls into calls of the algorithms.
#![allow(unsafe_code)]

use crate::choice::{Choices, Way};
use crate::crossing::{self, Ends, Outcome, Ways};
use crate::direct::{self, Operands};
use crate::lines::{Lines, Peer};
use crate::turn::{Shape, Turn};
use crate::{algorithms, params};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::data::{Data, Source};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{FRAMEWORK, Function, Functions, Module, Table};
use ompi_core::op::Op;
use opal_core::framework::shmem::Segment;
use opal_core::framework::smsc;
use opal_core::sync::{AtomicBool, AtomicU32, AtomicU64, Once, Ordering};
use opal_core::{progress, verbose};

/// Part of a segment that stays mapped for the life of the process.
pub struct Shared {
    part: Segment,
}

impl Shared {
    /// `None` if the segment, which is mapped for ever, has no such part.
    pub fn of(segment: Segment, offset: usize, bytes: usize) -> Option<Shared> {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= segment.bytes);
        let aligned = offset.is_multiple_of(64) && segment.base.addr().is_multiple_of(64);
        (fits && aligned).then(|| Shared { part: Segment { base: segment.base.wrapping_add(offset), bytes } })
    }

    /// The word at an offset of [`crate::wire`].
    #[inline(always)]
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset + 8 <= self.part.bytes);
        // SAFETY: offsets come from `wire`, aligned and below `wire::bytes`, for which `of` was asked; it checked that the
        // part lies in a segment that is never unmapped, and its alignment.
        unsafe { &*self.part.base.wrapping_add(offset).cast::<AtomicU64>() }
    }

    /// The address of `bytes` bytes at an offset of [`crate::wire`].
    #[inline(always)]
    pub fn place(&self, offset: usize, bytes: usize) -> *mut u8 {
        debug_assert!(offset + bytes <= self.part.bytes);
        self.part.base.wrapping_add(offset)
    }
}

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
    next: Once<[Option<Arc<dyn Module>>; SERVED.len()]>,
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
        let (calls, lines, next) = (AtomicU32::new(0), Once::new(), Once::new());
        Sm { rank, peers, choices, calls, lines, copies: AtomicBool::new(true), ways: Once::new(), next }
    }

    /// Who would serve the function without this component.
    fn next(&self, function: Function) -> Result<&dyn Module> {
        let place = SERVED.iter().position(|served| *served == function);
        let module = place.and_then(|place| self.next.get()?[place].as_deref());
        module.ok_or_else(|| Fault::new(Class::UnsupportedOperation).because("no other coll component offers it here"))
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
        SERVED.iter().fold(0, |all, function| all | 1 << *function as u8)
    }

    fn recordable(&self) -> Functions {
        0
    }

    fn above(&self, others: &Table) {
        self.next.call_once(|| SERVED.map(|function| others.entry(function).map(|(_, module)| module.clone())));
    }

    fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        match self.serve(Function::Barrier, (Shape::All, 0, false), executor)? {
            Served::Lines(turn) => turn.meet(),
            _ => self.next(Function::Barrier)?.barrier(executor),
        }
    }

    unsafe fn bcast(&self, data: &Data<'_>, root: usize, executor: &mut dyn Executor) -> Result<()> {
        match self.serve(Function::Bcast, (Shape::From(root), data.bytes(), true), executor)? {
            Served::Lines(turn) => return algorithms::bcast(&turn, executor, data, root),
            Served::Direct(ends) if self.settle(direct::bcast(&ends, executor, data, root)?)? => return Ok(()),
            _ => {}
        }
        // SAFETY: this method has the same contract.
        unsafe { self.next(Function::Bcast)?.bcast(data, root, executor) }
    }

    unsafe fn gather(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let bytes = contributed(from, to);
        match self.serve(Function::Gather, (Shape::To(root), bytes, false), executor)? {
            Served::Lines(turn) => algorithms::gather(&turn, executor, from, to),
            // SAFETY: this method has the same contract.
            _ => unsafe { self.next(Function::Gather)?.gather(from, to, root, executor) },
        }
    }

    unsafe fn scatter(
        &self,
        from: Option<&Data<'_>>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let bytes = self.others_bytes(from.or(to).map_or(0, Data::bytes));
        match self.serve(Function::Scatter, (Shape::From(root), bytes, false), executor)? {
            Served::Lines(turn) => algorithms::scatter(&turn, executor, from, to, root),
            // SAFETY: this method has the same contract.
            _ => unsafe { self.next(Function::Scatter)?.scatter(from, to, root, executor) },
        }
    }

    unsafe fn allgather(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        match self.serve(Function::Allgather, (Shape::All, to.bytes(), true), executor)? {
            Served::Lines(turn) => return algorithms::allgather(&turn, executor, from, to),
            Served::Direct(ends) if self.settle(direct::allgather(&ends, executor, from, to)?)? => return Ok(()),
            _ => {}
        }
        // SAFETY: this method has the same contract.
        unsafe { self.next(Function::Allgather)?.allgather(from, to, executor) }
    }

    unsafe fn alltoall(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        let bytes = self.others_bytes(to.bytes());
        // MPI_IN_PLACE is said by all ranks or none (MPI 5.0 §6.8).
        let apart = matches!(from, Source::From(_));
        match (self.serve(Function::Alltoall, (Shape::All, bytes, apart), executor)?, from) {
            (Served::Lines(turn), _) => return algorithms::alltoall(&turn, executor, from, to),
            (Served::Direct(ends), Source::From(from))
                if self.settle(direct::alltoall(&ends, executor, &from, to)?)? =>
            {
                return Ok(());
            }
            _ => {}
        }
        // SAFETY: this method has the same contract.
        unsafe { self.next(Function::Alltoall)?.alltoall(from, to, executor) }
    }

    unsafe fn reduce(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        op: &Op,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let at_root = self.rank == root;
        let (bytes, to_here) = (contributed(from, to), to.filter(|_| at_root));
        let refused = matches!(from, Source::InPlace) && !at_root;
        let datatype = match from {
            Source::From(own) => Some(own.datatype),
            Source::InPlace => to_here.map(|to| to.datatype),
        };
        if let (false, Some(datatype)) = (refused, datatype) {
            op.check(datatype)?;
            // Count and datatype are equal on all ranks (MPI 5.0 §6.9.1).
            let dense = datatype.layout.is_contiguous();
            match self.serve(Function::Reduce, (Shape::To(root), bytes, dense), executor)? {
                Served::Lines(turn) => return algorithms::reduce(&turn, executor, from, to_here, op),
                Served::Direct(ends) => {
                    let operands = operands(from, to_here, op, Some(root));
                    if self.settle(direct::reduce(&ends, executor, &operands)?)? {
                        return Ok(());
                    }
                }
                Served::Next => {}
            }
        }
        // SAFETY: this method has the same contract.
        unsafe { self.next(Function::Reduce)?.reduce(from, to, op, root, executor) }
    }

    unsafe fn allreduce(&self, from: Source<'_>, to: &Data<'_>, op: &Op, executor: &mut dyn Executor) -> Result<()> {
        op.check(to.datatype)?;
        let dense = to.datatype.layout.is_contiguous();
        match self.serve(Function::Allreduce, (Shape::All, to.bytes(), dense), executor)? {
            Served::Lines(turn) => return algorithms::allreduce(&turn, executor, from, to, op),
            Served::Direct(ends) => {
                let operands = operands(from, Some(to), op, None);
                if self.settle(direct::reduce(&ends, executor, &operands)?)? {
                    return Ok(());
                }
            }
            Served::Next => {}
        }
        // SAFETY: this method has the same contract.
        unsafe { self.next(Function::Allreduce)?.allreduce(from, to, op, executor) }
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
