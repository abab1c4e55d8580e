//! What framework fcoll calls.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::params;
use crate::plan::{Domains, Extent};
use crate::raw::UserData;
use crate::rounds::Rounds;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::file::{Outcome, exchange, transfer};
use ompi_core::framework::fcoll::{FRAMEWORK, Job, Module};
use opal_core::verbose;

/// Gathers where it pays.
pub struct TwoPhase;

impl Module for TwoPhase {
    unsafe fn run(&self, job: &Job<'_>) -> Outcome {
        let own = Extent::new(&job.target, job.data.bytes() as u64);
        let all = match exchange(job.comm, own.words()) {
            Ok(all) => all.into_iter().map(Extent::of_words).collect::<Vec<_>>(),
            Err(fault) => return fault.into(),
        };
        let Some(domains) = Domains::new(&all, params::limits()) else {
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
        Rounds::new(job, domains, data).run()
    }

    fn withdraw(&self, comm: &Communicator) -> Result<()> {
        exchange(comm, Extent::NONE.words()).map(drop)
    }
}
