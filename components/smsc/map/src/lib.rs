//! smsc/map: a peer's shareable memory ([`opal_core::shareable`]), mapped here. Once its pages are there, a copy is one of this processor's and
//! no call of the system.
//!
//! Owns a mapping of each peer's memory, made as far as messages come from there, and gives it up when the last session ends.
//! The file that is mapped is told apart by its number and sealed against shrinking. Invariant: an address that a peer names is looked at
//! within that peer's file only; in this process only the caller's range is read or written.
#![no_std]

extern crate alloc;

mod address;
mod component;
mod module;
mod params;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
