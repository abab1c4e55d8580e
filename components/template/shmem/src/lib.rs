//! shmem/template: memory shared by the processes of a node. Say here where it comes from.
//!
//! Owns the mappings that it hands out. Say what becomes of them when a process is killed. components/shmem/memfd is one that
//! is finished.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
