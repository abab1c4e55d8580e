//! All processes read or write at the same time.
#![allow(unsafe_code)]

use ompi_core::file::gather::AccessExtent;
use ompi_core::file::{FileHints, Outcome, transfer};
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::fcoll::{Job, Module};

/// The method.
pub struct TemplateModule;

impl Module for TemplateModule {
    fn rates(&self, _extents: &[AccessExtent], _hints: &FileHints, _direction: AccessKind) -> Option<i32> {
        // 3. The best one does the access: fcoll/individual says 10, fcoll/two_phase 20 and fcoll/dynamic 30 where they pay. All
        // processes must answer alike, and have the same extents and hints.
        Some(RATE)
    }

    unsafe fn run(&self, job: &Job<'_>, _extents: &[AccessExtent]) -> Outcome {
        // 4. Each process for itself, which is always right. Whatever fails on one process, none of the others may wait for ever.
        // SAFETY: the caller's promise.
        unsafe { transfer(&job.target, job.data, job.direction) }
    }
}

const RATE: i32 = 5;
