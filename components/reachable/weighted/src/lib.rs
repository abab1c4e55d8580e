//! reachable/weighted: ways by what addresses say: family, netmask, and whether they are those of a private network.
//!
//! Owns nothing, asks nobody. Invariant: the same answer for the same addresses.
#![no_std]

#[cfg(test)]
extern crate std;

mod component;
mod module;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
