//! fbtl/uring: nonblocking accesses go on beside the program, by io_uring(7).
//!
//! A long transfer is given to the system, whose own threads do it; the program's thread looks into a queue in memory from time to
//! time. Short ones, and all blocking accesses, are done at once by preadv(2) and pwritev(2): to hand them over would take longer. Where the
//! node's ranks leave no core to those threads the system does at once what lies in its memory, as far as the file system lets it.
//!
//! | file | subject |
//! |---|---|
//! | `component` | whether the system offers io_uring |
//! | `module` | what framework fbtl calls |
//! | `raw` | the queues, and transfers under way |
//!
//! Owns one io_uring instance, from the first long nonblocking access on.
//!
//! **Invariant:** of one transfer the system has one part at a time: what comes after a part that failed or was cut is not begun.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod params;
mod raw;

pub use component::{COMPONENT, INFO};
pub use params::MIN_SIZE;
