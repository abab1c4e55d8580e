//! What framework fbtl calls.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::params::MIN_SIZE;
use crate::raw;
use alloc::boxed::Box;
use alloc::sync::Arc;
use ompi_core::file::transfer_at_once;
use ompi_core::framework::fbtl::{AccessKind, Module, Moved, OngoingTransfer, Piece};
use opal_core::sys::File;
use opal_core::wait;

/// io_uring for what need not be done at once.
pub struct Uring;

impl Module for Uring {
    unsafe fn transfer(&self, file: &File, pieces: &[Piece], direction: AccessKind) -> Moved {
        // SAFETY: the caller's promise.
        unsafe { transfer_at_once(file, pieces, direction) }
    }

    unsafe fn start(
        &self,
        file: &Arc<File>,
        pieces: &[Piece],
        direction: AccessKind,
    ) -> Option<Box<dyn OngoingTransfer>> {
        let (bytes, least) = (pieces.iter().map(|piece| piece.bytes).sum::<usize>(), MIN_SIZE.size().max(1));
        if bytes < least {
            return None;
        }
        let beside = wait::has_spare_core();
        let shared = match direction {
            AccessKind::Read => SHARED_CORE,
            AccessKind::Write => SHARED_CORE_WRITE,
        };
        if !beside && bytes < least.saturating_mul(shared) {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { raw::start(file, pieces, direction, beside) }
    }
}

/// To hand a transfer over takes 2 to 4 µs, in which 100 KiB are copied. So much longer it has to be where the threads of the system take
/// the program's core to copy it, and nothing is gained but where they wait for a device.
const SHARED_CORE: usize = 4;
/// What is written goes to the system's memory for files, by a thread of the system where that file system does not take it at once: the
/// rank waits for that thread to get a core, which takes longer than copying less.
const SHARED_CORE_WRITE: usize = 16;
