//! Layer 3: MPI.
//!
//! `abi` exports the C functions, one row each; the modules beside it are MPI's objects; `framework` holds the
//! interfaces of what components provide.
//!
//! **Invariant:** `no_std` + `alloc`; no lock is held and no `&mut` to library state lives while user code runs.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[macro_use]
pub mod abi;
pub mod accumulate;
pub mod addresses;
pub mod attr;
pub mod buffer;
pub mod comm;
mod counts;
pub mod data;
pub mod datatype;
#[cfg_attr(ompi_bare, path = "dynamic/bare.rs")]
pub mod dynamic;
pub mod errhandler;
pub mod error;
pub mod executor;
pub mod file;
pub mod framework;
pub mod group;
pub mod handle;
pub mod hardware;
pub mod info;
pub mod init;
pub mod inspect;
pub mod oob;
pub mod op;
pub mod parameters;
pub mod process;
pub mod report;
pub mod request;
pub mod schedule;
pub mod sequence;
pub mod session;
pub mod shared_pool;
pub mod single_copy;
pub mod status;
pub mod tool;
pub mod topo;
pub mod user_memory;
pub mod win;
