//! The report of a signal that ends a rank.

#[cfg(not(ompi_bare))]
use crate::parameters::REPORT_CRASHES;
#[cfg(not(ompi_bare))]
use alloc::{boxed::Box, format};
#[cfg(not(ompi_bare))]
use opal_core::{sync::Once, sys};

/// Has a signal that ends this process reported, unless the program handles it itself.
#[cfg(not(ompi_bare))]
pub fn enable(rank: u32) {
    static PREFIX: Once<&'static str> = Once::new();
    if REPORT_CRASHES.flag() {
        let prefix = format!("{}:{} rank {rank}", sys::hostname(), sys::pid());
        sys::report_crashes(PREFIX.call_once(|| Box::leak(prefix.into_boxed_str())));
    }
}

/// A machine reports its exceptions itself.
#[cfg(ompi_bare)]
pub fn enable(_rank: u32) {}
