//! MPI_COMBINER_…: which constructor made a datatype (MPI 5.0 §5.1.13).

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

/// MPI_COMBINER_NAMED.
pub const COMBINER_NAMED: i32 = Combiner::Named as i32;
/// MPI_COMBINER_CONTIGUOUS.
pub const COMBINER_CONTIGUOUS: i32 = Combiner::Contiguous as i32;
