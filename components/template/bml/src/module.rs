//! Paths to processes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::framework::bml::{Module, Path};
use ompi_core::process::Process;
use opal_core::framework::btl;
use opal_core::{Error, Result};

/// The one module.
pub static MODULE: TemplateModule = TemplateModule;

/// The paths.
pub struct TemplateModule;

impl Module for TemplateModule {
    fn addresses(&self) -> Vec<u8> {
        // 4. Name and address of each transport, with `ompi_core::addresses::push`.
        Vec::new()
    }

    fn add_process(&self, _process: &Process) -> Result<Arc<[Path]>> {
        // 5. Ask each transport with what its like published there; the best first. `Err(Unreachable)` after a message.
        Err(Error::Unsupported)
    }

    fn paths(&self, _process: u32) -> Arc<[Path]> {
        Arc::default()
    }

    fn transport_name(&self, _path: &Path) -> Option<&'static str> {
        None
    }

    fn modules(&self) -> &'static [&'static dyn btl::Module] {
        &[]
    }
}
