//! fcoll/two_phase: collective access in two phases, for small pieces of several processes that interleave in the file.
//!
//! The bytes between the first and the last place of the access are divided into *domains*, one for each process, and each domain
//! into *windows* of `fcoll_two_phase_buffer_size`. In each round every process gathers what all write into one window of its
//! domain, and writes it in long pieces; or it reads a window, and gives every process what it wants of it. Rounds are collective
//! operations on the file's communicator, so that data goes through shared memory within a node.
//!
//! | file | subject |
//! |---|---|
//! | `plan` | whether two phases pay, and the domains |
//! | `module` | what framework fcoll calls |
//! | `rounds` | the rounds of one access |
//! | `survey` | which bytes of each window a process wants |
//! | `runs` | bytes of a window that lie together |
//! | `raw` | packing, and the collective operations |
//!
//! Owns one window of memory during an access, and what the process sends and receives in one round. All is taken before the
//! first round; where one process has no memory for it none begins. Up to 16 MiB stay for the next access.
//!
//! **Invariant:** gaps between pieces are never written. Whether an access goes in two phases follows from words that all processes
//! have announced.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod component;
mod module;
mod params;
mod plan;
mod raw;
mod rounds;
mod runs;
mod survey;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
