//! What framework fbtl calls.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::raw;
use alloc::boxed::Box;
use alloc::sync::Arc;
use ompi_core::file::transfer_by;
use ompi_core::framework::fbtl::{AccessKind, Module, Moved, OngoingTransfer, Piece};
use opal_core::sys::File;

/// fbtl/posix on a system with faults.
pub struct Faulty;

impl Module for Faulty {
    unsafe fn transfer(&self, file: &File, pieces: &[Piece], direction: AccessKind) -> Moved {
        // SAFETY: parts of the pieces, by the caller's promise; no more than MOST_RUNS.
        transfer_by(pieces, direction, |runs, offset| unsafe { raw::call(file, runs, offset, direction) })
    }

    unsafe fn start(
        &self,
        file: &Arc<File>,
        pieces: &[Piece],
        direction: AccessKind,
    ) -> Option<Box<dyn OngoingTransfer>> {
        if pieces.iter().all(|piece| piece.bytes == 0) {
            return None;
        }
        // SAFETY: the caller's promise.
        Some(unsafe { raw::start(file, pieces, direction) })
    }
}
