//! btl/ofi: messages over a fabric that libfabric (OFI, the OpenFabrics Interfaces) reaches.
//!
//! A message is one send of an endpoint of type FI_EP_RDM, with a header before the payload (`wire.rs`). Receives are posted into
//! buffers of this component's own; what completes is read from one completion queue. Messages to a peer are numbered, since a
//! provider may complete a short one before a long one that was sent earlier: the receiver keeps what came too early.
//!
//! A sender that runs ahead stops when the receiver has not taken so many of its messages as fit its window (`peer.rs`).
//!
//! libfabric is opened when a job has ranks beyond this node and not before, so a program runs without it elsewhere. Its structures
//! are those of its ABI 1.3 (libfabric 1.9); `header.c` compares them with the installed header when a library is built.
//!
//! Owns an endpoint with its buffers. **Invariant:** bytes of the fabric are checked before they are believed. A message carries a token
//! that only processes of the job can make, one for each pair of ranks; one without it is dropped. What travels is not protected
//! otherwise: whoever can read the fabric's traffic can read messages, and the token with them.
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
