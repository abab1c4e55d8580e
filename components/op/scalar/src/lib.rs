//! op/scalar: the predefined reduction operations for every basic type, in code that the compiler may vectorise.
//!
//! Owns nothing. Invariant: there is a kernel for each pair of operation and basic type that MPI 5.0 §6.9.2 allows, and
//! none for any other; buffers need no alignment.
//!
//! Rules where the standard leaves a choice, the same for every kernel and independent of operand order:
//! * MIN and MAX of floating-point numbers: a NaN on either side gives NaN. Of +0 and -0 the second operand stays.
//! * MINLOC and MAXLOC: equal values give the smaller index (§6.9.4); a NaN counts as the extreme value.
//! * Integers wrap around. Logical results are 0 and 1; whatever is not 0 is true.
//! * Complex products follow the textbook formula, without the recovery of infinities of C's Annex G.
//! * Half precision is computed in single precision and rounded to nearest, ties to even, after every operation.
#![no_std]

#[cfg(test)]
extern crate std;

mod combine;
mod component;
mod half;
mod pair;
mod quad;
mod raw;
mod table;
#[cfg(test)]
mod tests;

pub use component::{COMPONENT, INFO};
