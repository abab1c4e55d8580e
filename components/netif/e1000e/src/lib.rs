//! netif/e1000e: Intel's 82574L (Intel 82574 GbE Controller Family Datasheet, revision 3.4), polled, without interrupts.
//!
//! Owns the card and the memory of its rings. Legacy descriptors (7.1.4, 7.2.10) are all that whole frames take.
//! **Invariant:** a descriptor is the card's from the moment its number is behind the tail until the card marks it done, and
//! nobody looks at its buffer meanwhile.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod raw;
mod registers;
mod ring;

pub use component::{COMPONENT, INFO};
