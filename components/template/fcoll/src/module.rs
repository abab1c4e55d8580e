//! All processes read or write at the same time.
#![allow(unsafe_code)]

use ompi_core::file::{CallWords, Outcome, transfer};
use ompi_core::framework::fcoll::{Job, Module};

/// The method.
pub struct TemplateModule;

impl Module for TemplateModule {
    unsafe fn run(&self, job: &Job<'_>, _announced: &[CallWords]) -> Outcome {
        // 3. Each process for itself, which is always right. Whatever fails on one process, none of the others may wait for ever.
        // SAFETY: the caller's promise.
        unsafe { transfer(&job.target, job.data, job.direction) }
    }
}
