//! What a job tells people of itself: the paths between its ranks, and what each waits for.
//!
//! Nothing here is called unless a parameter asks for it. Rank 0 gathers what all ranks say, and prints it.
//!
//! **Invariant:** no fast path knows of this module.

pub mod gather;
pub mod params;
pub mod paths;
mod table;
pub mod waits;

pub use params::FRAMEWORK;
