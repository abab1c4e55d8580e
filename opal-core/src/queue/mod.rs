//! Queues between processes and threads: the algorithm apart from its storage.
#![allow(unsafe_code)]

pub mod conduit;
pub mod lines;
pub mod small;
