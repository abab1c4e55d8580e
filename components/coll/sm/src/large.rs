//! Long data: straight between the ranks' buffers, or in pieces through shared rings.

use crate::autotune as measured;
use crate::autotune::{Case, Long, Measured};
use crate::direct::data_movement as direct;
use crate::direct::data_movement::Operands;
use crate::direct::exchange as crossing;
use crate::direct::exchange::{Ends, Outcome, Ways};
use crate::flags::segment::{Lines, Peer};
use crate::flags::v_variants::{Several, Told};
use crate::pipeline::ring::{Rings, Sizes};
use crate::pipeline::{self, Pipeline};
use crate::select::Way;
use ompi_core::data::Source;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{Call, FRAMEWORK};
use opal_core::framework::timer;
use opal_core::sync::{AtomicBool, ConditionalLock, Once, Ordering};
use opal_core::verbose;

/// What one communicator has for long data.
pub struct LongData {
    /// Of rings.
    pub sizes: Sizes,
    // Not all ranks have the same ones.
    disagreed: Once<()>,
    rings: Once<Option<Rings>>,
    // Straight copies are possible, as far as all ranks know.
    copies: AtomicBool,
    ways: Once<Option<Ways>>,
    measured: ConditionalLock<Measured>,
}

/// The ranks, where they meet, and what is to be done; of the bytes all ranks know the same number.
pub struct Task<'a> {
    /// Established before.
    pub lines: &'a Lines,
    /// By rank.
    pub peers: &'a [Option<Peer>],
    /// The call.
    pub call: &'a Call<'a>,
    /// Of what one rank contributes.
    pub bytes: usize,
    /// One of the three for long data.
    pub way: Way,
}

// How one call is served.
enum Served<'a> {
    Direct(Ends<'a>),
    Pipeline(Pipeline<'a>),
    Next,
}

impl LongData {
    /// Nothing is known yet but the parameters.
    pub fn new() -> LongData {
        LongData {
            sizes: Sizes::by_parameters(),
            disagreed: Once::new(),
            rings: Once::new(),
            copies: AtomicBool::new(true),
            ways: Once::new(),
            measured: ConditionalLock::new(Measured::new()),
        }
    }

    /// From now on, on all ranks.
    pub fn do_without_pipelines(&self) {
        self.disagreed.call_once(|| ());
    }

    /// Does it; `false` on all ranks if the next component must.
    pub fn perform<'a>(&'a self, task: &Task<'a>, on: &mut dyn Executor) -> Result<bool> {
        let Task { lines, peers, call, bytes, way } = *task;
        let (pipeline, direct) = (self.pipeline(task, on)?, self.ends(task)?);
        let (served, case) = match (pipeline, direct) {
            (Some(pipeline), Some(ends)) if way == Way::Measured && is_measured(call, peers.len()) => {
                let Some(case) = Case::of(call.function(), bytes, pipeline.rings.room()) else { return Ok(false) };
                let (long, wanted) = self.measured.lock().begin(case);
                let served = match long {
                    Long::Direct => Served::Direct(ends),
                    Long::Pipeline => Served::Pipeline(pipeline),
                };
                (served, Some((case, wanted)))
            }
            (_, Some(ends)) => (Served::Direct(ends), None),
            (Some(pipeline), None) => (Served::Pipeline(pipeline), None),
            (None, None) => (Served::Next, None),
        };
        let name = match served {
            Served::Direct(_) => "direct",
            Served::Pipeline(_) => "pipeline",
            Served::Next => return Ok(false),
        };
        verbose!(FRAMEWORK, 40, "sm: {:?} of {bytes} bytes among {} ranks: {name}", call.function(), peers.len());
        let since = case.filter(|(_, wanted)| *wanted).map(|_| timer::ticks());
        let done = match served {
            Served::Direct(ends) => self.settle(directly(&ends, on, call)?)?,
            Served::Pipeline(over) => in_pieces(&over, on, call)?,
            Served::Next => false,
        };
        if let (true, Some((case, _))) = (done, case) {
            let over = self.measured.lock().end(case, since.map(|since| timer::ticks() - since));
            if let Some(costs) = over {
                let worst = measured::agree(lines, peers, costs)?;
                self.measured.lock().settle(case, worst);
            }
        }
        Ok(done)
    }

    /// MPI_Alltoallv or MPI_Alltoallw, as above.
    pub fn exchange<'a>(
        &'a self,
        task: &Task<'a>,
        on: &mut dyn Executor,
        blocks: (Option<Several<'_>>, Several<'_>),
        told: &Told<'_>,
    ) -> Result<bool> {
        let Some(pipeline) = self.pipeline(task, on)? else { return Ok(false) };
        let (function, ranks) = (task.call.function(), task.peers.len());
        verbose!(FRAMEWORK, 40, "sm: {function:?} of {} bytes among {ranks} ranks: pipeline", task.bytes);
        pipeline::exchange(&pipeline, on, blocks, told).map(|()| true)
    }

    // The rings, if the call can use them; all ranks know alike.
    fn pipeline<'a>(&'a self, task: &Task<'a>, on: &mut dyn Executor) -> Result<Option<Pipeline<'a>>> {
        if self.disagreed.get().is_some() || task.way == Way::Direct {
            return Ok(None);
        }
        if !pipeline::serves(task.call, self.sizes.piece, task.peers.len()) {
            return Ok(None);
        }
        let rings = match self.rings.get() {
            Some(rings) => rings,
            None => {
                let rings = Rings::establish((task.lines.rank, task.peers), self.sizes, on)?;
                self.rings.call_once(|| rings)
            }
        };
        Ok(rings.as_ref().map(|rings| Pipeline { rings, peers: task.peers }))
    }

    // The ways between the ranks' memories, likewise.
    fn ends<'a>(&'a self, task: &Task<'a>) -> Result<Option<Ends<'a>>> {
        if task.way == Way::Pipeline || !direct::serves(task.call) || !self.copies.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let ways = match self.ways.get() {
            Some(ways) => ways,
            None => {
                let ways = crossing::find(task.lines, task.peers)?;
                self.copies.store(ways.is_some(), Ordering::Relaxed);
                self.ways.call_once(|| ways)
            }
        };
        Ok(ways.as_ref().map(|ways| Ends { lines: task.lines, peers: task.peers, ways }))
    }

    // Whether the operation is done; else the next component does it.
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
}

