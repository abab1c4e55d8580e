//! What framework fcoll calls.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::params;
use crate::plan::Domains;
use ompi_core::file::gather::{AccessExtent, AllExtents, gather};
use ompi_core::file::{FileHints, HintChoice, Outcome, transfer};
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::fcoll::{Job, Module};

/// Gathers where it pays.
pub struct TwoPhase;

impl Module for TwoPhase {
    fn rates(&self, extents: &[AccessExtent], hints: &FileHints, direction: AccessKind) -> Option<i32> {
        let (all, limits) = (AllExtents::new(extents)?, params::limits(hints, direction));
        let pays = all.interleave(&limits) && !all.is_sparse();
        (limits.wish == HintChoice::Enable || pays).then_some(20)
    }

    unsafe fn run(&self, job: &Job<'_>, extents: &[AccessExtent]) -> Outcome {
        let limits = params::limits(&job.target.hints, job.direction);
        let Some(all) = AllExtents::new(extents) else {
            // SAFETY: the caller's promise.
            return unsafe { transfer(&job.target, job.data, job.direction) };
        };
        // SAFETY: the caller's promise.
        unsafe { gather(job, limits.memory, |bytes| Ok(Domains::new(&all, &limits, bytes))) }
    }
}
