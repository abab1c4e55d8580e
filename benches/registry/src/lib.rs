//! The same knowledge about the same job in three encodings.
//!
//! to reach it.

pub mod baseline;
pub mod compact;
pub mod job;
mod strings;
