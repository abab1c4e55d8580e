//! The C functions of the MPI-5.0 standard ABI: one file per chapter, one row per function.
//!
//! `rows!` (`row.rs`) turns a row into the symbol `PMPI_X` and its weak alias `MPI_X`; [`kinds`] checks every
//! argument once; [`mod@raise`] is the one place where a fault becomes an error code and the error handler is called.
//!
//! **Invariant:** the row macro hides no signature: what a C programmer passes can be read in the row.
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // the contract of a C function is the standard's text, named in its row

#[macro_use]
mod row;

pub mod kinds;
pub(crate) mod raise;

pub mod abi_query;
pub mod attr;
pub mod coll;
pub mod coll_nonblocking;
pub mod coll_persistent;
pub mod coll_reduce;
mod coll_variant;
pub mod comm;
pub mod datatype;
pub mod datatype_access;
pub mod dispatch;
pub mod dynamic;
pub mod env;
pub mod errhandler;
pub mod error_code;
pub mod fast_path;
mod fortran;
pub mod grequest;
pub mod group;
pub mod handle_int;
pub mod info;
pub mod io;
mod io_access;
pub mod io_offset;
pub mod io_pointer;
pub mod io_shared;
pub mod io_split;
pub mod neighbor;
pub mod op;
pub mod pack;
pub mod partitioned;
pub mod profiling;
pub mod pt2pt;
pub mod pt2pt_buffer;
pub mod pt2pt_persistent;
pub mod pt2pt_probe;
pub mod request;
pub mod rma;
pub mod rma_sync;
pub mod session;
pub mod status;
mod tell;
pub mod tool;
pub mod tool_category;
pub mod tool_event;
pub mod tool_pvar;
mod tool_text;
pub mod topo;

pub use raise::{Scope, call_handler, raise, raise_tool};
