//! The module, and the levels of a call: communicators of their own, or parts of the communicator.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::algorithm::Algorithm;
use crate::layout::Layout;
use crate::select::{Choices, SERVED};
use crate::two_level::{Here, Levels};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::{self, Communicator};
use ompi_core::data::{Data, Source};
use ompi_core::error::{Class, Result};
use ompi_core::executor::{self, Executor, Subset};
use ompi_core::framework::coll::{self, Call, FRAMEWORK, Fallback, Function, Functions, Module, Table, not_here};
use opal_core::sync::{AtomicU32, Once, Ordering};
use opal_core::{message, verbose};

/// For one communicator.
pub struct Han {
    layout: Layout,
    rank: usize,
    choices: Choices,
    // The ranks do not see the same nodes.
    disagreed: Once<()>,
    // Blocking calls that went in two levels.
    calls: AtomicU32,
    comms: Once<Comms>,
    // Recordable, because calls that this module passes on may be recorded, too.
    fallback: Fallback,
    below: Fallback,
}

/// Communicators that nobody else sees.
struct Comms {
    node: Arc<Communicator>,
    /// At leaders.
    leaders: Option<Arc<Communicator>>,
}

/// What the levels are asked for.
const BELOW: [Function; 8] = [
    Function::Barrier,
    Function::Bcast,
    Function::Reduce,
    Function::Allreduce,
    Function::Gather,
    Function::Scatter,
    Function::Allgather,
    Function::Allgatherv,
];

impl Han {
    /// For a communicator with these nodes.
    pub fn new(layout: Layout, rank: usize, choices: Choices) -> Han {
        let (fallback, below) = (Fallback::new(&SERVED.map(|(function, ..)| function)), Fallback::new(&BELOW));
        let (calls, comms, disagreed) = (AtomicU32::new(0), Once::new(), Once::new());
        Han { layout, rank, choices, disagreed, calls, comms, fallback, below }
    }

    /// Whether the call goes in two levels.
    fn suits(&self, call: &Call<'_>) -> bool {
        let bytes = match call {
            Call::Bcast(data, _) => data.bytes(),
            Call::Reduce(from, to, ..) | Call::Gather(from, to, _) => match from {
                Source::From(from) => from.bytes(),
                // Elsewhere than at the root: an error that the next component knows.
                Source::InPlace if !self.is_root(call) => return false,
                Source::InPlace => to.map_or(0, Data::bytes),
            },
            Call::Scatter(from, to, _) => from.or(*to).map_or(0, Data::bytes),
            Call::Allgather(_, to) | Call::Allreduce(_, to, _) => to.bytes(),
            _ => 0,
        };
        let ordered = self.layout.is_in_order() || call.op().is_none_or(|op| op.is_commutative());
        let (algorithm, why) = match (self.disagreed.get(), ordered) {
            (Some(()), _) => (Algorithm::Fallback, "since ranks see different nodes"),
            (None, false) => (Algorithm::Fallback, "for an operation that does not commute"),
            (None, true) => self.choices.algorithm(call.function(), bytes, self.layout.size()),
        };
        let (ranks, nodes) = (self.layout.size(), self.layout.members().len());
        let function = call.function();
        coll::ran("han", (function, bytes, ranks), format_args!(" on {nodes} nodes, {why}"), algorithm.word());
        algorithm == Algorithm::Leaders
    }

    fn is_root(&self, call: &Call<'_>) -> bool {
        match call {
            Call::Reduce(.., root) | Call::Gather(.., root) | Call::Scatter(.., root) => *root == self.rank,
            _ => false,
        }
    }

    /// The levels' communicators, for a call that is run at once; not yet for the first ones.
    fn comms(&self, executor: &dyn Executor) -> Result<Option<&Comms>> {
        let Some(parent) = executor::communicator_of(executor) else { return Ok(None) };
        if let Some(comms) = self.comms.get() {
            return Ok(Some(comms));
        }
        // A communicator that is hardly used needs none.
        if self.calls.fetch_add(1, Ordering::Relaxed) < CALLS_BEFORE {
            return Ok(None);
        }
        let (node, place) = self.layout.place(self.rank);
        let here = comm::split_hidden(parent, Some(node as u64))?.ok_or(Class::Intern)?;
        let leaders = comm::split_hidden(parent, (place == 0).then_some(0))?;
        verbose!(
            FRAMEWORK,
            20,
            "han: a communicator for each of {} nodes and one for their leaders",
            self.layout.members().len()
        );
        Ok(Some(self.comms.call_once(|| Comms { node: here, leaders })))
    }
}

const CALLS_BEFORE: u32 = 2;

impl Module for Han {
    fn functions(&self) -> Functions {
        self.fallback.functions()
    }

    fn forced(&self) -> Functions {
        self.choices.forced()
    }

    fn fingerprint(&self) -> u64 {
        self.layout.fingerprint()
    }

    fn disagreed(&self) {
        message!("coll/han: the ranks of a communicator do not agree about its nodes; it does without two levels");
        self.disagreed.call_once(|| ());
    }

    fn set_fallback(&self, others: &Table) {
        self.fallback.keep(others, Table::recordable_entry);
        self.below.keep(others, Table::partial_entry);
    }

    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        if !self.suits(call) {
            // SAFETY: this method has the same contract.
            return unsafe { self.fallback.call(call, executor) };
        }
        let levels = CallLevels { han: self, comms: self.comms(executor)? };
        let here = Here::new(&levels, &self.layout, self.rank);
        let at_root = self.is_root(call);
        match *call {
            Call::Barrier => here.barrier(executor),
            Call::Bcast(data, root) => here.bcast((data, root), executor),
            Call::Reduce(from, to, op, root) => here.reduce(from, to.filter(|_| at_root), (op, root), executor),
            Call::Allreduce(from, to, op) => here.allreduce(from, (to, op), executor),
            Call::Allgather(from, to) => here.allgather(from, to, executor),
            Call::Gather(from, to, root) => here.gather(from, to.filter(|_| at_root), root, executor),
            Call::Scatter(from, to, root) => here.scatter(from.filter(|_| at_root), to, root, executor),
            _ => not_here(),
        }
    }
}

/// The levels of one call.
struct CallLevels<'a> {
    han: &'a Han,
    comms: Option<&'a Comms>,
}

impl Levels for CallLevels<'_> {
    fn node(&self, call: Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        let (node, _) = self.han.layout.place(self.han.rank);
        let comm = self.comms.map(|comms| &*comms.node);
        // One that is there knows them.
        let ranks = if comm.is_some() { Vec::new() } else { self.han.layout.ranks(node) };
        self.among(comm, &ranks, call, executor)
    }

    fn leaders(&self, call: Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        let comm = self.comms.and_then(|comms| comms.leaders.as_deref());
        self.among(comm, self.han.layout.leaders(), call, executor)
    }
}

impl CallLevels<'_> {
    fn among(
        &self,
        comm: Option<&Communicator>,
        ranks: &[usize],
        call: Call<'_>,
        executor: &mut dyn Executor,
    ) -> Result<()> {
        if let Some(comm) = comm {
            // SAFETY: calls are made of parts of the arguments of `Module::call`, which its caller vouches for, and of the
            // executor's scratch memory.
            return unsafe { executor::run(comm, &call) };
        }
        let mut part = Subset::new(executor, ranks).ok_or(Class::Intern)?;
        // SAFETY: as above.
        unsafe { self.han.below.call(&call, &mut part) }
    }
}
