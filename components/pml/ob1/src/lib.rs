//! pml/ob1: MPI's matching and protocols over any transports that meet its [`requirement`].
//!
//! Owns one table of contexts (a communicator as its peers address it) with what is posted and what is unexpected, and the
//! operations that take more than one message. `module` is what MPI calls, `am_handlers` what transports call, `progress`
//! what each pass of progress calls. `send` and `recv` start operations: eager sends, posted receives, receives without a
//! request, batches from a queue, probes. `matching` pairs messages and receives; `protocol` moves long messages and draws
//! the state machine; `peers` are the processes and their transports; `checksum`
//! lies between those and the transports, if it is wanted; `wire` is the format. `state` is the data behind one
//! lock: a file above it changes it, a file below it describes a part of it.
//!
//! Invariant: the state's lock is never held while waiting or while a transport is polled; `recv::requestless` holds it
//! during a few looks at queues.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod am_handlers;
mod checksum;
mod component;
mod context;
mod counters;
mod facts;
mod matching;
mod module;
mod params;
mod peers;
mod progress;
mod protocol;
mod pvars;
mod raw;
mod recv;
mod requirement;
mod send;
mod slab;
mod state;
mod subject;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod test_image;
