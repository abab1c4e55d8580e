//! The number.

use ompi_core::error::{Class, Result};
use ompi_core::framework::sharedfp::Module;

/// The shared file pointer of one file.
pub struct TemplateModule;

impl Module for TemplateModule {
    fn advance(&self, _by: u64) -> Result<u64> {
        // 4. Two processes never get the same part of the file.
        Err(Class::UnsupportedOperation.into())
    }

    fn set(&self, _to: u64) -> Result<()> {
        Err(Class::UnsupportedOperation.into())
    }

    fn get(&self) -> Result<u64> {
        Err(Class::UnsupportedOperation.into())
    }
}
