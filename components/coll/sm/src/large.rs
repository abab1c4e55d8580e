//! Large data: direct between the ranks' buffers, or in a pipeline through shared rings.

use crate::algorithm::Algorithm;
use crate::autotune::{self, Candidate, Key, Tuning};
use crate::buffer::VBlocks;
use crate::direct;
use crate::direct::exchange::{self, Direct, Endpoints, Outcome};
use crate::flags::segment::Segment;
use crate::flags::v_variants::ExchangedLengths;
use crate::operand::Operands;
use crate::peer::Peer;
use crate::pipeline::ring::{Rings, Sizes};
use crate::pipeline::{self, Pipeline};
use ompi_core::data::Source;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{self, Call, FRAMEWORK};
use opal_core::framework::timer;
use opal_core::sync::{AtomicBool, ConditionalLock, Once, Ordering};
use opal_core::verbose;

/// Large data of one communicator.
pub struct LargeData {
    /// Of rings.
    pub sizes: Sizes,
    // Not all ranks have the same sizes.
    disagreed: Once<()>,
    rings: Once<Option<Rings>>,
    // Direct copies are possible, as far as all ranks know.
    copies: AtomicBool,
    endpoints: Once<Option<Endpoints>>,
    tuning: ConditionalLock<Tuning>,
}

/// A call for large data, and the ranks that do it.
pub struct Task<'a> {
    /// Created before.
    pub segment: &'a Segment,
    /// By rank.
    pub peers: &'a [Option<Peer>],
    /// The call.
    pub call: &'a Call<'a>,
    /// One rank's contribution; equal on all ranks.
    pub bytes: usize,
    /// Direct, Pipeline or Autotuned.
    pub algorithm: Algorithm,
}

