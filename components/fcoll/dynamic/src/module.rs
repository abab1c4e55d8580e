//! What framework fcoll calls.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::params;
use crate::plan::Parts;
use ompi_core::file::gather::{AccessExtent, AllExtents, gather};
use ompi_core::file::{FileHints, HintChoice, Outcome, transfer};
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::fcoll::{Job, Module};

/// Gathers where equal parts of the file would have unequal work.
pub struct Dynamic;

impl Module for Dynamic {
    fn rates(&self, extents: &[AccessExtent], hints: &FileHints, direction: AccessKind) -> Option<i32> {
        let (all, limits) = (AllExtents::new(extents)?, params::limits(hints, direction));
        let uneven = all.is_sparse() || all.fullest_of(limits.among(extents.len())) > UNEVEN;
        // Pieces that lie far from each other make no longer ones when they are gathered.
        let pays = uneven && all.is_dense_locally();
        match limits.wish {
            HintChoice::Enable => Some(if pays { 30 } else { 15 }),
            _ => (pays && all.interleave(&limits)).then_some(30),
        }
    }

    unsafe fn run(&self, job: &Job<'_>, extents: &[AccessExtent]) -> Outcome {
        let limits = params::limits(&job.target.hints, job.direction);
        let Some(all) = AllExtents::new(extents) else {
            // SAFETY: the caller's promise.
            return unsafe { transfer(&job.target, job.data, job.direction) };
        };
        // SAFETY: the caller's promise.
        unsafe { gather(job, limits.memory, |bytes| Parts::new(job, &all, &limits, bytes)) }
    }
}

/// Half more in the fullest of equal parts than in all on average, in sixteenths.
const UNEVEN: u64 = 24;
