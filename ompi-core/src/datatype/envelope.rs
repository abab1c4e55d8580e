//! How a datatype was made: what MPI_Type_get_envelope and MPI_Type_get_contents tell (MPI 5.0 §5.1.13).

use super::Datatype;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The constructors, with the standard ABI's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the standard's names
#[repr(i32)]
pub enum Combiner {
    Named = 101,
    Dup = 102,
    Contiguous = 103,
    Vector = 104,
    Hvector = 105,
    Indexed = 106,
    Hindexed = 107,
    IndexedBlock = 108,
    HindexedBlock = 109,
    Struct = 110,
    Subarray = 111,
    Darray = 112,
    F90Real = 113,
    F90Complex = 114,
    F90Integer = 115,
    Resized = 116,
    ValueIndex = 117,
}

/// The arguments of the call that made a datatype, sorted as MPI_Type_get_contents_c returns them. A constructor with
/// `int` counts leaves `counts` empty; its `_c` twin puts counts and displacements there.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// array_of_integers.
    pub integers: Vec<i32>,
    /// array_of_addresses.
    pub addresses: Vec<isize>,
    /// array_of_large_counts.
    pub counts: Vec<i64>,
    /// array_of_datatypes; [`super::register`] makes a handle of each.
    pub datatypes: Vec<Arc<Datatype>>,
}
