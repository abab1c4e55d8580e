//! What components of framework osc have in common that serve windows of the processes of one node: words of synchronisation in memory
//! that all of them have mapped, and a module over them.
//!
//! The first process makes it: words alone in its shareable heap ([`opal_core::shareable`]), words with parts of the window behind them as a file
//! in memory without a name ([`opal_core::sys::PlacedFile`]), which the others open through its
//! /proc/PID/fd; when all have it mapped nobody holds a descriptor, so nothing is left behind whatever ends the job. [`Layout`] says
//! where in it the words lie, and parts of the window if they are there. Accumulates are instructions of the processor where all processes
//! have mapped the target's memory, as long as the window's gate is open ([`super::gate`]); otherwise each takes the target's
//! accumulate lock. A passive lock is a ticket lock (`ticket.rs`); a
//! shared one of all processes is a count in the own process's word (`shared_by_all.rs`).
//!
//! **Invariant:** no offset is read from shared memory.

mod access;
mod layout;
mod locks;
#[cfg(all(test, loom))]
mod models;
mod module;
mod own;
mod peers;
mod share;
mod shared_by_all;
mod ticket;
mod words;

pub use access::{MappedData, TargetData, perform, perform_under};
pub use layout::{Layout, PAGE};
pub use module::{NodeModule, Reach};
pub use own::{MappedParts, own_part, share_layout, share_parts};
pub use peers::Peers;
pub use share::{SharedWords, TOLD, exchange, no_memory, share};
pub use words::Words;
