//! The Modular Component Architecture: everything about components that holds for every framework.
//!
//! A *framework* is a kind of thing the library needs (a transport, a clock), a *component* one way to do it, a
//! *module* one running instance. Components are linked statically. [`component!`](crate::component) registers one,
//! [`params!`](crate::params) declares its parameters, [`image`] proves that all that were chosen are really linked,
//! [`select`] opens and picks them.
//!
//! Order of events: [`image::verify`] → [`source::collect`] → [`source::apply`] → per framework [`select::open`] →
//! query → modules → close.
//!
//! **Invariant:** no framework in particular is named here, but those of Open MPI that are ignored.
#![allow(unsafe_code)] // linkme's expansion

pub mod component;
pub mod framework;
pub mod image;
pub mod name;
pub mod open_mpi;
pub mod param;
pub mod ports;
pub mod pvar;
pub mod select;
pub mod source;

pub use component::{Component, Declined};
pub use framework::{Framework, Info, Layer, Policy};
pub use param::{Kind, Param, Source, Value};
pub use ports::ports;
pub use pvar::{Pvar, PvarClass};
pub use select::{open, open_static, select_best, select_one};

#[doc(hidden)]
pub use {linkme, pastey};
