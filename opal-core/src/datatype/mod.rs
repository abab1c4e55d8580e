//! Data layouts and the engine that packs and unpacks them (the convertor).
//!
//! A [`Layout`] says where the bytes of one element lie, as loops over runs of bytes, so that a vector of a million
//! blocks is one loop; a [`Convertor`] walks `count` elements, resumable at any byte. Nothing here knows of handles,
//! envelopes or names: those are MPI's.
//!
//! **Invariant:** whatever a `Layout` describes has offsets, bounds and sizes that fit `isize`: constructors check.
#![allow(unsafe_code)]

mod body;
mod convertor;
mod description;
mod element;
mod external;
mod layout;
mod primitive;
mod runs;
mod signature;
#[cfg(test)]
mod tests;
mod walk;

pub use body::Run;
pub use convertor::Convertor;
pub use external::{pack_external, unpack_external};
pub use layout::{Layout, Marker};
pub use primitive::{Primitive, Scalar};
