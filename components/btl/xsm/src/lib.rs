//! btl/xsm: shared memory between processes of different jobs on one node.
//!
//! A process that other jobs may reach has a *board*, a memory file without a name. Peers open it through /proc/PID/fd, which the
//! system allows to processes of the same user only. A board has a header, on which its owner sleeps, and cells. A cell holds both
//! queues between two processes, and lies on the board of the one whose name is lower. Either of the two claims it.
//!
//! Nothing is made before a process of another job is met: a job that meets none has no file and no descriptor of this.
//!
//! From the bottom up: `wire` says where things lie, `raw` maps them, `board` is a mapped header, `board_file` its file, `claim`
//! finds the cell of two processes, `owner` says whether a peer's process is still there, `endpoint` is a peer, `sleeper` what a process
//! sleeps on, `module` the framework's calls.
//!
//! A process that ends says nothing, and one that leaves MPI says it on the board. Whoever waits looks at both ten times a second.
//!
//! **Invariant:** nothing that a peer writes makes this process touch memory outside the queues. A peer that breaks the
//! format is closed.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod component;
mod module;

mod claim;
mod endpoint;
mod own_board;
mod owner;
mod sleeper;

mod board;
mod board_file;
mod raw;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
mod tests;

#[cfg(test)]
opal_core::test_image!();
