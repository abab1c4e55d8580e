//! What serves the collective functions of one communicator: modules, and the table that says which one serves which.

use super::call::Call;
use super::function::{FUNCTIONS, Function, Functions};
use super::tags::Tags;
use crate::error::{Class, Fault, Result};
use crate::executor::Executor;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sort;

/// A component's object for one communicator.
///
/// The executor is one for this communicator: a module asks it for every message, copy, reduction and room, and never looks
/// at data, unless the function is not [`recordable`](Module::recordable), when the executor runs each step at once. Messages
/// travel in the collective match context.
pub trait Module: Send + Sync {
    /// The functions that it offers.
    fn functions(&self) -> Functions;

    /// Which of them only describe the operation to the executor, so that they may be recorded.
    fn recordable(&self) -> Functions {
        self.functions()
    }

    /// Which of the recordable ones serve any subset of the communicator's ranks ([`Subset`](crate::executor::Subset)):
    /// they ask the executor for ranks and sizes. The same on all ranks.
    fn partial(&self) -> Functions {
        0
    }

    /// A hash of parameters and files on which its choices depend, beside the arguments of calls. If the fingerprints of a
    /// component's modules differ among the ranks, [`Module::disagreed`] is called on all, before [`Module::set_fallback`].
    fn fingerprint(&self) -> u64 {
        0
    }

    /// Not all ranks have the same [`Module::fingerprint`]: choices may depend on arguments only.
    fn disagreed(&self) {}

    /// What holds on this rank, one bit each, and counts for its choices only if it holds on all.
    fn local_facts(&self) -> u32 {
        0
    }

    /// Those of [`Module::local_facts`] that hold on all ranks. Called once, before [`Module::set_fallback`].
    fn set_common_facts(&self, _facts: u32) {}

    /// For which functions the user has named an algorithm of this component, by a parameter or a file.
    fn forced(&self) -> Functions {
        0
    }

    /// A module for the same communicator that runs the algorithms that the user has named, and passes on all other calls.
    /// Where all ranks agree on what is [`forced`](Module::forced) it comes before components with higher priorities.
    fn forcing(&self) -> Option<Arc<dyn Module>> {
        None
    }

    /// Tells which modules would serve the communicator without it: one that declines calls by their arguments (which
    /// must be equal on all ranks) passes them on. For an intercommunicator they are those of the communicator that
    /// carries it ([`Communicator::merged`](crate::comm::Communicator::merged)). Called once, before it enters the table.
    fn set_fallback(&self, _others: &Table) {}

    /// MPI_Finalize, after its barrier: no communicator has a collective any more. Returns when no process waits for this one
    /// in the component, for whatever communicator; may be called several times.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    /// Does it. All ranks of the communicator call it for the same functions in the same order; arguments are checked.
    /// `Err(UnsupportedOperation)` for what is not among [`Module::functions`].
    ///
    /// # Safety
    /// What `Data`, `Blocks` and `TypedBlocks` describe is readable (sources) or writable (targets), and sources overlap no
    /// target, as long as the executor needs them.
    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()>;
}

/// The error of a module for a function that it does not offer.
#[cold]
pub fn not_here<T>() -> Result<T> {
    Err(Fault::new(Class::UnsupportedOperation))
}

/// A component's name and its module for a communicator.
pub type Entry = (&'static str, Arc<dyn Module>);

/// The offer of a component for a communicator.
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
    /// It serves them.
    pub module: Arc<dyn Module>,
}

/// Which module serves which function on one communicator.
#[derive(Default)]
pub struct Table {
    // Few serve many functions: a place in a short list is quicker to write and to forget than a reference for each.
    modules: Vec<Entry>,
    entries: Places,
    recordable: Places,
    partial: Places,
    tags: Tags,
}

/// For each function the place of its entry in [`Table::modules`].
struct Places([u8; FUNCTIONS]);

impl Default for Places {
    fn default() -> Places {
        Places([NO_ENTRY; FUNCTIONS])
    }
}

/// No list of modules is so long.
const NO_ENTRY: u8 = u8::MAX;

impl Table {
    /// The module that serves the blocking function.
    #[inline]
    pub fn of(&self, function: Function) -> Result<&dyn Module> {
        module(self.entry(function))
    }

    /// The module that serves the nonblocking and the persistent function.
    pub fn recordable(&self, function: Function) -> Result<&dyn Module> {
        module(self.recordable_entry(function))
    }

    /// Component and module of the blocking function.
    #[inline]
    pub fn entry(&self, function: Function) -> Option<&Entry> {
        self.at(&self.entries, function)
    }

    /// Component and module of the nonblocking and the persistent function.
    pub fn recordable_entry(&self, function: Function) -> Option<&Entry> {
        self.at(&self.recordable, function)
    }

    /// Component and module of the function among a subset of the ranks.
    pub fn partial_entry(&self, function: Function) -> Option<&Entry> {
        self.at(&self.partial, function)
    }

    #[inline]
    fn at(&self, places: &Places, function: Function) -> Option<&Entry> {
        self.modules.get(usize::from(places.0[function as usize]))
    }

    /// Calls [`Module::finish`] of all.
    pub fn finish(&self) -> Result<()> {
        self.modules.iter().try_for_each(|(_, module)| module.finish())
    }

    /// The tags of this communicator's nonblocking and persistent collectives.
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    /// Fills the table: every function goes to the candidate with the highest priority. The table of an intercommunicator stands above that of
    /// its merged intracommunicator.
    pub fn fill(&mut self, mut candidates: Vec<Candidate>, merged: Option<&Table>) {
        // Lowest priority first; the name decides between equals, so that all ranks agree.
        sort::by_key(&mut candidates, |candidate| (candidate.priority, core::cmp::Reverse(candidate.name)));
        let first = first(&candidates);
        for candidate in candidates.into_iter().chain(first) {
            candidate.module.set_fallback(merged.unwrap_or(self));
            let partial = candidate.recordable & candidate.module.partial();
            if candidate.functions == 0 {
                continue;
            }
            let place = self.modules.len() as u8;
            assert!(place < NO_ENTRY, "more coll components than places");
            for index in (0..FUNCTIONS).filter(|index| candidate.functions >> index & 1 != 0) {
                let served = [
                    (&mut self.entries, !0),
                    (&mut self.recordable, candidate.recordable),
                    (&mut self.partial, partial),
                ];
                for (places, functions) in served {
                    if functions >> index & 1 != 0 {
                        places.0[index] = place;
                    }
                }
            }
            self.modules.push((candidate.name, candidate.module));
        }
    }
}

/// The modules for the algorithms that the user has named; where several components are forced for a function, the one with the
/// highest priority.
fn first(candidates: &[Candidate]) -> Vec<Candidate> {
    let (mut first, mut done) = (Vec::new(), 0);
    for candidate in candidates.iter().rev() {
        let functions = candidate.functions & candidate.forced & !done;
        done |= functions;
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
fn module(entry: Option<&Entry>) -> Result<&dyn Module> {
    match entry {
        Some((_, module)) => Ok(&**module),
        None => Err(Fault::new(Class::UnsupportedOperation).because("no coll component offers it here")),
    }
}
