//! fbtl/faulty: pread(2), pwrite(2), preadv(2) and pwritev(2) on a file system that moves less than it was asked for, is interrupted,
//! refuses, or has files cut by others, as a seed says. For tests.
//!
//! Runs where it is chosen: `--mca fbtl faulty`. The faults are made where fbtl/posix calls the system, below the code that both share,
//! and are the system's own: what stands above must give the same answers as without them, but after a refusal or a cut. A
//! nonblocking access goes on beside the program, one call of the system each time that its request is looked at.
//!
//! | file | subject |
//! |---|---|
//! | `component` | registration |
//! | `dice` | which fault comes next |
//! | `module` | what framework fbtl calls |
//! | `raw` | calls of the system with faults, transfers under way |
//!
//! Owns nothing but its dice. **Invariant:** the same calls and the same seed make the same faults.
#![no_std]

extern crate alloc;

mod component;
mod dice;
mod module;
mod params;
mod pvars;
mod raw;

pub use component::{COMPONENT, INFO};
pub use dice::{Chances, INTERRUPTED, SHORTENED, reseed};
