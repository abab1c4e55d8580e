//! What framework fcoll calls.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::params;
use crate::plan::{Domains, Extent};
use crate::raw::UserData;
use crate::rounds::Rounds;
use alloc::vec::Vec;
use ompi_core::file::{CallWords, FilePlace, HintChoice, Outcome, transfer};
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::fcoll::{FRAMEWORK, Job, Module};
use opal_core::verbose;

/// Gathers where it pays.
pub struct TwoPhase;

impl Module for TwoPhase {
    fn announce(&self, target: &FilePlace<'_>, bytes: u64, direction: AccessKind) -> CallWords {
        match params::wish(&target.hints, direction) {
            HintChoice::Disable => Extent::NONE.words(),
            _ => Extent::new(target, bytes).words(),
        }
    }

    unsafe fn run(&self, job: &Job<'_>, announced: &[CallWords]) -> Outcome {
        let all: Vec<Extent> = announced.iter().copied().map(Extent::of_words).collect();
        let Some(domains) = Domains::new(&all, params::limits(&job.target.hints, job.direction)) else {
            // SAFETY: the caller's promise.
            return unsafe { transfer(&job.target, job.data, job.direction) };
        };
        verbose!(
            FRAMEWORK,
            20,
            "two_phase: {} rounds with windows of {} bytes",
            domains.rounds(),
            domains.window_bytes()
        );
        // SAFETY: the caller's promise.
        let data = unsafe { UserData::new(job.data) };
        Rounds::run(job, domains, data)
    }
}
