//! Collective access to files: all processes that opened a file read or write at the same time.
#![allow(unsafe_code)] // linkme's expansion, and the trait's contract

use super::fbtl::AccessKind;
use crate::comm::Communicator;
use crate::data::Data;
use crate::file::{CallWords, FileHints, FilePlace, Outcome};
use alloc::vec::Vec;
use opal_core::mca;
use opal_core::sync::Once;

/// One process's part in a collective access.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// All processes of the file.
    pub comm: &'a Communicator,
    /// Where this one's data lies in the file.
    pub target: FilePlace<'a>,
    /// And in memory.
    pub data: &'a Data<'a>,
    /// Which way.
    pub direction: AccessKind,
}

/// A way to do it.
pub trait Module: Sync {
    /// What this process tells all others about its part, before any of them does something.
    fn announce(&self, _target: &FilePlace<'_>, _bytes: u64, _direction: AccessKind) -> CallWords {
        [0; 4]
    }

    /// Does it; called by all processes of the file, with what each has announced, by rank. Whatever fails on one of them, none
    /// waits for ever.
    ///
    /// # Safety
    /// The data is readable (to write it) or writable (to read into it).
    unsafe fn run(&self, job: &Job<'_>, announced: &[CallWords]) -> Outcome;
}

/// A way to do it that may be used.
pub trait Component: mca::Component {
    /// Priority and module for a file of so many processes with these hints, or why not. All processes give the same answer to
    /// the same question.
    fn query(
        &self,
        processes: usize,
        hints: &FileHints,
    ) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

opal_core::framework! {
    /// Collective access to files.
    "fcoll", Ompi, version 1, ManyOfMany, OMPI_FCOLLS: dyn Component
}

/// The best module for a file; `None` if there is none.
pub fn choose(processes: usize, hints: &FileHints) -> opal_core::Result<Option<&'static dyn Module>> {
    static OPENED: Once<opal_core::Result<Vec<&'static dyn Component>>> = Once::new();
    let opened = OPENED.call_once(|| mca::select::open(&FRAMEWORK, &OMPI_FCOLLS));
    let offers = opened.as_ref().map_err(|error| *error)?.iter().filter_map(|one| one.query(processes, hints).ok());
    Ok(offers.max_by_key(|(priority, _)| *priority).map(|(_, module)| module))
}
