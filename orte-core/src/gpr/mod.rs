//! The registry (Open MPI's gpr, general purpose registry): what processes of a job need to know of each other.
//!
//! ```text
//!  segment      container       column (one per key)
//!  ───────      ─────────       ────────────────────
//!  names        dynamic key     name, kind
//!  nodes        node id         name, addresses, slots …
//!  job 0, 1 …   vpid            node, local rank, addresses …
//! ```
//!
//! A key is a number from the central schema ([`key`]), or one that the name service gave out ([`names`]). A container is
//! an index, so that no name of a process ever travels. All values of a key lie together in the order of the
//! containers ([`column`](mod@column)). Where values follow from the index, as the node of a rank does, a rule of a few bytes replaces
//! the column of the whole job.
//!
//! A node subscribes to keys ([`subscription`]). What it is sent is one message for all its ranks, with nothing in it
//! that it was sent before ([`registry`]). A message ([`encode`]) is read where it lies ([`view`]), so that the ranks
//! of a node read one mapped copy.
//!
//! **Invariant:** decoding allocates no more than is in proportion to the bytes that arrived, and checks every length.

pub mod column;
pub mod encode;
pub mod flaw;
pub mod form;
pub mod key;
pub mod names;
pub mod refusal;
pub mod registry;
pub mod segment;
pub mod subscription;
mod varint;
pub mod view;

#[cfg(test)]
mod tests;
