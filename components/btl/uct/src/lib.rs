//! btl/uct: messages over a transport of UCX's transport layer, UCT (Unified Communication Transport).
//!
//! A message is one active message of UCT's, with a header before the payload (`wire.rs`). UCT keeps their order and says where there is
//! no room, so nothing is numbered or credited here. What arrives is copied inside UCT's progress and handed out after it, when
//! the lock is free: a handler may send.
//!
//! Memory of peers is read and written by a second transport of the same node (`cma`) where the user names one.
//!
//! UCX is opened when a job has ranks that it may be for and not before, so a program runs without it elsewhere. UCT's structures are
//! those of versions 1.13 to 1.22; `header.c` compares them with the installed header when a library is built, and `raw/library.rs`
//! asks what it opened for its version.
//!
//! Owns an interface of UCT's with its worker. **Invariant:** bytes of the fabric are checked before they are believed. A message carries a
//! token that only processes of the job can make, one for each pair of ranks; one without it is dropped. What travels is not protected
//! otherwise, and UCX's own protocols believe what they read: UCX over `tcp` writes to whatever address a connection names.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod abi;
mod component;
mod module;
mod params;
mod peer;
mod poll;
mod pvars;
mod raw;
mod selection;
mod send;
mod state;
mod transfer;
pub mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
mod tests;
