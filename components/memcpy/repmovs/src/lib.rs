//! memcpy/repmovs: copies by `rep movsb`, but where that stumbles (`opal_core::mem::is_aliased_4k`).
//!
//! Owns nothing. Invariant: needs nothing beyond the base instruction set; fast where the core has FSRM or ERMS.
#![no_std]

mod component;
mod raw;

pub use component::{COMPONENT, INFO};
