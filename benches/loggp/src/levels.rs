//! coll/han's levels in a trace: each is served by the choice for its ranks among coll/basic and coll/tuned.

use crate::case::Buffers;
use crate::trace::Trace;
use coll_basic as basic;
use coll_han::layout::Layout;
use coll_han::two_level::{Here, Levels};
use coll_tuned as tuned;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::{Executor, Subset};
use ompi_core::framework::coll::Call;

/// Describes an operation in two levels.
pub fn in_levels(
    trace: &mut Trace,
    with: &Buffers<'_>,
    describe: fn(&Here<'_>, &Buffers<'_>, &mut dyn Executor) -> Result<()>,
) -> Result<()> {
    let levels = Simulated { layout: with.layout, rank: trace.rank() };
    describe(&Here::new(&levels, with.layout, trace.rank()), with, trace)
}

struct Simulated<'a> {
    layout: &'a Layout,
    rank: usize,
}

impl Levels for Simulated<'_> {
    fn node(&self, call: Call<'_>, on: &mut dyn Executor) -> Result<()> {
        let (node, _) = self.layout.place(self.rank);
        flat(call, &self.layout.ranks(node), on)
    }

    fn leaders(&self, call: Call<'_>, on: &mut dyn Executor) -> Result<()> {
        flat(call, self.layout.leaders(), on)
    }
}

/// With the limits of coll/tuned.
fn flat(call: Call<'_>, ranks: &[usize], on: &mut dyn Executor) -> Result<()> {
    let on = &mut Subset::new(on, ranks).ok_or(Class::Intern)?;
    let size = ranks.len();
    match call {
        Call::Barrier => basic::barrier::barrier(on),
        Call::Bcast(data, root) if data.bytes() >= LARGE && size > 8 => tuned::bcast::scatter_allgather(on, data, root),
        Call::Bcast(data, root) => basic::bcast::bcast(on, data, root),
        Call::Reduce(from, to, op, root) => basic::reduce::reduce(on, from, to, op, root),
        Call::Allreduce(from, to, op) if to.bytes() >= if size > 16 { SMALL } else { MEDIUM } && to.count >= size => {
            tuned::allreduce::halving(on, from, to, op)
        }
        Call::Allreduce(from, to, op) => basic::allreduce::allreduce(on, from, to, op),
        Call::Allgather(from, to) if size.is_power_of_two() && to.bytes() < LARGE => {
            tuned::allgather::doubling(on, from, to)
        }
        Call::Allgather(from, to) if size > 16 && to.bytes() < SMALL => tuned::allgather::bruck(on, from, to),
        Call::Allgather(from, to) => basic::allgather::allgather(on, from, to),
        Call::Allgatherv(from, to) => basic::allgather::allgatherv(on, from, to),
        Call::Gather(from, to, root) => basic::gather::gather(on, from, to, root),
        Call::Scatter(from, to, root) => basic::scatter::scatter(on, from, to, root),
        _ => Err(Fault::new(Class::Intern).because("coll/han asks for what it never asked for")),
    }
}

const SMALL: usize = 2048;
const MEDIUM: usize = 32 << 10;
const LARGE: usize = 1 << 20;
