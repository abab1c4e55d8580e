//! The objects of the tool interface MPI_T: MPI 5.0 §15.3. Its rows are in `abi/tool*.rs`; its life is a part of
//! [`crate::init`].
//!
//! [`cvar`] makes a control variable of every MCA parameter, [`category`] a tree of layers, frameworks and components.
//! [`pvar`] lists what is counted, [`session`] is how a tool measures it. [`event`] tells of collective operations.
//!
//! **Invariant:** nothing here needs MPI to be active, and an index that a tool has learned stays good: performance variables are added
//! ([`collectives`]), and nothing else changes.

pub mod category;
pub mod collectives;
pub mod cvar;
pub mod enumeration;
pub mod event;
pub mod pvar;
pub mod session;
pub mod value;

use crate::error::{Class, Fault, Result};
use alloc::format;

/// What a level of a parameter is in MPI: MPI_T_VERBOSITY_USER_BASIC to MPI_T_VERBOSITY_MPIDEV_ALL.
pub fn verbosity(level: u8) -> i32 {
    const VERBOSITY: [i32; 9] = [9, 10, 12, 17, 18, 20, 33, 34, 36];
    VERBOSITY[usize::from(level).clamp(1, VERBOSITY.len()) - 1]
}

/// The element with an index that may be anything.
pub fn element<'a, T>(all: &'a [T], index: i32, what: &str) -> Result<&'a T> {
    usize::try_from(index).ok().and_then(|index| all.get(index)).ok_or_else(|| {
        let why = format!("{index} is none of {} {what}, counted from 0", all.len());
        Fault::new(Class::ToolInvalidIndex).because(why)
    })
}

/// MPI_T_BIND_NO_OBJECT.
pub const NO_OBJECT: i32 = 1;
/// MPI_T_BIND_MPI_COMM.
pub const BOUND_TO_COMM: i32 = 2;

#[cfg(test)]
mod tests;
