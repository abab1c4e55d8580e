//! The wire-up of a job over several nodes (modex, "module exchange"): where each rank runs, the addresses of all
//! ranks, and a barrier over the whole job.
//!
//! ```text
//!          mpirun = node 0                 up:    addresses of all ranks below, once all of them are there; barrier reached
//!          ╱           ╲
//!     node 1           node 2              down:  addresses of all ranks that are not below; release
//!     ╱    ╲              │
//! node 3   node 4      node 5
//! ```
//!
//! | file | what |
//! |---|---|
//! | [`map`] | which node and program each rank has: known before the start, so it is never exchanged |
//! | [`frame`] | what goes along an edge of the tree: messages of the registry |
//! | [`node`] | what a node does with them, as a pure function of events |
//! | [`files`] | how the ranks of a node get at it: two sealed memory files, mapped by all of them |
//! | [`member`] | framework ess for a rank of such a job |
//!
//! The addresses are gathered while the ranks go on: nobody waits for them before it needs one. That is the only exchange in
//! MPI_Init.
//!
//! **Invariant:** no address crosses an edge twice in the same direction, and none goes to a node that has it.

#[cfg(not(ompi_bare))]
pub mod files;
pub mod flaw;
pub mod frame;
pub mod map;
#[cfg(not(ompi_bare))]
pub mod member;
pub mod node;

pub use flaw::ModexFlaw;
pub use map::JobMap;
pub use node::{Action, Node};

#[cfg(test)]
mod tests;
