//! Collective access to files: all processes that opened a file read or write at the same time.
#![allow(unsafe_code)] // linkme's expansion, and the trait's contract

use super::fbtl::AccessKind;
use crate::comm::Communicator;
use crate::data::Data;
use crate::file::gather::AccessExtent;
use crate::file::{CallWords, FileHints, FilePlace, Outcome, transfer};
use alloc::vec::Vec;
use opal_core::mca;
use opal_core::sync::Once;
use opal_core::verbose;

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
    /// How well it does an access, by what all processes have announced; the best one does it. `None`: each process had better do its
    /// own part. All processes give the same answer to the same question.
    fn rates(&self, extents: &[AccessExtent], hints: &FileHints, direction: AccessKind) -> Option<i32>;

    /// Does it; called by all processes of the file, with what each has announced, by rank. Whatever fails on one of them, none
    /// waits for ever.
    ///
    /// # Safety
    /// The data is readable (to write it) or writable (to read into it).
    unsafe fn run(&self, job: &Job<'_>, extents: &[AccessExtent]) -> Outcome;
}

/// A way to do it that may be used.
pub trait Component: mca::Component {
    /// The module for files of so many processes, or why not. All processes give the same answer to the same question.
    fn query(&self, processes: usize) -> core::result::Result<&'static dyn Module, mca::Declined>;
}

opal_core::framework! {
    /// Collective access to files.
    "fcoll", Ompi, version 1, ManyOfMany, OMPI_FCOLLS: dyn Component
}

/// A component that does collective accesses to a file.
#[derive(Clone, Copy)]
pub struct Offer {
    name: &'static str,
    module: &'static dyn Module,
}

/// All that do it for files of so many processes.
pub fn offers(processes: usize) -> opal_core::Result<Vec<Offer>> {
    static OPENED: Once<opal_core::Result<Vec<&'static dyn Component>>> = Once::new();
    let opened = OPENED.call_once(|| mca::select::open(&FRAMEWORK, &OMPI_FCOLLS));
    let opened = opened.as_ref().map_err(|error| *error)?.iter();
    let offer = |one: &&'static dyn Component| {
        let module = one.query(processes).ok()?;
        Some(Offer { name: one.info().name, module })
    };
    Ok(opened.filter_map(offer).collect())
}

/// Hints without the name of a component that is not there.
pub fn known(offers: &[Offer], hints: FileHints) -> FileHints {
    let fcoll = hints.fcoll.filter(|name| {
        let known = offers.iter().any(|offer| offer.name == name.as_str());
        if !known {
            verbose!(FRAMEWORK, 10, "{}, as a hint names it, is not in this library or not wanted", name.as_str());
        }
        known
    });
    FileHints { fcoll, ..hints }
}

/// Does an access by the component that a hint names or that rates it best; without one each process does its own part.
///
/// # Safety
/// That of [`Module::run`].
pub unsafe fn run(offers: &[Offer], job: &Job<'_>, announced: &[CallWords]) -> Outcome {
    let extents: Vec<AccessExtent> = announced.iter().copied().map(AccessExtent::of_words).collect();
    let hints = &job.target.hints;
    let named = hints.fcoll.and_then(|name| offers.iter().find(|offer| offer.name == name.as_str()));
    let rated = || {
        let rate = |offer: &&Offer| offer.module.rates(&extents, hints, job.direction);
        offers.iter().filter_map(|offer| Some((rate(&offer)?, offer))).max_by_key(|(rate, _)| *rate)
    };
    let Some(chosen) = named.or_else(|| rated().map(|(_, offer)| offer)) else {
        verbose!(FRAMEWORK, 20, "no component wants this access: each process does its own part");
        // SAFETY: the caller's promise.
        return unsafe { transfer(&job.target, job.data, job.direction) };
    };
    verbose!(FRAMEWORK, 20, "{} does it{}", chosen.name, if named.is_some() { ", as a hint says" } else { "" });
    // SAFETY: the caller's promise.
    unsafe { chosen.module.run(job, &extents) }
}
