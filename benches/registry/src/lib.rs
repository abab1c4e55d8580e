//! The same knowledge about the same job in three encodings.
//!
//! [`baseline`] is the string-keyed message that the numeric registry replaces, [`compact`] what a careful engineer makes of
//! strings, [`numeric`] is `orte_core::gpr`. All three say what a process needs after the launch: who is where, and how
//! to reach it.

pub mod baseline;
pub mod compact;
pub mod job;
pub mod numeric;
mod strings;
