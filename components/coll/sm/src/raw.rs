//! Shared memory as words and places, and the module: turns the framework's unsafe calls into calls of the algorithms.
#![allow(unsafe_code)]

use crate::lines::{Lines, Peer};
use crate::turn::{Shape, Turn};
use crate::{algorithms, wire};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::data::{Data, Source};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{FRAMEWORK, Function, Functions, Module, Table};
use ompi_core::op::Op;
use opal_core::framework::shmem::Segment;
use opal_core::sync::{AtomicU32, AtomicU64, Once, Ordering};
use opal_core::verbose;

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

    /// The word at an offset of [`wire`].
    #[inline(always)]
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset + 8 <= self.part.bytes);
        // SAFETY: offsets come from `wire`, aligned and below `wire::bytes`, for which `of` was asked; it checked that the
        // part lies in a segment that is never unmapped, and its alignment.
        unsafe { &*self.part.base.wrapping_add(offset).cast::<AtomicU64>() }
    }

    /// The address of `bytes` bytes at an offset of [`wire`].
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
    // Calls that could have used the lines.
    calls: AtomicU32,
    lines: Once<Option<Lines>>,
    next: Once<[Option<Arc<dyn Module>>; SERVED.len()]>,
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
        let (calls, lines, next) = (AtomicU32::new(0), Once::new(), Once::new());
        Sm { rank, peers: peers.into_boxed_slice(), calls, lines, next }
    }

    /// Who would serve the function without this component.
    fn next(&self, function: Function) -> Result<&dyn Module> {
        let place = SERVED.iter().position(|served| *served == function);
        let module = place.and_then(|place| self.next.get()?[place].as_deref());
        module.ok_or_else(|| Fault::new(Class::UnsupportedOperation).because("no other coll component offers it here"))
    }

    /// Begins an operation to which each rank that writes contributes `bytes`, which is equal on all ranks; `None`: the
    /// next component serves it.
    #[inline(always)]
    fn turn(
        &self,
        function: Function,
        shape: Shape,
        bytes: usize,
        executor: &mut dyn Executor,
    ) -> Result<Option<Turn<'_>>> {
        if bytes > wire::area_bytes(self.peers.len()) {
            return Ok(None);
        }
        let lines = match self.lines.get() {
            Some(lines) => lines.as_ref(),
            None => self.establish(executor)?,
        };
        let Some(lines) = lines else { return Ok(None) };
        verbose!(FRAMEWORK, 40, "sm: {function:?} of {bytes} bytes among {} ranks", self.peers.len());
        Turn::begin(lines, &self.peers, shape, bytes).map(Some)
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
/// With two ranks messages are faster than an answered flag, and than lines for what both only pass on.
const AMONG_TWO: [Function; 3] = [Function::Barrier, Function::Alltoall, Function::Allreduce];

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

/// Whether it serves a function among so many ranks.
pub fn is_served(function: Function, ranks: usize) -> bool {
    worthwhile(ranks).contains(&function)
}

fn worthwhile(ranks: usize) -> &'static [Function] {
    if ranks == 2 { &AMONG_TWO } else { &SERVED }
}

impl Module for Sm {
    fn functions(&self) -> Functions {
        worthwhile(self.peers.len()).iter().fold(0, |all, function| all | 1 << *function as u8)
    }

    fn recordable(&self) -> Functions {
        0
    }

    fn above(&self, others: &Table) {
        self.next.call_once(|| SERVED.map(|function| others.entry(function).map(|(_, module)| module.clone())));
    }

    fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        match self.turn(Function::Barrier, Shape::All, 0, executor)? {
            Some(turn) => turn.meet(),
            None => self.next(Function::Barrier)?.barrier(executor),
        }
    }

    unsafe fn bcast(&self, data: &Data<'_>, root: usize, executor: &mut dyn Executor) -> Result<()> {
        match self.turn(Function::Bcast, Shape::From(root), data.bytes(), executor)? {
            Some(turn) => algorithms::bcast(&turn, executor, data, root),
            // SAFETY: this method has the same contract.
            None => unsafe { self.next(Function::Bcast)?.bcast(data, root, executor) },
        }
    }

    unsafe fn gather(
        &self,
        from: Source<'_>,
        to: Option<&Data<'_>>,
        root: usize,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        let bytes = contributed(from, to);
        match self.turn(Function::Gather, Shape::To(root), bytes, executor)? {
            Some(turn) => algorithms::gather(&turn, executor, from, to),
            // SAFETY: this method has the same contract.
            None => unsafe { self.next(Function::Gather)?.gather(from, to, root, executor) },
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
        match self.turn(Function::Scatter, Shape::From(root), bytes, executor)? {
            Some(turn) => algorithms::scatter(&turn, executor, from, to, root),
            // SAFETY: this method has the same contract.
            None => unsafe { self.next(Function::Scatter)?.scatter(from, to, root, executor) },
        }
    }

    unsafe fn allgather(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        match self.turn(Function::Allgather, Shape::All, to.bytes(), executor)? {
            Some(turn) => algorithms::allgather(&turn, executor, from, to),
            // SAFETY: this method has the same contract.
            None => unsafe { self.next(Function::Allgather)?.allgather(from, to, executor) },
        }
    }

    unsafe fn alltoall(&self, from: Source<'_>, to: &Data<'_>, executor: &mut dyn Executor) -> Result<()> {
        let bytes = self.others_bytes(to.bytes());
        match self.turn(Function::Alltoall, Shape::All, bytes, executor)? {
            Some(turn) => algorithms::alltoall(&turn, executor, from, to),
            // SAFETY: this method has the same contract.
            None => unsafe { self.next(Function::Alltoall)?.alltoall(from, to, executor) },
        }
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
            if let Some(turn) = self.turn(Function::Reduce, Shape::To(root), bytes, executor)? {
                return algorithms::reduce(&turn, executor, from, to_here, op);
            }
        }
        // SAFETY: this method has the same contract.
        unsafe { self.next(Function::Reduce)?.reduce(from, to, op, root, executor) }
    }

    unsafe fn allreduce(&self, from: Source<'_>, to: &Data<'_>, op: &Op, executor: &mut dyn Executor) -> Result<()> {
        op.check(to.datatype)?;
        match self.turn(Function::Allreduce, Shape::All, to.bytes(), executor)? {
            Some(turn) => algorithms::allreduce(&turn, executor, from, to, op),
            // SAFETY: this method has the same contract.
            None => unsafe { self.next(Function::Allreduce)?.allreduce(from, to, op, executor) },
        }
    }
}

/// Bytes of one rank's contribution, as the root and as the others know it.
fn contributed(from: Source<'_>, to: Option<&Data<'_>>) -> usize {
    match (from, to) {
        (_, Some(to)) => to.bytes(),
        (Source::From(from), None) => from.bytes(),
        (Source::InPlace, None) => 0,
    }
}
