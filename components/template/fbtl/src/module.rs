//! Moving bytes.
#![allow(unsafe_code)]

use ompi_core::framework::fbtl::{AccessKind, Module, Moved, Piece};
use opal_core::sys::{Errno, File};

/// The way to move bytes.
pub struct TemplateModule;

impl Module for TemplateModule {
    unsafe fn transfer(&self, _file: &File, _pieces: &[Piece], _direction: AccessKind) -> Moved {
        // 3. All pieces in their order. Where a call moves less than it was asked for, go on behind that; at the end of the file
        // return what was read, and `failed` only where the system refuses.
        Moved { bytes: 0, failed: Some(Errno::NOSYS) }
    }
}
