//! The algorithms as the components have them, described to a [`Trace`].

use crate::case::{Buffers, Case};
use crate::levels::in_levels;
use crate::trace::{Step, Trace};
use coll_basic as basic;
use coll_tuned as tuned;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::op::Operation;
use ompi_core::op::Op;

/// One way to do one function.
pub struct Algorithm {
    /// As the standard has it, without `MPI_`.
    pub function: &'static str,
    /// As `coll_tuned_<function>_algorithm` or `coll_han_…` has it; those of coll/basic by what they are.
    pub name: &'static str,
    /// For how many ranks it is made.
    pub fits: fn(usize) -> bool,
    describe: fn(&mut Trace, &Buffers<'_>) -> Result<()>,
}

impl Algorithm {
    /// About how many steps all ranks have together: that of the first, and of one in the middle for all others.
    pub fn total(&self, case: &Case<'_>) -> usize {
        let size = case.layout.size();
        let [first, other] = [0, size / 2].map(|rank| self.steps(rank, case).len());
        first.saturating_add((size - 1).saturating_mul(other))
    }

    /// What a rank does.
    pub fn steps(&self, rank: usize, case: &Case<'_>) -> Vec<Step> {
        let size = case.layout.size();
        let mut trace = Trace::new(rank, size);
        (self.describe)(&mut trace, &Buffers::new(case))
            .unwrap_or_else(|fault| panic!("{} by {} among {size}: {fault:?}", self.function, self.name));
        trace.into_steps()
    }
}

const SUM: Op = Op::Predefined(Operation::Sum);
const SEGMENT: usize = 32 << 10;

fn any(_: usize) -> bool {
    true
}

/// Of coll/basic, coll/tuned and coll/han, by function.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        function: "barrier",
        name: "dissemination",
        fits: any,
        describe: |trace, _| basic::barrier::barrier(trace),
    },
    Algorithm {
        function: "barrier",
        name: "leaders",
        fits: any,
        describe: |trace, with| in_levels(trace, with, |here, _, on| here.barrier(on)),
    },
    Algorithm {
        function: "bcast",
        name: "binomial",
        fits: any,
        describe: |trace, with| basic::bcast::bcast(trace, &with.to, 0),
    },
    Algorithm {
        function: "bcast",
        name: "scatter_allgather",
        fits: any,
        describe: |trace, with| tuned::bcast::scatter_allgather(trace, &with.to, 0),
    },
    Algorithm {
        function: "bcast",
        name: "chain",
        fits: any,
        describe: |trace, with| tuned::bcast::chain(trace, &with.to, 0, SEGMENT),
    },
    Algorithm {
        function: "bcast",
        name: "leaders",
        fits: any,
        describe: |trace, with| in_levels(trace, with, |here, with, on| here.bcast((&with.to, 0), on)),
    },
    Algorithm {
        function: "reduce",
        name: "binomial",
        fits: any,
        describe: |trace, with| {
            let to = (trace.rank() == 0).then_some(&with.to);
            basic::reduce::reduce(trace, with.source(), to, &SUM, 0)
        },
    },
    Algorithm {
        function: "reduce",
        name: "leaders",
        fits: any,
        describe: |trace, with| {
            in_levels(trace, with, |here, with, on| {
                let to = (on.rank() == 0).then_some(&with.to);
                here.reduce(with.source(), to, (&SUM, 0), on)
            })
        },
    },
    Algorithm {
        function: "allreduce",
        name: "doubling",
        fits: any,
        describe: |trace, with| basic::allreduce::allreduce(trace, with.source(), &with.to, &SUM),
    },
    Algorithm {
        function: "allreduce",
        name: "halving",
        fits: any,
        describe: |trace, with| tuned::allreduce::halving(trace, with.source(), &with.to, &SUM),
    },
    Algorithm {
        function: "allreduce",
        name: "ring",
        fits: any,
        describe: |trace, with| tuned::allreduce::ring(trace, with.source(), &with.to, &SUM),
    },
    Algorithm {
        function: "allreduce",
        name: "leaders",
        fits: any,
        describe: |trace, with| {
            in_levels(trace, with, |here, with, on| here.allreduce(with.source(), (&with.to, &SUM), on))
        },
    },
    Algorithm {
        function: "allgather",
        name: "ring",
        fits: any,
        describe: |trace, with| basic::allgather::allgather(trace, with.source(), &with.to),
    },
    Algorithm {
        function: "allgather",
        name: "doubling",
        fits: usize::is_power_of_two,
        describe: |trace, with| tuned::allgather::doubling(trace, with.source(), &with.to),
    },
    Algorithm {
        function: "allgather",
        name: "bruck",
        fits: any,
        describe: |trace, with| tuned::allgather::bruck(trace, with.source(), &with.to),
    },
    Algorithm {
        function: "allgather",
        name: "neighbor",
        fits: |size| size.is_multiple_of(2),
        describe: |trace, with| tuned::allgather::neighbor(trace, with.source(), &with.to),
    },
    Algorithm {
        function: "allgather",
        name: "leaders",
        fits: any,
        describe: |trace, with| in_levels(trace, with, |here, with, on| here.allgather(with.source(), &with.to, on)),
    },
    Algorithm {
        function: "gather",
        name: "linear",
        fits: any,
        describe: |trace, with| {
            let to = (trace.rank() == 0).then_some(&with.to);
            basic::gather::gather(trace, with.source(), to, 0)
        },
    },
    Algorithm {
        function: "gather",
        name: "leaders",
        fits: any,
        describe: |trace, with| {
            in_levels(trace, with, |here, with, on| {
                let to = (on.rank() == 0).then_some(&with.to);
                here.gather(with.source(), to, 0, on)
            })
        },
    },
    Algorithm {
        function: "scatter",
        name: "linear",
        fits: any,
        describe: |trace, with| {
            let from = (trace.rank() == 0).then_some(&with.from);
            basic::scatter::scatter(trace, from, Some(&with.to), 0)
        },
    },
    Algorithm {
        function: "scatter",
        name: "leaders",
        fits: any,
        describe: |trace, with| {
            in_levels(trace, with, |here, with, on| {
                let from = (on.rank() == 0).then_some(&with.from);
                here.scatter(from, Some(&with.to), 0, on)
            })
        },
    },
    Algorithm {
        function: "alltoall",
        name: "linear",
        fits: any,
        describe: |trace, with| basic::alltoall::alltoall(trace, with.source(), &with.to),
    },
    Algorithm {
        function: "alltoall",
        name: "bruck",
        fits: any,
        describe: |trace, with| tuned::alltoall::bruck(trace, &with.from, &with.to),
    },
    Algorithm {
        function: "alltoall",
        name: "pairwise",
        fits: any,
        describe: |trace, with| tuned::alltoall::pairwise(trace, &with.from, &with.to),
    },
    Algorithm {
        function: "reduce_scatter_block",
        name: "through_zero",
        fits: any,
        describe: |trace, with| basic::reduce_scatter::reduce_scatter_block(trace, with.source(), &with.to, &SUM),
    },
    Algorithm {
        function: "reduce_scatter_block",
        name: "ring",
        fits: any,
        describe: |trace, with| scattered(trace, with, false),
    },
    Algorithm {
        function: "reduce_scatter_block",
        name: "halving",
        fits: usize::is_power_of_two,
        describe: |trace, with| scattered(trace, with, true),
    },
    Algorithm {
        function: "scan",
        name: "doubling",
        fits: any,
        describe: |trace, with| basic::scan::scan(trace, with.source(), &with.to, &SUM),
    },
];

fn scattered(trace: &mut Trace, with: &Buffers<'_>, halving: bool) -> Result<()> {
    let (size, count) = (trace.size(), with.to.count);
    let blocks = tuned::reduce_scatter::Blocks::new(with.source(), &with.to, size, |rank| rank * count);
    match halving {
        true => tuned::reduce_scatter::halving(trace, &blocks, &with.to, &SUM),
        false => tuned::reduce_scatter::ring(trace, &blocks, &with.to, &SUM),
    }
}
