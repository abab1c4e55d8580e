//! Each process for itself.
#![allow(unsafe_code)]

use ompi_core::file::{CallWords, Outcome, transfer};
use ompi_core::framework::fcoll::{Job, Module};

/// Each process for itself.
pub struct Individual;

impl Module for Individual {
    unsafe fn run(&self, job: &Job<'_>, _announced: &[CallWords]) -> Outcome {
        // SAFETY: the caller's promise.
        unsafe { transfer(&job.target, job.data, job.direction) }
    }
}
