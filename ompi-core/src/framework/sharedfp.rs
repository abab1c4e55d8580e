//! Shared file pointers: a number that all processes of a file move on. MPI 5.0 §14.4.4.
#![allow(unsafe_code)] // linkme's expansion

use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::file;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::CStr;
use opal_core::mca;
use opal_core::sort;
use opal_core::sync::Once;

/// The shared file pointer of one file; 0 at first.
pub trait Module: Send + Sync {
    /// Moves it on; returns where it was. What other processes do at the same time comes wholly before or after.
    fn advance(&self, by: u64) -> Result<u64>;

    /// Puts it somewhere.
    fn set(&self, to: u64) -> Result<()>;

    /// Puts it where a view begins, or the end of a file that is appended to. Perhaps nobody ever uses it: where there is nothing to hold
    /// it, who uses it is told.
    fn begin(&self, at: u64) -> Result<()> {
        self.set(at)
    }

    /// Where it is.
    fn get(&self) -> Result<u64>;

    /// The file is being closed: called once by each process when none of them uses it any more.
    fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// A way to share a number.
pub trait Component: mca::Component {
    /// Priority for these processes, or why it cannot serve this one among them. It is used where all of them accept; their
    /// priorities are equal.
    fn query(&self, comm: &Communicator) -> core::result::Result<i32, mca::Declined>;

    /// The pointer of a file; called by all. `None` on all: no room for it here.
    fn make(&self, comm: &Communicator, path: &CStr) -> Result<Option<Box<dyn Module>>>;
}

opal_core::framework! {
    /// Shared file pointers.
    "sharedfp", Ompi, version 1, ManyOfMany, OMPI_SHAREDFPS: dyn Component
}

/// The pointer of a file that is being opened; called by all. `None` if no component serves all of these processes.
pub fn make(comm: &Communicator, path: &CStr) -> Result<Option<Box<dyn Module>>> {
    static OPENED: Once<opal_core::Result<Vec<&'static dyn Component>>> = Once::new();
    let opened = OPENED.call_once(|| mca::select::open(&FRAMEWORK, &OMPI_SHAREDFPS));
    let opened = opened.as_ref().map_err(|error| Fault::from(*error))?;
    let offers: Vec<Option<i32>> = opened.iter().map(|one| one.query(comm).ok()).collect();
    // They are sorted by name: each is the same bit on all processes.
    let mine = offers.iter().enumerate().fold(0, |bits, (bit, offer)| bits | u64::from(offer.is_some()) << bit);
    let all = file::exchange(comm, [mine])?.iter().fold(u64::MAX, |all, [bits]| all & bits);
    let mut common: Vec<(i32, usize)> =
        (0..offers.len()).filter(|bit| all >> bit & 1 != 0).filter_map(|bit| Some((offers[bit]?, bit))).collect();
    sort::by_key(&mut common, |(priority, bit)| (core::cmp::Reverse(*priority), *bit));
    for (_, bit) in common {
        if let Some(made) = opened[bit].make(comm, path)? {
            return Ok(Some(made));
        }
    }
    Ok(None)
}

/// The fault where there is none.
#[cold]
pub fn missing() -> Fault {
    let why = "no component of framework sharedfp serves all processes of the file";
    Fault::new(Class::UnsupportedOperation).because(why)
}
