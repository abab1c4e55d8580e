//! Making, committing and freeing datatypes. MPI 5.0 §5.1.

use super::kinds::{Aint, Array, Count, Counts, Datatype, Out, Rank, Raw, Signed};
use core::ffi::c_int;

rows! {
    /// Elements in a row. MPI 5.0 §5.1.2.
    fn Type_contiguous(count: Count, oldtype: Datatype, newtype: Out<usize>) [large] => unsupported

    /// Blocks of equal length, a stride of elements apart. MPI 5.0 §5.1.2.
    fn Type_vector(
        count: Count, blocklength: Count, stride: Signed, oldtype: Datatype, newtype: Out<usize>,
    ) [large] => unsupported

    /// Blocks of equal length, a stride of bytes apart. MPI 5.0 §5.1.2.
    fn Type_create_hvector(
        count: Count, blocklength: Count, stride: Raw<Aint>, oldtype: Datatype, newtype: Out<usize>,
    ) [large] => unsupported

    /// Blocks of any length at displacements in elements. MPI 5.0 §5.1.2.
    fn Type_indexed(
        count: Count, array_of_blocklengths: Counts, array_of_displacements: Counts, oldtype: Datatype,
        newtype: Out<usize>,
    ) [large] => unsupported

    /// Blocks of any length at displacements in bytes. MPI 5.0 §5.1.2.
    fn Type_create_hindexed(
        count: Count, array_of_blocklengths: Counts, array_of_displacements: Array<Aint>, oldtype: Datatype,
        newtype: Out<usize>,
    ) [large] => unsupported

    /// Blocks of equal length at displacements in elements. MPI 5.0 §5.1.2.
    fn Type_create_indexed_block(
        count: Count, blocklength: Count, array_of_displacements: Counts, oldtype: Datatype, newtype: Out<usize>,
    ) [large] => unsupported

    /// Blocks of equal length at displacements in bytes. MPI 5.0 §5.1.2.
    fn Type_create_hindexed_block(
        count: Count, blocklength: Count, array_of_displacements: Array<Aint>, oldtype: Datatype,
        newtype: Out<usize>,
    ) [large] => unsupported

    /// Blocks of several datatypes at displacements in bytes. MPI 5.0 §5.1.2.
    fn Type_create_struct(
        count: Count, array_of_blocklengths: Counts, array_of_displacements: Array<Aint>,
        array_of_types: Array<usize>, newtype: Out<usize>,
    ) [large] => unsupported

    /// A rectangular part of an array. MPI 5.0 §5.1.3.
    fn Type_create_subarray(
        ndims: Raw<c_int>, array_of_sizes: Counts, array_of_subsizes: Counts, array_of_starts: Counts,
        order: Raw<c_int>, oldtype: Datatype, newtype: Out<usize>,
    ) [large] => unsupported

    /// One process's part of a distributed array. MPI 5.0 §5.1.4.
    fn Type_create_darray(
        size: Raw<c_int>, rank: Rank, ndims: Raw<c_int>, array_of_gsizes: Counts, array_of_distribs: Array<c_int>,
        array_of_dargs: Array<c_int>, array_of_psizes: Array<c_int>, order: Raw<c_int>, oldtype: Datatype,
        newtype: Out<usize>,
    ) [large] => unsupported

    /// The same data with other bounds. MPI 5.0 §5.1.7.
    fn Type_create_resized(
        oldtype: Datatype, lb: Raw<Aint>, extent: Raw<Aint>, newtype: Out<usize>,
    ) [large] => unsupported

    /// Makes a datatype usable in communication. MPI 5.0 §5.1.9.
    fn Type_commit(datatype: Out<usize>) [] => unsupported

    /// Frees a datatype; pending communication with it completes. MPI 5.0 §5.1.9.
    fn Type_free(datatype: Out<usize>) [] => unsupported

    /// Copies a datatype. MPI 5.0 §5.1.10.
    fn Type_dup(oldtype: Datatype, newtype: Out<usize>) [] => unsupported

    /// Fortran's real type of this precision and range. MPI 5.0 §19.1.10.
    fn Type_create_f90_real(p: Raw<c_int>, r: Raw<c_int>, newtype: Out<usize>) [] => unsupported

    /// Fortran's complex type of this precision and range. MPI 5.0 §19.1.10.
    fn Type_create_f90_complex(p: Raw<c_int>, r: Raw<c_int>, newtype: Out<usize>) [] => unsupported

    /// Fortran's integer type of this range. MPI 5.0 §19.1.10.
    fn Type_create_f90_integer(r: Raw<c_int>, newtype: Out<usize>) [] => unsupported

    /// The predefined datatype of a class and a size. MPI 5.0 §19.1.10.
    fn Type_match_size(typeclass: Raw<c_int>, size: Raw<c_int>, datatype: Out<usize>) [] => unsupported
}