// Both ways give the same bits.
fn is_measured(call: &Call<'_>, ranks: usize) -> bool {
    ranks == 2 || !matches!(call, Call::Reduce(..) | Call::Allreduce(..))
}

fn directly(ends: &Ends<'_>, on: &mut dyn Executor, call: &Call<'_>) -> Result<Outcome> {
    match *call {
        Call::Bcast(data, root) => direct::bcast(ends, on, data, root),
        Call::Allgather(from, to) => direct::allgather(ends, on, from, to),
        Call::Alltoall(Source::From(from), to) => direct::alltoall(ends, on, &from, to),
        _ => match operands(call, on.rank()) {
            Some(operands) => direct::reduce(ends, on, &operands),
            None => Ok(Outcome::Again),
        },
    }
}

fn in_pieces(over: &Pipeline<'_>, on: &mut dyn Executor, call: &Call<'_>) -> Result<bool> {
    match *call {
        Call::Bcast(data, root) => pipeline::bcast(over, on, data, root)?,
        Call::Gather(from, to, root) => pipeline::gather(over, on, from, (to, root))?,
        Call::Scatter(from, to, root) => pipeline::scatter(over, on, (from, to), root)?,
        Call::Allgatherv(from, to) => pipeline::allgatherv(over, on, from, to)?,
        Call::Allgather(from, to) => pipeline::allgather(over, on, from, to)?,
        Call::Alltoall(from, to) => pipeline::alltoall(over, on, from, to)?,
        Call::ReduceScatter(from, to, counts, op) => {
            pipeline::reduce_scatter(over, on, (from, to, op), |rank| counts.count(rank))?;
        }
        Call::ReduceScatterBlock(from, to, op) => {
            pipeline::reduce_scatter(over, on, (from, to, op), |_| to.count)?;
        }
        Call::Scan(from, to, op) => pipeline::scan(over, on, (from, to, op), false)?,
        Call::Exscan(from, to, op) => pipeline::scan(over, on, (from, to, op), true)?,
        _ => match operands(call, on.rank()) {
            Some(operands) => pipeline::reduce(over, on, &operands)?,
            None => return Ok(false),
        },
    }
    Ok(true)
}

/// What this rank brings into a reduction, and where it wants the result, which only the root may say.
fn operands<'a>(call: &Call<'a>, rank: usize) -> Option<Operands<'a>> {
    match *call {
        Call::Reduce(from, to, op, root) => {
            Some(Operands { from, to: to.copied().filter(|_| rank == root), op, root: Some(root) })
        }
        Call::Allreduce(from, to, op) => Some(Operands { from, to: Some(*to), op, root: None }),
        _ => None,
    }
}
