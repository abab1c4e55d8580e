//! coll/sm: blocking collectives of short data through lines that all ranks of a communicator share.
//!
//! For communicators whose processes are on one node and reach each other through a transport with commons
//! (`btl::Module::commons`). The lines of a communicator lie in the commons of its rank 0, which gives them away at the
//! third call that would use them; where it has no more room, and for longer data, the next component serves the call.
//! Invariant: nothing read from shared memory is an offset, a length or a decision; whether a call goes this way follows
//! from values that are equal on all ranks and from the one word that rank 0 has told.
#![no_std]

extern crate alloc;

mod algorithms;
mod choice;
mod commons;
mod component;
mod crossing;
mod direct;
mod lines;
mod params;
mod raw;
mod turn;
mod wire;

pub use component::{COMPONENT, INFO};
