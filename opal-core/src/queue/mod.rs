//! Queues between processes and threads: the algorithm apart from its storage.
#![allow(unsafe_code)]

pub mod fifo;
pub mod fifo_pair;
pub mod sleep_flag;
pub mod small;
