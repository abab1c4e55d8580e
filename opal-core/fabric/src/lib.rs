//! What transports over libraries of fabrics have in common: btl/ofi and btl/uct, each of which holds what its own library asks.
//!
//! | file | subject |
//! |---|---|
//! | `request` | whether a fabric is wanted, and what becomes of one that was asked for in vain |
//! | `verdict` | why an offer is taken or not, in words |
//! | `head` | what stands before each message, and the tokens by which it is known for one of the job |
//! | `memory` | registered memory, keys of peers, and operations under way |
//! | `ended` | peers whose processes have ended, until all that they sent has come |
//!
//! Owns nothing. **Invariant:** knows no library of fabrics, and calls none.
#![no_std]

extern crate alloc;

pub mod ended;
pub mod head;
pub mod memory;
pub mod request;
pub mod verdict;

#[cfg(test)]
opal_core::image![opal_core::framework::atomics, memcpy_portable];