// The algorithm that serves a call.
enum Selected<'a> {
    Direct(Direct<'a>),
    Pipeline(Pipeline<'a>),
    Fallback,
}

impl LargeData {
    /// Nothing is known yet but the parameters.
    pub fn new() -> LargeData {
        LargeData {
            sizes: Sizes::by_parameters(),
            disagreed: Once::new(),
            rings: Once::new(),
            copies: AtomicBool::new(true),
            endpoints: Once::new(),
            tuning: ConditionalLock::new(Tuning::new()),
        }
    }

    /// On all ranks, from now on.
    pub fn do_without_pipelines(&self) {
        self.disagreed.call_once(|| ());
    }

    /// Does it; `false` on all ranks if the next component must.
    pub fn perform<'a>(&'a self, task: &Task<'a>, executor: &mut dyn Executor) -> Result<bool> {
        let Task { segment, peers, call, bytes, algorithm } = *task;
        let (pipeline, direct) = (self.pipeline(task, executor)?, self.direct(task)?);
        let (selected, key) = match (pipeline, direct) {
            (Some(pipeline), Some(direct)) if algorithm == Algorithm::Autotuned && is_autotuned(call, peers.len()) => {
                let Some(key) = Key::of(call.function(), bytes, pipeline.rings.capacity()) else { return Ok(false) };
                let (candidate, wanted) = self.tuning.lock().begin(key);
                let selected = match candidate {
                    Candidate::Direct => Selected::Direct(direct),
                    Candidate::Pipeline => Selected::Pipeline(pipeline),
                };
                (selected, Some((key, wanted)))
            }
            (_, Some(direct)) => (Selected::Direct(direct), None),
            (Some(pipeline), None) => (Selected::Pipeline(pipeline), None),
            (None, None) => (Selected::Fallback, None),
        };
        let name = match selected {
            Selected::Direct(_) => "direct",
            Selected::Pipeline(_) => "pipeline",
            Selected::Fallback => return Ok(false),
        };
        coll::ran("sm", (call.function(), bytes, peers.len()), "", name);
        let since = key.filter(|(_, wanted)| *wanted).map(|_| timer::ticks());
        let done = match selected {
            Selected::Direct(direct) => self.finish(directly(&direct, executor, call)?)?,
            Selected::Pipeline(over) => in_pieces(&over, executor, call)?,
            Selected::Fallback => false,
        };
        if let (true, Some((key, _))) = (done, key) {
            let over = self.tuning.lock().end(key, since.map(|since| timer::ticks() - since));
            if let Some(costs) = over {
                let worst = autotune::agree(segment, peers, costs)?;
                self.tuning.lock().conclude(key, worst);
            }
        }
        Ok(done)
    }

    /// MPI_Alltoallv or MPI_Alltoallw, as above.
    pub fn exchange<'a>(
        &'a self,
        task: &Task<'a>,
        executor: &mut dyn Executor,
        blocks: (Option<VBlocks<'_>>, VBlocks<'_>),
        lengths: &ExchangedLengths<'_>,
    ) -> Result<bool> {
        let Some(pipeline) = self.pipeline(task, executor)? else { return Ok(false) };
        let (function, ranks) = (task.call.function(), task.peers.len());
        coll::ran("sm", (function, task.bytes, ranks), "", "pipeline");
        pipeline::exchange(&pipeline, executor, blocks, lengths).map(|()| true)
    }

    // The rings, if the call can use them; all ranks know alike.
    fn pipeline<'a>(&'a self, task: &Task<'a>, executor: &mut dyn Executor) -> Result<Option<Pipeline<'a>>> {
        if self.disagreed.get().is_some() || task.algorithm == Algorithm::Direct {
            return Ok(None);
        }
        if !pipeline::serves(task.call, self.sizes.piece, task.peers.len()) {
            return Ok(None);
        }
        let rings = match self.rings.get() {
            Some(rings) => rings,
            None => {
                let rings = Rings::create((task.segment.rank, task.peers), self.sizes, executor)?;
                self.rings.call_once(|| rings)
            }
        };
        Ok(rings.as_ref().map(|rings| Pipeline { rings, peers: task.peers }))
    }

    // The smsc endpoints, likewise.
    fn direct<'a>(&'a self, task: &Task<'a>) -> Result<Option<Direct<'a>>> {
        if task.algorithm == Algorithm::Pipeline || !direct::serves(task.call) || !self.copies.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let endpoints = match self.endpoints.get() {
            Some(endpoints) => endpoints,
            None => {
                let endpoints = exchange::connect(task.segment, task.peers)?;
                self.copies.store(endpoints.is_some(), Ordering::Relaxed);
                self.endpoints.call_once(|| endpoints)
            }
        };
        Ok(endpoints.as_ref().map(|endpoints| Direct { segment: task.segment, peers: task.peers, endpoints }))
    }

    // Whether the operation is done; else the next component does it.
    fn finish(&self, outcome: Outcome) -> Result<bool> {
        if outcome != Outcome::Done {
            verbose!(
                FRAMEWORK,
                10,
                "sm: the system refused a copy between two ranks: this communicator uses no direct copies from now on"
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

// Whether both candidates give the same bits.
fn is_autotuned(call: &Call<'_>, ranks: usize) -> bool {
    ranks == 2 || !matches!(call, Call::Reduce(..) | Call::Allreduce(..))
}

fn directly(direct: &Direct<'_>, executor: &mut dyn Executor, call: &Call<'_>) -> Result<Outcome> {
    match *call {
        Call::Bcast(data, root) => direct::bcast(direct, executor, data, root),
        Call::Allgather(from, to) => direct::allgather(direct, executor, from, to),
        Call::Alltoall(Source::From(from), to) => direct::alltoall(direct, executor, &from, to),
        _ => match Operands::of(call, executor.rank()) {
            Some(operands) => direct::reduce(direct, executor, &operands),
            None => Ok(Outcome::Again),
        },
    }
}

fn in_pieces(over: &Pipeline<'_>, executor: &mut dyn Executor, call: &Call<'_>) -> Result<bool> {
    match *call {
        Call::Bcast(data, root) => pipeline::bcast(over, executor, data, root)?,
        Call::Gather(from, to, root) => pipeline::gather(over, executor, from, (to, root))?,
        Call::Scatter(from, to, root) => pipeline::scatter(over, executor, (from, to), root)?,
        Call::Allgatherv(from, to) => pipeline::allgatherv(over, executor, from, to)?,
        Call::Allgather(from, to) => pipeline::allgather(over, executor, from, to)?,
        Call::Alltoall(from, to) => pipeline::alltoall(over, executor, from, to)?,
        Call::ReduceScatter(from, to, counts, op) => {
            pipeline::reduce_scatter(over, executor, (from, to, op), |rank| counts.count(rank))?;
        }
        Call::ReduceScatterBlock(from, to, op) => {
            pipeline::reduce_scatter(over, executor, (from, to, op), |_| to.count)?;
        }
        Call::Scan(from, to, op) => pipeline::scan(over, executor, (from, to, op), false)?,
        Call::Exscan(from, to, op) => pipeline::scan(over, executor, (from, to, op), true)?,
        _ => match Operands::of(call, executor.rank()) {
            Some(operands) => pipeline::reduce(over, executor, &operands)?,
            None => return Ok(false),
        },
    }
    Ok(true)
}
