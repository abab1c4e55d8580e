//! File byte transfer layer: moves runs of bytes between memory and a file.
#![allow(unsafe_code)] // linkme's expansion, and the trait's contract

use alloc::boxed::Box;
use alloc::sync::Arc;
use opal_core::mca;
use opal_core::sync::Once;
use opal_core::sys::{Errno, File};

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// From the file to memory.
    Read,
    /// From memory to the file.
    Write,
}

/// Bytes that lie together in memory and in the file.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Where in the file.
    pub offset: u64,
    /// Where in memory.
    pub at: *mut u8,
    /// How many.
    pub bytes: usize,
}

/// What became of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Bytes from the first piece's first on, in the order of the pieces.
    pub bytes: usize,
    /// What the system said of the next one. Without it, fewer bytes than there are mean the end of the file.
    pub failed: Option<Errno>,
}

/// A way to move bytes.
pub trait Module: Sync {
    /// Moves the bytes of all pieces, in their order. A call of the system that moves fewer is followed by others, until all
    /// are moved, the file ends (reading) or a call fails. No byte is written twice.
    ///
    /// # Safety
    /// The memory of each piece is writable (to read into it) or readable (to write it).
    unsafe fn transfer(&self, file: &File, pieces: &[Piece], direction: AccessKind) -> Moved;

    /// Begins to do that. `None`: it can only be done at once, or had better be.
    ///
    /// # Safety
    /// The memory of each piece is writable (to read into it) or readable (to write it) until the transfer has ended.
    unsafe fn start(
        &self,
        _file: &Arc<File>,
        _pieces: &[Piece],
        _direction: AccessKind,
    ) -> Option<Box<dyn OngoingTransfer>> {
        None
    }
}

/// A transfer under way. Whoever has it polls it until it has ended, and drops it then.
pub trait OngoingTransfer: Send {
    /// Moves it on; what became of it if it has ended.
    fn poll(&mut self) -> Option<Moved>;
}

/// A way to move bytes that may be used.
pub trait Component: mca::Component {
    /// Priority and module.
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

opal_core::framework! {
    /// File byte transfer layer: moves runs of bytes between memory and a file.
    "fbtl", Ompi, version 1, OneOfMany, OMPI_FBTLS: dyn Component
}

/// The module that was chosen, the first time anybody asks; `None` if there is none or it was left out.
pub fn selected() -> opal_core::Result<Option<&'static dyn Module>> {
    static SELECTED: Once<opal_core::Result<Option<&'static dyn Module>>> = Once::new();
    *SELECTED.call_once(|| {
        let best = mca::select_best(&FRAMEWORK, &OMPI_FBTLS, |component| component.query())?;
        Ok(best.map(|(_, module)| module))
    })
}
