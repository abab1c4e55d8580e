//! The C functions of the MPI-5.0 standard ABI: one file per chapter, one row per function.
//!
//! [`rows!`](crate::rows) turns a row into the symbol `PMPI_X` and its weak alias `MPI_X`; [`kinds`] checks every
//! argument once; [`raise`] is the one place where a fault becomes an error code and the error handler is called.
//!
//! **Invariant:** the row macro hides no signature: what a C programmer passes can be read in the row.
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // the contract of a C function is the standard's text, named in its row

#[macro_use]
mod row;

pub mod kinds;
mod raise;

pub mod env;

pub use raise::{Scope, raise};
