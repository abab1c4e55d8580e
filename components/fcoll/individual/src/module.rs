//! Each process for itself.
#![allow(unsafe_code)]

use ompi_core::file::gather::AccessExtent;
use ompi_core::file::{FileHints, Outcome, transfer};
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::fcoll::{Job, Module};

/// Each process for itself.
pub struct Individual;

impl Module for Individual {
    fn rates(&self, _extents: &[AccessExtent], _hints: &FileHints, _direction: AccessKind) -> Option<i32> {
        Some(10)
    }

    unsafe fn run(&self, job: &Job<'_>, _extents: &[AccessExtent]) -> Outcome {
        // SAFETY: the caller's promise.
        unsafe { transfer(&job.target, job.data, job.direction) }
    }
}
