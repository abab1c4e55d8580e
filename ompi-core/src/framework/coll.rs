//! Collective operations: each communicator has a table *function → module*, filled when it is made.
//!
//! Which module serves a function is agreed by all ranks of the communicator at creation (a reduction of ability
//! bits); at call time a module may choose among algorithms only by what the standard makes equal everywhere.
//!
//! A module *describes* the operation to an executor, so that the same method serves the blocking function
//! (the executor runs each step at once), the nonblocking and the persistent one (it records them). A module that can
//! only run at once, over flags in shared memory or a wire, says so by leaving functions out of
//! [`Module::recordable`]; the table keeps a second entry for those.
#![allow(unsafe_code)] // linkme's expansion

use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::executor::Executor;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::mca;
use opal_core::sync::{AtomicU32, Ordering};

mod about;
mod algorithms;
mod call;
mod fallback;
pub use about::{About, Case};
pub use algorithms::Algorithms;
pub use call::Call;
pub use fallback::Fallback;

/// The collective functions, as bit numbers of [`Functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the standard's names
#[repr(u8)]
pub enum Function {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

/// Number of [`Function`]s.
pub const FUNCTIONS: usize = 22;

/// A set of functions, bit `Function as u8`.
pub type Functions = u64;

/// The functions of MPI 5.0 §6, for every communicator.
pub const ALL_FUNCTIONS: Functions = (1 << Function::NeighborAllgather as u8) - 1;

/// Those among the neighbours of a topology, MPI 5.0 §8.6.
pub const NEIGHBOR_FUNCTIONS: Functions = (1 << FUNCTIONS) - 1 - ALL_FUNCTIONS;

/// The root of a call on an intercommunicator is this process: MPI_ROOT.
pub const ROOT_HERE: usize = usize::MAX;

/// The root of a call on an intercommunicator is another process of this group, MPI_PROC_NULL: this one does nothing.
pub const ROOT_BESIDE: usize = usize::MAX - 1;

/// What a module says to a call of a function that it does not offer.
#[cold]
pub fn not_here<T>() -> Result<T> {
    Err(Fault::new(Class::UnsupportedOperation))
}

/// Bits of functions.
pub const fn set_of(functions: &[Function]) -> Functions {
    let (mut set, mut index) = (0, 0);
    while index < functions.len() {
        set |= 1 << functions[index] as u8;
        index += 1;
    }
    set
}

/// A component's object for one communicator.
///
/// The executor is one for this communicator: a module asks it for every message, copy, reduction and room, and never looks
/// at data, unless the function is not [`recordable`](Module::recordable), when the executor runs each step at once. Messages
/// travel in the collective match context.
pub trait Module: Send + Sync {
    /// Which functions it candidates.
    fn functions(&self) -> Functions;

    /// Which of them only describe the operation to the executor, so that they may be recorded.
    fn recordable(&self) -> Functions {
        self.functions()
    }

    /// Which of the recordable ones serve any choice of the communicator's ranks ([`Part`](crate::executor::Subset)):
    /// what they need to know they ask the executor. The same on all ranks.
    fn partial(&self) -> Functions {
        0
    }

    /// Names what its choices depend on beside the arguments of calls, a file's content say. If the names that a component's
    /// modules have on the ranks differ, all these are told by [`Module::disagreed`], before [`Module::set_fallback`].
    fn fingerprint(&self) -> u64 {
        0
    }

    /// Not all ranks have the same [`Module::fingerprint`]: choices may depend on arguments only.
    fn disagreed(&self) {}

    /// For which functions the user has named an algorithm of this component, by a parameter or a file.
    fn forced(&self) -> Functions {
        0
    }

    /// A module for the same communicator that does what the user has named, and passes on all else. Where all ranks agree
    /// on what is [`forced`](Module::forced) it comes first of all, since what was asked for counts more than what
    /// components with higher priorities would choose.
    fn forcing(&self) -> Option<Arc<dyn Module>> {
        None
    }

    /// Tells which modules would serve the communicator without it: one that declines calls by their arguments (which
    /// must be equal on all ranks) passes them on. For an intercommunicator they are those of the communicator that
    /// carries it ([`Communicator::merged`]). Called once, before it enters the table.
    fn set_fallback(&self, _others: &Table) {}

    /// MPI_Finalize, after its barrier: no communicator has a collective any more. Ends when this process owes nobody a
    /// word, also for other communicators that the component serves; may be called several times.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    /// Does it. All ranks of the communicator call it for the same functions in the same order; arguments are checked.
    /// `Err(UnsupportedOperation)` for what is not among [`Module::functions`].
    ///
    /// # Safety
    /// What `Data`, `Blocks` and `TypedBlocks` describe is readable (sources) or writable (targets), and sources overlap no
    /// target, as long as the executor needs them.
    unsafe fn call(&self, call: Call<'_>, executor: &mut dyn Executor) -> Result<()>;
}

/// A kind of collectives.
pub trait Component: mca::Component {
    /// Reads what its parameters name. `Err` after a message ends the start: what the user asked for cannot be had.
    fn configure(&self) -> opal_core::Result<()> {
        Ok(())
    }

    /// What it does for a function on intracommunicators (coll/inter on the others), and in a case; `None` if it never
    /// serves it. For people, without a job.
    fn about(&self, function: Function, case: Case) -> Option<About>;

