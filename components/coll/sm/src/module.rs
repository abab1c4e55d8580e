//! The module of one communicator: each call goes to `small`, else to `large`, else to the next component.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::algorithm::Algorithm;
use crate::buffer::{VBlocks, longest};
use crate::flags::epoch::Epoch;
use crate::flags::layout;
use crate::flags::reduction;
use crate::flags::segment::Pattern;
use crate::flags::v_variants::{self, ExchangedLengths};
use crate::large::{LargeData, Task};
use crate::operand;
use crate::p2p;
use crate::peer::Peer;
use crate::select::SERVED;
use crate::small::{SmallData, contribution_bytes};
use alloc::vec::Vec;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{Call, Fallback, Function, Functions, Module, Table};
use opal_core::{message, wait};

/// For one communicator.
pub struct Sm {
    small: SmallData,
    large: LargeData,
    fallback: Fallback,
}

impl Sm {
    /// Peers by rank, `None` for this one.
    pub fn new(rank: usize, peers: Vec<Option<Peer>>) -> Sm {
        let fallback = Fallback::new(&SERVED.map(|served| served.function));
        Sm { small: SmallData::new(rank, peers), large: LargeData::new(), fallback }
    }

    /// Does it; `false` on all ranks if the next component must.
    #[inline(always)]
    fn perform(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let small = &self.small;
        let is_done = match *call {
            Call::Barrier => small.barrier(executor)?,
            Call::Bcast(data, root) => small.bcast(data, root, executor)?,
            Call::Gather(from, to, root) => small.gather(from, to, root, executor)?,
            Call::Scatter(from, to, root) => small.scatter(from, to, root, executor)?,
            Call::Allgather(from, to) => small.allgather(from, to, executor)?,
            Call::Alltoall(from, to) => small.alltoall(from, to, executor)?,
            Call::Reduce(from, to, op, root) => {
                let to = to.filter(|_| small.rank == root);
                // Else an error that the next component knows.
                match operand::datatype_of(call) {
                    Some(datatype) => {
                        op.check(datatype)?;
                        small.reduce((from, to, op), root, executor)?
                    }
                    None => false,
                }
            }
            Call::Allreduce(from, to, op) => {
                op.check(to.datatype)?;
                small.allreduce((from, to, op), executor)?
            }
            _ => self.uncommon(call, executor)?,
        };
        if is_done { Ok(true) } else { self.large(call, executor) }
    }

    /// Functions that programs call less often.
    #[inline(never)]
    fn uncommon(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let small = &self.small;
        match *call {
            Call::Allgatherv(from, to) => small.allgatherv(from, to, executor),
            Call::Alltoallv(from, to) => {
                self.alltoallv(call, (from.map(VBlocks::Uniform), VBlocks::Uniform(to)), executor)
            }
            Call::Alltoallw(from, to) => self.alltoallv(call, (from.map(VBlocks::Typed), VBlocks::Typed(to)), executor),
            Call::ReduceScatter(from, to, counts, op) => {
                op.check(to.datatype)?;
                let elements = reduction::elements(counts, small.rank, small.peers.len());
                small.reduce_scatter(
                    Function::ReduceScatter,
                    (from, to, op),
                    elements,
                    |rank| counts.count(rank),
                    executor,
                )
            }
            Call::ReduceScatterBlock(from, to, op) => {
                op.check(to.datatype)?;
                let elements = (small.rank * to.count, small.peers.len().saturating_mul(to.count));
                small.reduce_scatter(Function::ReduceScatterBlock, (from, to, op), elements, |_| to.count, executor)
            }
            Call::Scan(from, to, op) => small.scan(Function::Scan, (from, to, op), executor),
            Call::Exscan(from, to, op) => small.scan(Function::Exscan, (from, to, op), executor),
            _ => Ok(false),
        }
    }

