//! MPI's Fortran procedures over its C functions: MPI 5.0, chapter 19. `cargo xtask build` makes libmpi_abi_fortran of it.
//!
//! A shim gets addresses, calls the C function of the same name, and stores what comes back. `generated` has those that follow
//! from the standard's data; the other files have those that need a hand: texts of unknown length, attributes, callbacks.
//!
//! An INTEGER is an int, a LOGICAL is an int with the values 0 and 1, a handle is an INTEGER with the number of the standard ABI,
//! and a status is an array of integers. So only handles, texts and the constants that stand for an address are converted.
//!
//! **Invariant:** calls nothing of this library but what the standard ABI exports.
#![no_std]
#![allow(unsafe_code)]
#![allow(non_snake_case, reason = "C functions have the standard's names")]

#[cfg(not(all(target_endian = "little", target_pointer_width = "64")))]
compile_error!("callbacks read the first half of a handle as an INTEGER");

#[macro_use]
mod names;
mod arguments;
mod attributes;
mod callbacks;
mod caller;
mod copied;
mod detach;
mod dimension;
mod equal;
#[rustfmt::skip]
mod generated;
mod kept;
mod layout;
mod memory;
mod peers;
mod pending;
mod reach;
mod refusal;
mod removed;
mod requests;
mod routine;
#[cfg(feature = "runtime")]
mod runtime;
mod section;
mod spawn;
mod startup;
mod status;
mod texts;