    /// Priority and module for a communicator, or why not. Must not communicate.
    fn query(&self, comm: &Communicator) -> core::result::Result<(i32, Arc<dyn Module>), mca::Declined>;
}

opal_core::framework! {
    /// Collective operations.
    "coll", Ompi, version 1, ManyOfMany, OMPI_COLLS: dyn Component
}

/// A component's name and its module for a communicator.
pub type Entry = (&'static str, Arc<dyn Module>);

/// What a component candidates for a communicator.
pub struct Candidate {
    /// The component's.
    pub name: &'static str,
    /// The highest one gets a function.
    pub priority: i32,
    /// Which functions all ranks have agreed that it may serve.
    pub functions: Functions,
    /// Which of them it may serve as recorded schedules.
    pub recordable: Functions,
    /// For which functions all ranks were told to use an algorithm of it.
    pub forced: Functions,
    /// Who serves them.
    pub module: Arc<dyn Module>,
}

/// Which module serves which function on one communicator.
#[derive(Default)]
pub struct Table {
    entries: [Option<Entry>; FUNCTIONS],
    recordable: [Option<Entry>; FUNCTIONS],
    partial: [Option<Entry>; FUNCTIONS],
    tags: Tags,
}

impl Table {
    /// The module that serves the blocking function.
    #[inline]
    pub fn of(&self, function: Function) -> Result<&dyn Module> {
        module(&self.entries[function as usize])
    }

    /// The module that serves the nonblocking and the persistent function.
    pub fn recordable(&self, function: Function) -> Result<&dyn Module> {
        module(&self.recordable[function as usize])
    }

    /// Name and module of what serves the blocking function.
    pub fn entry(&self, function: Function) -> Option<&Entry> {
        self.entries[function as usize].as_ref()
    }

    /// Name and module of what serves the nonblocking and the persistent function.
    pub fn recordable_entry(&self, function: Function) -> Option<&Entry> {
        self.recordable[function as usize].as_ref()
    }

    /// Name and module of what serves the function among some of the ranks.
    pub fn partial_entry(&self, function: Function) -> Option<&Entry> {
        self.partial[function as usize].as_ref()
    }

    /// Calls [`Module::finish`] of all.
    pub fn finish(&self) -> Result<()> {
        self.entries.iter().flatten().try_for_each(|(_, module)| module.finish())
    }

    /// The tags of this communicator's nonblocking and persistent collectives.
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    /// Fills the table: every function goes to the highest bidder. The table of an intercommunicator stands above that of
    /// its merged intracommunicator.
    pub fn fill(&mut self, mut candidates: Vec<Candidate>, merged: Option<&Table>) {
        // Lowest priority first; the name decides between equals, so that all ranks agree.
        candidates.sort_by(|a, b| a.priority.cmp(&b.priority).then(b.name.cmp(a.name)));
        let first = first(&candidates);
        for candidate in candidates.into_iter().chain(first) {
            candidate.module.set_fallback(merged.unwrap_or(self));
            let partial = candidate.recordable & candidate.module.partial();
            for index in (0..FUNCTIONS).filter(|index| candidate.functions >> index & 1 != 0) {
                self.entries[index] = Some((candidate.name, candidate.module.clone()));
                if candidate.recordable >> index & 1 != 0 {
                    self.recordable[index] = Some((candidate.name, candidate.module.clone()));
                }
                if partial >> index & 1 != 0 {
                    self.partial[index] = Some((candidate.name, candidate.module.clone()));
                }
            }
        }
    }
}

/// The modules that do what the user has named; where several components are forced for a function, the highest of them.
fn first(candidates: &[Candidate]) -> Vec<Candidate> {
    let (mut first, mut settled) = (Vec::new(), 0);
    for candidate in candidates.iter().rev() {
        let functions = candidate.functions & candidate.forced & !settled;
        settled |= functions;
        if functions == 0 {
            continue;
        }
        if let Some(module) = candidate.module.forcing() {
            let recordable = candidate.recordable & functions;
            first.push(Candidate {
                name: candidate.name,
                priority: i32::MAX,
                functions,
                recordable,
                forced: functions,
                module,
            });
        }
    }
    first
}

#[inline]
fn module(entry: &Option<Entry>) -> Result<&dyn Module> {
    match entry {
        Some((_, module)) => Ok(&**module),
        None => Err(Fault::new(Class::UnsupportedOperation).because("no coll component candidates it here")),
    }
}

/// The tags of messages in a communicator's collective match context, so that operations under way at the same time never mix.
///
/// Blocking ones use their [`Function`]'s number: one follows the other and messages do not overtake. Nonblocking ones
/// are numbered as they begin, which all ranks do in the same order (MPI 5.0 §6.12). A persistent one has its tag from
/// its initialisation on, whose order is the same everywhere, because starts need no common order (§6.13).
#[derive(Default)]
pub struct Tags {
    begun: AtomicU32,
    prepared: AtomicU32,
}

impl Tags {
    /// For a nonblocking collective. Comes again after 2^30 others.
    pub fn begin(&self) -> i32 {
        (NONBLOCKING + self.begun.fetch_add(1, Ordering::Relaxed) % (1 << 30)) as i32
    }

    /// For a persistent collective, which may live for ever: the tag never comes again. `Err(Other)` if there are none.
    pub fn prepare(&self) -> Result<i32> {
        let number = self.prepared.fetch_add(1, Ordering::Relaxed);
        if number < NONBLOCKING - PERSISTENT {
            return Ok((PERSISTENT + number) as i32);
        }
        self.prepared.store(NONBLOCKING - PERSISTENT, Ordering::Relaxed);
        let why = "a communicator has room for a billion persistent collectives in its life; duplicate it";
        Err(Fault::new(Class::Other).because(why))
    }
}

const PERSISTENT: u32 = 1 << 10;
const NONBLOCKING: u32 = 1 << 30;