    /// MPI_Alltoallv and MPI_Alltoallw: ranks exchange the lengths of their blocks first.
    fn alltoallv(&self, call: &Call<'_>, (from, to): Exchanged<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let small = &self.small;
        let (function, size) = (call.function(), small.peers.len());
        if let Some(peer) = small.p2p_peer(function, 0) {
            let from = from.map(|from| (from.block(peer), from.block(small.rank)));
            return p2p::alltoall(peer, executor, from, (to.block(peer), to.block(small.rank))).map(|()| true);
        }
        let algorithm = small.choices.algorithm(function, 0, size);
        if size == 2 || matches!(algorithm, Algorithm::Fallback | Algorithm::Direct) || !v_variants::has_room(size) {
            return Ok(false);
        }
        let Some(segment) = small.segment(function, executor)? else { return Ok(false) };
        let epoch = Epoch::begin(segment, &small.peers, Pattern::AllToAll, layout::slot_bytes(size))?;
        let source = from.unwrap_or(to);
        let lengths = ExchangedLengths::exchange(epoch, executor, source, to)?;
        if lengths.longest == 0 || algorithm == Algorithm::Flags && lengths.is_short() {
            small.report(function, lengths.longest, "flags");
            let copied = lengths.take(executor);
            return match from {
                Some(from) => copied.and(executor.copy(&from.block(small.rank), &to.block(small.rank))).map(|()| true),
                None => copied.map(|()| true),
            };
        }
        let is_forced = small.choices.forces(function);
        let suits = lengths.is_even() && (is_forced || lengths.longest <= small.choices.even_blocks_most());
        if !suits || is_forced && algorithm == Algorithm::Flags {
            return Ok(false);
        }
        let task = Task { segment, peers: &small.peers, call, bytes: lengths.longest, algorithm: Algorithm::Pipeline };
        self.large.exchange(&task, executor, (from, to), &lengths)
    }

    /// Large data.
    #[inline(never)]
    fn large(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<bool> {
        let small = &self.small;
        let size = small.peers.len();
        let bytes = match call {
            Call::Bcast(data, _) => data.bytes(),
            Call::Gather(from, to, _) => contribution_bytes(*from, *to),
            Call::Scatter(from, to, _) => small.others_bytes(from.or(*to).map_or(0, Data::bytes)),
            Call::Allgather(_, to) | Call::Allreduce(_, to, _) => to.bytes(),
            Call::Allgatherv(_, to) => longest(to, size),
            Call::Alltoall(_, to) => small.others_bytes(to.bytes()),
            Call::Reduce(from, to, _, root) => contribution_bytes(*from, to.filter(|_| small.rank == *root)),
            Call::ReduceScatter(_, to, counts, _) => {
                reduction::elements(*counts, 0, size).1.saturating_mul(to.datatype.layout.size())
            }
            Call::ReduceScatterBlock(_, to, _) => to.bytes().saturating_mul(size),
            Call::Scan(_, to, _) | Call::Exscan(_, to, _) => to.bytes(),
            _ => return Ok(false),
        };
        let algorithm = small.choices.algorithm(call.function(), bytes, size);
        if !matches!(algorithm, Algorithm::Direct | Algorithm::Pipeline | Algorithm::Autotuned) {
            return Ok(false);
        }
        let Some(segment) = small.segment(call.function(), executor)? else { return Ok(false) };
        self.large.perform(&Task { segment, peers: &small.peers, call, bytes, algorithm }, executor)
    }
}

type Exchanged<'a> = (Option<VBlocks<'a>>, VBlocks<'a>);

impl Module for Sm {
    fn functions(&self) -> Functions {
        self.fallback.functions()
    }

    fn recordable(&self) -> Functions {
        0
    }

    fn forced(&self) -> Functions {
        self.small.choices.forced()
    }

    fn fingerprint(&self) -> u64 {
        self.large.sizes.fingerprint()
    }

    fn local_facts(&self) -> u32 {
        u32::from(wait::may_spin())
    }

    fn set_common_facts(&self, facts: u32) {
        self.small.choices.set_own_cores(facts != 0);
    }

    fn disagreed(&self) {
        message!(
            "coll_sm_pipeline_piece or coll_sm_pipeline_ring is not the same on all ranks of a communicator, which sends no \
             data through pipelines; set them alike everywhere"
        );
        self.large.do_without_pipelines();
    }

    fn set_fallback(&self, others: &Table) {
        self.fallback.keep(others, Table::entry);
    }

    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        // SAFETY: this method has the same contract.
        if self.perform(call, executor)? { Ok(()) } else { unsafe { self.fallback.call(call, executor) } }
    }
}
