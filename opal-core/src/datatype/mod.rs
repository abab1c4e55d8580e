//! Data layouts and the engine that packs and unpacks them (the convertor).
//!
//! A [`Layout`] says where the bytes of one element lie; a [`Convertor`] walks `count` of them, resumable at any byte.
//! Nothing here knows of handles, envelopes or names: those are MPI's.
#![allow(unsafe_code)]

mod convertor;
mod layout;
mod primitive;

pub use convertor::Convertor;
pub use layout::{Layout, Run};
pub use primitive::{Primitive, Scalar};
