//! MPI for Rust programs, with names that a user of rsmpi recognises.
//!
//! ```
//! # use test_singleton as _;
//! use ompi::traits::*;
//!
//! fn main() -> ompi::Result<()> {
//!     let universe = ompi::initialize().expect("MPI starts once per process");
//!     let world = universe.world();
//!     let next = world.process_at_rank((world.rank() + 1) % world.size());
//!     let mut heard = 0;
//!     ompi::request::scope(|scope| {
//!         let receive = world.any_process().immediate_receive_into(scope, &mut heard)?;
//!         next.send(&world.rank())?;
//!         receive.wait()
//!     })?;
//!     println!("rank {} heard {heard}", world.rank());
//!     Ok(())
//! }
//! ```
//!
//! **Errors.** Every operation returns a [`Result`]. Before it does, the error handler of its communicator runs, as the
//! standard says: the one that stands there at first ends the job with a message, so `?` is all one writes; after
//! [`set_error_handler`](traits::Communicator::set_error_handler)`(ErrorHandler::Return)` the program sees the errors.
//! A peer that dies ends the job under any handler.
//! Misuse that a caller can always avoid (a rank that the communicator does not have, blocks outside of their buffer)
//! panics, as an index out of bounds does.
//!
//! **Panics.** One that leaves the last user of MPI ends the job with status 101 and the panic's text: the other ranks would wait for
//! this one. One that `catch_unwind` ends before that, or the end of a thread that nobody joins, is the program's own affair.
//!
//! **Life.** MPI is in use as long as a [`Universe`], a session, a communicator or a group of it lives. After the last of them was
//! dropped, a session is finalised at once, and the world model when the process ends with status 0. A `main` that returns an error,
//! or another status, ends the job without waiting for the other ranks. Communicators are freed when they are dropped.
//!
//! **Types.** Numbers, arrays, and structs with `#[derive(Equivalence)]` can be sent.
//!
//! **Threads.** All objects stay on their thread, unless MPI was started for several threads: then
//! [`topology::Shared`] lends a communicator to others.
//!
//! **Components.** The feature `components`, on by default, links those of the default library. A program that names its own
//! takes this crate without default features and `ompi-components` with the components that it wants as features, without
//! default features as well, and says `use ompi_components as _;`.
//!
//! **Invariant:** `no_std` but for what std knows of panics; no buffer that the library or a peer may still write is reachable by safe code, whatever is
//! dropped, leaked or forgotten.
#![no_std]

extern crate alloc;
// For panics alone.
#[cfg(not(ompi_bare))]
extern crate std;
// Linked into every program of this crate.
#[cfg(feature = "components")]
use ompi_components as _;

pub mod attribute;
pub mod collective;
pub mod datatype;
pub mod dynamic;
pub mod environment;
mod error;
pub mod file;
pub mod info;
mod life;
mod panics;
pub mod point_to_point;
mod raw;
pub mod request;
pub mod session;
pub mod topology;
pub mod window;

pub use collective::SystemOperation;
pub use datatype::Equivalence;
pub use environment::{Threading, Universe, initialize, initialize_with_threading, time};
pub use error::{Error, ErrorClass, ErrorHandler, Result};
/// Makes a struct a type that MPI can send: one element of a datatype that names its fields and leaves out its padding.
///
/// All fields must be `Equivalence`; the struct must be `Copy`.
///
/// ```
/// # let mut universe = test_singleton::universe();
/// # universe.set_buffer_size(4096)?;
/// use ompi::{Equivalence, traits::*};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Equivalence)]
/// struct Particle {
///     charge: i8,
///     place: [f64; 3],
///     cell: u32,
/// }
///
/// let world = universe.world();
/// let mine = [Particle { charge: -1, place: [0.5, 1.0, 1.5], cell: 7 }; 2];
/// world.this_process().buffered_send(&mine)?;
/// let (heard, status) = world.any_process().receive_vec::<Particle>()?;
/// assert_eq!(heard, mine);
/// assert_eq!(status.bytes(), 2 * (1 + 24 + 4), "padding is not sent");
/// # Ok::<(), ompi::Error>(())
/// ```
///
/// What could become no value is refused:
///
/// ```compile_fail
/// #[derive(Clone, Copy, ompi::Equivalence)]
/// struct Flagged {
///     value: f64,
///     valid: bool,
/// }
/// ```
pub use ompi_derive::Equivalence;
pub use point_to_point::{ANY_TAG, Status, Tag};
pub use topology::Rank;

/// All traits, whose methods one calls: `use ompi::traits::*`.
pub mod traits {
    pub use crate::attribute::Attributes;
    pub use crate::collective::{
        CommunicatorCollectives, ImmediateCollectives, ImmediateRoot, ImmediateVarcountCollectives,
        ImmediateVarcountRoot, InPlaceCollectives, InPlaceRoot, Operation, Root, VarcountCollectives, VarcountRoot,
    };
    pub use crate::datatype::{Buffer, BufferMut, Equivalence};
    pub use crate::point_to_point::{Destination, Source};
    pub use crate::request::{PersistentCollectives, PersistentDestination, PersistentSource, Scope};
    pub use crate::topology::{Communicator, IntraCommunicator, Neighborhood};
}
