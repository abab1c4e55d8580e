//! memory/template: watches the program's memory come and go. Say here by which means, and what escapes it.
//!
//! Owns nothing. Invariant: what goes away is told before it goes, or `watches` says no. components/memory/hook is one that is
//! finished.
#![no_std]

mod component;

pub use component::{COMPONENT, INFO};
