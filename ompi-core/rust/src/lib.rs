//! MPI for Rust programs, with names that a user of rsmpi recognises.
//!
//! ```no_run
//! use ompi::traits::*;
//!
//! let universe = ompi::initialize().expect("MPI starts once per process");
//! let world = universe.world();
//! let next = (world.rank() + 1) % world.size();
//! let mine = world.rank();
//! world.process_at_rank(next).send(&mine);
//! let (from, status) = world.any_process().receive::<i32>();
//! println!("rank {} heard {from} from rank {}", world.rank(), status.source_rank());
//! ```
//!
//! Failures end the job through MPI_ERRORS_ARE_FATAL unless a method returns a `Result`; every method that can fail
//! has a `try_` twin that does.
//!
//! **Invariant:** `no_std`; no buffer that a peer may still write is reachable by safe code.
#![no_std]

extern crate alloc;

mod collective;
mod communicator;
mod element;
mod point_to_point;

pub use communicator::{AnyProcess, Communicator, Process, Status, Universe, initialize, initialize_with_threading};
pub use element::{Equivalence, SystemOperation};
pub use ompi_core::init::ThreadLevel as Threading;

/// Everything whose methods one calls: `use ompi::traits::*`.
pub mod traits {
    pub use crate::{AnyProcess, Communicator, Equivalence, Process, SystemOperation};
}

/// What a failed call says: class, and why.
#[derive(Debug)]
pub struct Error(ompi_core::error::Fault);

impl Error {
    /// The error class of the standard.
    pub fn class(&self) -> i32 {
        self.0.get()
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let class = ompi_core::errhandler::error_string(self.0.get());
        match self.0.reason() {
            "" => f.write_str(&class),
            reason => write!(f, "{class}: {reason}"),
        }
    }
}

impl core::error::Error for Error {}

impl From<ompi_core::error::Fault> for Error {
    fn from(fault: ompi_core::error::Fault) -> Error {
        Error(fault)
    }
}

/// Ends the job for a failure in a method that returns no `Result`.
fn or_end<T>(what: &str, result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => ompi_core::init::abort(error.class(), &alloc::format!("{what} failed: {error}")),
    }
}
