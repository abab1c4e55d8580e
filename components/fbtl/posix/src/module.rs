//! Pieces that follow each other in the file go in one call of the system.
#![allow(unsafe_code)]

use ompi_core::file::transfer_at_once;
use ompi_core::framework::fbtl::{AccessKind, Module, Moved, Piece};
use opal_core::sys::File;

/// preadv and pwritev.
pub struct Posix;

impl Module for Posix {
    unsafe fn transfer(&self, file: &File, pieces: &[Piece], direction: AccessKind) -> Moved {
        // SAFETY: the caller's promise.
        unsafe { transfer_at_once(file, pieces, direction) }
    }
}
