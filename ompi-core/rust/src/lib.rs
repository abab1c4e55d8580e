//! MPI for Rust programs.
#![no_std]
