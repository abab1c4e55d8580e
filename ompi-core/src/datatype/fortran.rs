//! Predefined types found by their properties: MPI 5.0 §19.1.5 (Fortran's kinds) and §6.9.4 (pairs).

use super::combiner::Combiner;
use super::object::{Contents, Datatype};
use super::{borrow, get};
use crate::error::{Class, Fault, Result};
use crate::status::UNDEFINED;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::ConditionalLock;

/// MPI_TYPECLASS_….
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the standard's names
#[repr(i32)]
pub enum Typeclass {
    Integer = 192,
    Real = 193,
    Complex = 194,
}

/// MPI_Type_match_size: the handle of the predefined type of a class with `size` bytes. `Err(Arg)` if there is none.
pub fn match_size(class: i32, size: i32) -> Result<usize> {
    let found = match (class, size) {
        (192, 1) => 705,
        (192, 2) => 713,
        (192, 4) => 721,
        (192, 8) => 729,
        (192, 16) => 737,
        (193, 2) => 714,
        (193, 4) => 722,
        (193, 8) => 730,
        (193, 16) => 738,
        (194, 4) => 723,
        (194, 8) => 731,
        (194, 16) => 739,
        (194, 32) => 747,
        (192..=194, _) => return Err(wrong("size", format!("no type of that class has {size} bytes"))),
        _ => return Err(wrong("typeclass", format!("{class} is not an MPI_TYPECLASS_ constant"))),
    };
    Ok(found)
}

/// MPI_Type_create_f90_integer: `r` decimal digits.
pub fn f90_integer(r: i32) -> Result<usize> {
    // Digits of gfortran's kinds 1, 2, 4, 8 and 16.
    let kinds = [(2, 705), (4, 713), (9, 721), (18, 729), (38, 737)];
    let found = kinds.iter().find(|(digits, _)| r <= *digits).map(|(_, handle)| *handle);
    unnamed(Combiner::F90Integer, &[r], found)
}

/// MPI_Type_create_f90_real: `p` decimal digits, exponents up to `r`; either may be MPI_UNDEFINED.
pub fn f90_real(p: i32, r: i32) -> Result<usize> {
    unnamed(Combiner::F90Real, &[p, r], real_kind(p, r)?.map(|kind| [722, 730, 544, 738][kind]))
}

/// MPI_Type_create_f90_complex: as [`f90_real`], for each part.
pub fn f90_complex(p: i32, r: i32) -> Result<usize> {
    unnamed(Combiner::F90Complex, &[p, r], real_kind(p, r)?.map(|kind| [731, 739, 548, 747][kind]))
}

/// MPI_Type_get_value_index: the handle of the predefined pair, MPI_DATATYPE_NULL if the standard has none.
pub fn value_index(value: &Datatype, index: &Datatype) -> usize {
    match (value.predefined, index.predefined) {
        (528, 521) => 552,
        (532, 521) => 553,
        (522, 521) => 554,
        (521, 521) => 555,
        (520, 521) => 556,
        (544, 521) => 557,
        (538, 538) => 560,
        (540, 540) => 561,
        (537, 537) => 562,
        _ => super::NULL,
    }
}

/// gfortran's kinds 4, 8, 10 and 16: decimal precision and exponent range.
fn real_kind(p: i32, r: i32) -> Result<Option<usize>> {
    if p == UNDEFINED && r == UNDEFINED {
        return Err(wrong("p", "not both of p and r may be MPI_UNDEFINED".into()));
    }
    let kinds = [(6, 37), (15, 307), (18, 4931), (33, 4931)];
    Ok(kinds.iter().position(|(precision, range)| p <= *precision && r <= *range))
}

/// §19.1.5: calls with the same arguments return the same handle, which cannot be freed.
fn unnamed(combiner: Combiner, arguments: &[i32], found: Option<usize>) -> Result<usize> {
    // Integers have a range only; of both the precision is the one that no type has, if it alone is too much.
    let argument = match arguments {
        [p, _] if *p != UNDEFINED && real_kind(*p, UNDEFINED).is_ok_and(|kind| kind.is_none()) => "p",
        _ => "r",
    };
    let fault = || wrong(argument, format!("no type has the precision and range {arguments:?}"));
    let named = found.and_then(get).ok_or_else(fault)?;
    let mut known = UNNAMED.lock();
    let same = |handle: &&usize| {
        borrow(**handle).is_some_and(|held| held.combiner == combiner as i32 && held.contents.integers == arguments)
    };
    if let Some(handle) = known.iter().find(same) {
        return Ok(*handle);
    }
    let contents = Contents { integers: arguments.into(), ..Contents::default() };
    let datatype = Datatype::made(named.layout.clone(), combiner as i32, contents);
    datatype.commit();
    let handle = super::register(Arc::new(datatype))?;
    known.push(handle);
    Ok(handle)
}

static UNNAMED: ConditionalLock<Vec<usize>> = ConditionalLock::new(Vec::new());

#[cold]
fn wrong(argument: &'static str, why: alloc::string::String) -> Fault {
    Fault::new(Class::Arg).argument(argument).because(why)
}
