//! Making, committing and freeing datatypes. MPI 5.0 §5.1.

use super::kinds::{Aint, AnyNumber, Array, ArrayOfCounts, OldType, Out, Rank, Raw, TwinAint, TypeHandle, array};
use crate::data::Counts as Displacements;
use crate::datatype::{self, Datatype, Number, Order};
use crate::error::{Class, Fault, Result};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::c_int;

rows! {
    /// Elements in a row. MPI 5.0 §5.1.2.
    fn Type_contiguous(count: AnyNumber, oldtype: OldType, newtype: Out<usize>) [large] => {
        newtype.set(give(datatype::contiguous(count, &oldtype)?)?);
        Ok(())
    }

    /// Blocks of equal length, a stride of elements apart. MPI 5.0 §5.1.2.
    fn Type_vector(
        count: AnyNumber, blocklength: AnyNumber, stride: AnyNumber, oldtype: OldType, newtype: Out<usize>,
    ) [large] => {
        newtype.set(give(datatype::vector(count, blocklength, stride, &oldtype)?)?);
        Ok(())
    }

    /// Blocks of equal length, a stride of bytes apart. MPI 5.0 §5.1.2.
    fn Type_create_hvector(
        count: AnyNumber, blocklength: AnyNumber, stride: Raw<Aint>, oldtype: OldType, newtype: Out<usize>,
    ) [large] => {
        newtype.set(give(datatype::hvector(count, blocklength, stride, &oldtype)?)?);
        Ok(())
    }

    /// Blocks of any length at displacements in elements. MPI 5.0 §5.1.2.
    fn Type_indexed(
        count: AnyNumber, array_of_blocklengths: ArrayOfCounts, array_of_displacements: ArrayOfCounts, oldtype: OldType,
        newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the arrays have `count` elements by the standard.
        let lengths = unsafe { array_of_blocklengths.of(length(count), "array_of_blocklengths")? };
        // SAFETY: as above.
        let places = unsafe { array_of_displacements.of(length(count), "array_of_displacements")? };
        newtype.set(give(datatype::indexed(count, lengths, places, &oldtype)?)?);
        Ok(())
    }

    /// Blocks of any length at displacements in bytes. MPI 5.0 §5.1.2.
    fn Type_create_hindexed(
        count: AnyNumber, array_of_blocklengths: ArrayOfCounts, array_of_displacements: Array<Aint>, oldtype: OldType,
        newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the arrays have `count` elements by the standard.
        let lengths = unsafe { array_of_blocklengths.of(length(count), "array_of_blocklengths")? };
        // SAFETY: as above.
        let places = unsafe { array(array_of_displacements, length(count), "array_of_displacements")? };
        newtype.set(give(datatype::hindexed(count, lengths, Displacements::Large(places), &oldtype)?)?);
        Ok(())
    }

    /// Blocks of equal length at displacements in elements. MPI 5.0 §5.1.2.
    fn Type_create_indexed_block(
        count: AnyNumber, blocklength: AnyNumber, array_of_displacements: ArrayOfCounts, oldtype: OldType,
        newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the array has `count` elements by the standard.
        let places = unsafe { array_of_displacements.of(length(count), "array_of_displacements")? };
        newtype.set(give(datatype::indexed_block(count, blocklength, places, &oldtype)?)?);
        Ok(())
    }

    /// Blocks of equal length at displacements in bytes. MPI 5.0 §5.1.2.
    fn Type_create_hindexed_block(
        count: AnyNumber, blocklength: AnyNumber, array_of_displacements: Array<Aint>, oldtype: OldType,
        newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the array has `count` elements by the standard.
        let places = unsafe { array(array_of_displacements, length(count), "array_of_displacements")? };
        newtype.set(give(datatype::hindexed_block(count, blocklength, Displacements::Large(places), &oldtype)?)?);
        Ok(())
    }

    /// Blocks of several datatypes at displacements in bytes. MPI 5.0 §5.1.2.
    fn Type_create_struct(
        count: AnyNumber, array_of_blocklengths: ArrayOfCounts, array_of_displacements: Array<Aint>,
        array_of_types: Array<usize>, newtype: Out<usize>,
    ) [large] => {
        // SAFETY: the arrays have `count` elements by the standard.
        let lengths = unsafe { array_of_blocklengths.of(length(count), "array_of_blocklengths")? };
        // SAFETY: as above.
        let places = unsafe { array(array_of_displacements, length(count), "array_of_displacements")? };
        // SAFETY: as above.
        let handles = unsafe { array(array_of_types, length(count), "array_of_types")? };
        let found: Option<Vec<_>> = handles.iter().map(|handle| datatype::member(*handle)).collect();
        let old = found.ok_or_else(|| {
            Fault::new(Class::Type).argument("array_of_types").because("one of them is not a valid datatype handle; it was freed or never created")
        })?;
        newtype.set(give(datatype::structure(count, lengths, Displacements::Large(places), &old)?)?);
        Ok(())
    }

    /// A rectangular part of an array. MPI 5.0 §5.1.3.
    fn Type_create_subarray(
        ndims: Raw<c_int>, array_of_sizes: ArrayOfCounts, array_of_subsizes: ArrayOfCounts, array_of_starts: ArrayOfCounts,
        order: Raw<c_int>, oldtype: OldType, newtype: Out<usize>,
    ) [large] => {
        let dimensions = dimensions(ndims)?;
        // SAFETY: the arrays have `ndims` elements by the standard.
        let sizes = unsafe { array_of_sizes.of(dimensions, "array_of_sizes")? };
        // SAFETY: as above.
        let parts = unsafe { array_of_subsizes.of(dimensions, "array_of_subsizes")? };
        // SAFETY: as above.
        let starts = unsafe { array_of_starts.of(dimensions, "array_of_starts")? };
        newtype.set(give(datatype::subarray(sizes, parts, starts, dimensions, Order::from_c(order)?, &oldtype)?)?);
        Ok(())
    }

    /// One process's part of a distributed array. MPI 5.0 §5.1.4.
    fn Type_create_darray(
        size: Raw<c_int>, rank: Rank, ndims: Raw<c_int>, array_of_gsizes: ArrayOfCounts, array_of_distribs: Array<c_int>,
        array_of_dargs: Array<c_int>, array_of_psizes: Array<c_int>, order: Raw<c_int>, oldtype: OldType,
        newtype: Out<usize>,
    ) [large] => {
        let dimensions = dimensions(ndims)?;
        // SAFETY: the arrays have `ndims` elements by the standard.
        let sizes = unsafe { array_of_gsizes.of(dimensions, "array_of_gsizes")? };
        // SAFETY: as above.
        let distributions = unsafe { array(array_of_distribs, dimensions, "array_of_distribs")? };
        // SAFETY: as above.
        let arguments = unsafe { array(array_of_dargs, dimensions, "array_of_dargs")? };
        // SAFETY: as above.
        let grid = unsafe { array(array_of_psizes, dimensions, "array_of_psizes")? };
        let order = Order::from_c(order)?;
        let made = datatype::darray(size, rank, sizes, distributions, arguments, grid, order, &oldtype)?;
        newtype.set(give(made)?);
        Ok(())
    }

    /// The same data with other bounds. MPI 5.0 §5.1.7.
    fn Type_create_resized(oldtype: OldType, lb: Raw<Aint>, extent: TwinAint, newtype: Out<usize>) [large] => {
        let (extent, large) = extent;
        newtype.set(give(datatype::resized(lb, extent, large, &oldtype)?)?);
        Ok(())
    }

    /// Makes a datatype usable in communication. MPI 5.0 §5.1.9.
    fn Type_commit(datatype: Out<usize>) [] => {
        let why = "it is not a valid datatype handle; it was freed or never created";
        let found = datatype::borrow(datatype.get());
        found.ok_or_else(|| Fault::new(Class::Type).argument("datatype").because(why))?.commit();
        Ok(())
    }

    /// Frees a datatype; pending communication with it completes. MPI 5.0 §5.1.9.
    fn Type_free(datatype: Out<usize>) [] => {
        datatype::free(datatype.get())?;
        datatype.set(datatype::NULL);
        Ok(())
    }

    /// Copies a datatype. MPI 5.0 §5.1.10.
    fn Type_dup(oldtype: TypeHandle, newtype: Out<usize>) [] => {
        let (handle, _) = oldtype;
        let old = datatype::get(handle).ok_or(Class::Type)?;
        newtype.set(datatype::NULL);
        newtype.set(datatype::duplicate(handle, &old)?);
        Ok(())
    }

    /// Fortran's real type of this precision and range. MPI 5.0 §19.1.9.
    fn Type_create_f90_real(p: Raw<c_int>, r: Raw<c_int>, newtype: Out<usize>) [] => {
        newtype.set(datatype::f90_real(p, r)?);
        Ok(())
    }

    /// Fortran's complex type of this precision and range. MPI 5.0 §19.1.9.
    fn Type_create_f90_complex(p: Raw<c_int>, r: Raw<c_int>, newtype: Out<usize>) [] => {
        newtype.set(datatype::f90_complex(p, r)?);
        Ok(())
    }

    /// Fortran's integer type of this range. MPI 5.0 §19.1.9.
    fn Type_create_f90_integer(r: Raw<c_int>, newtype: Out<usize>) [] => {
        newtype.set(datatype::f90_integer(r)?);
        Ok(())
    }

    /// The predefined datatype of a class and a size. MPI 5.0 §19.1.9.
    fn Type_match_size(typeclass: Raw<c_int>, size: Raw<c_int>, datatype: Out<usize>) [] => {
        datatype.set(datatype::match_size(typeclass, size)?);
        Ok(())
    }
}

/// Gives a new datatype a handle.
fn give(made: Datatype) -> Result<usize> {
    datatype::register(Arc::new(made))
}

/// The length of arrays of `count` elements; a negative count is the constructor's to refuse.
fn length(count: Number) -> usize {
    usize::try_from(count.get()).unwrap_or(0)
}

fn dimensions(ndims: c_int) -> Result<usize> {
    let why = "an array has at least one dimension";
    usize::try_from(ndims)
        .ok()
        .filter(|ndims| *ndims > 0)
        .ok_or_else(|| Fault::new(Class::Arg).argument("ndims").because(why))
}
