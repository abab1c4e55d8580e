//! Making, committing and freeing datatypes. MPI 5.0 §5.1.

use super::kinds::{Aint, Array, Count, Counts, Datatype, Out, Place, Rank, Raw, Signed, array, not_negative};
use crate::datatype::{self, Datatype as Type};
use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::vec::Vec;
use core::ffi::c_int;
use opal_core::datatype::Layout;

rows! {
    /// Elements in a row. MPI 5.0 §5.1.2.
    fn Type_contiguous(count: Count, oldtype: Datatype, newtype: Out<usize>) [large] => {
        give(newtype, Layout::contiguous(count, &oldtype.layout), CONTIGUOUS)
    }

    /// Blocks of equal length, a stride of elements apart. MPI 5.0 §5.1.2.
    fn Type_vector(
        count: Count, blocklength: Count, stride: Signed, oldtype: Datatype, newtype: Out<usize>,
    ) [large] => {
        let stride = oldtype.layout.extent().checked_mul(stride as isize).ok_or(Class::Arg)?;
        give(newtype, Layout::hvector(count, blocklength, stride, &oldtype.layout), VECTOR)
    }

    /// Blocks of equal length, a stride of bytes apart. MPI 5.0 §5.1.2.
    fn Type_create_hvector(
        count: Count, blocklength: Count, stride: Raw<Aint>, oldtype: Datatype, newtype: Out<usize>,
    ) [large] => {
        give(newtype, Layout::hvector(count, blocklength, stride as isize, &oldtype.layout), HVECTOR)
    }

    /// Blocks of any length at displacements in elements. MPI 5.0 §5.1.2.
    fn Type_indexed(
        count: Count, array_of_blocklengths: Counts, array_of_displacements: Counts, oldtype: Datatype,
        newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the array has `count` elements by the standard.
        let lengths = unsafe { not_negative(array_of_blocklengths, count, "array_of_blocklengths")? };
        // SAFETY: as above.
        let places = unsafe { array_of_displacements.of(count, "array_of_displacements")? };
        let extent = oldtype.layout.extent();
        let blocks: Vec<_> = (0..count).map(|block| (places.get(block) * extent, lengths.count(block))).collect();
        give(newtype, Layout::blocks(&blocks, &oldtype.layout), INDEXED)
    }

    /// Blocks of any length at displacements in bytes. MPI 5.0 §5.1.2.
    fn Type_create_hindexed(
        count: Count, array_of_blocklengths: Counts, array_of_displacements: Array<Aint>, oldtype: Datatype,
        newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the array has `count` elements by the standard.
        let lengths = unsafe { not_negative(array_of_blocklengths, count, "array_of_blocklengths")? };
        // SAFETY: as above.
        let places = unsafe { array(array_of_displacements, count, "array_of_displacements")? };
        let blocks: Vec<_> = places.iter().enumerate().map(|(at, place)| (*place as isize, lengths.count(at))).collect();
        give(newtype, Layout::blocks(&blocks, &oldtype.layout), HINDEXED)
    }

    /// Blocks of equal length at displacements in elements. MPI 5.0 §5.1.2.
    fn Type_create_indexed_block(
        count: Count, blocklength: Count, array_of_displacements: Counts, oldtype: Datatype, newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the array has `count` elements by the standard.
        let places = unsafe { array_of_displacements.of(count, "array_of_displacements")? };
        let extent = oldtype.layout.extent();
        let blocks: Vec<_> = (0..count).map(|block| (places.get(block) * extent, blocklength)).collect();
        give(newtype, Layout::blocks(&blocks, &oldtype.layout), INDEXED_BLOCK)
    }

    /// Blocks of equal length at displacements in bytes. MPI 5.0 §5.1.2.
    fn Type_create_hindexed_block(
        count: Count, blocklength: Count, array_of_displacements: Array<Aint>, oldtype: Datatype,
        newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the array has `count` elements by the standard.
        let places = unsafe { array(array_of_displacements, count, "array_of_displacements")? };
        let blocks: Vec<_> = places.iter().map(|place| (*place as isize, blocklength)).collect();
        give(newtype, Layout::blocks(&blocks, &oldtype.layout), HINDEXED_BLOCK)
    }

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
    fn Type_commit(datatype: Out<usize>) [] => {
        datatype::borrow(datatype.get()).ok_or_else(|| unknown(datatype.get()))?.commit();
        Ok(())
    }

    /// Frees a datatype; pending communication with it completes. MPI 5.0 §5.1.9.
    fn Type_free(datatype: Out<usize>) [] => {
        let handle = datatype.get();
        if handle < FIRST_DYNAMIC {
            let why = "predefined datatypes cannot be freed";
            return Err(Fault::new(Class::Type).argument("datatype").because(why));
        }
        datatype::remove(handle).ok_or_else(|| unknown(handle))?;
        datatype.set(NULL);
        Ok(())
    }

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

/// MPI_DATATYPE_NULL.
const NULL: usize = 0x200;
/// Handles below are the standard's.
const FIRST_DYNAMIC: usize = 0x400;

// MPI_COMBINER_…
const CONTIGUOUS: c_int = 103;
const VECTOR: c_int = 104;
const HVECTOR: c_int = 105;
const INDEXED: c_int = 106;
const HINDEXED: c_int = 107;
const INDEXED_BLOCK: c_int = 108;
const HINDEXED_BLOCK: c_int = 109;

/// Gives a new layout a handle.
fn give(place: Place<usize>, layout: opal_core::Result<Layout>, combiner: c_int) -> Result<()> {
    let why = "all handles of datatypes are in use; free some with MPI_Type_free";
    let made = Type::derived(layout?, combiner).into_handle();
    place.set(made.ok_or_else(|| Fault::new(Class::NoMem).because(why))?);
    Ok(())
}

fn unknown(handle: usize) -> Fault {
    Fault::new(Class::Type).argument("datatype").because(format!("{handle:#x} is no datatype in force"))
}
