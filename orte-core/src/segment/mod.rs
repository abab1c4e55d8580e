//! The job segment: one memory file that mpirun makes and its ranks on a node inherit; the whole contract between them.
//!
//! One header page, one page per rank ([`record`]), then one receive segment per rank, which only transports touch. The
//! part before the receive segments is the *control part*: [`Control`] is everything that is ever done to it. The file is
//! sparse and sealed against shrinking, so a mapping of it cannot be cut off.
//!
//! **Invariant:** pure; only `mapping`, which a bare image does not have, names system calls. The crate that maps the
//! file implements [`Shared`].

pub mod control;
pub mod layout;
#[cfg(not(ompi_bare))]
pub mod mapping;
pub mod member;
pub mod record;

pub use control::{Control, PortOf, Shared};
pub use layout::{Flaw, Layout};
pub use record::RankState;

#[cfg(test)]
mod tests;
