//! The module of one window.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::osc::{Access, Lock, Module, Target};
use ompi_core::request::Request;

/// Serves one window.
pub struct TemplateModule {
    /// Where this process's memory begins.
    pub base: usize,
}

// 5. What is not there says so, as here.
fn missing<T>() -> Result<T> {
    Err(Fault::new(Class::UnsupportedOperation))
}

impl Module for TemplateModule {
    fn base(&self) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(self.base)
    }

    unsafe fn access(&self, _access: &Access<'_>, _target: &Target<'_>, _wanted: bool) -> Result<Option<Request>> {
        missing()
    }

    fn fence(&self, _completes: bool) -> Result<()> {
        missing()
    }

    fn start(&self, _targets: &[u32]) -> Result<()> {
        missing()
    }

    fn complete(&self, _targets: &[u32]) -> Result<()> {
        missing()
    }

    fn post(&self, _origins: &[u32]) -> Result<()> {
        missing()
    }

    fn is_exposure_over(&self, _origins: &[u32]) -> Result<bool> {
        missing()
    }

    fn lock(&self, _rank: usize, _lock: Lock) -> Result<()> {
        missing()
    }

    fn unlock(&self, _rank: usize) -> Result<()> {
        missing()
    }

    fn flush(&self, _rank: Option<usize>) -> Result<()> {
        missing()
    }

    fn flush_local(&self, _rank: Option<usize>) -> Result<()> {
        missing()
    }

    fn attach(&self, _base: *mut u8, _bytes: usize) -> Result<()> {
        missing()
    }

    fn detach(&self, _base: *mut u8) -> Result<()> {
        missing()
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }
}
