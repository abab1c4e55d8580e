//! A section with gaps as a datatype: vectors of vectors, by the strides of the compiler's descriptor.

use crate::arguments::{In, Int, SUCCESS};
use crate::dimension::Dimension;
use crate::refusal::raise;

unsafe extern "C" {
    safe fn PMPI_Type_get_extent_c(datatype: usize, lb: *mut i64, extent: *mut i64) -> Int;
    safe fn PMPI_Type_get_true_extent_c(datatype: usize, lb: *mut i64, extent: *mut i64) -> Int;
    safe fn PMPI_Type_contiguous_c(count: i64, oldtype: usize, newtype: *mut usize) -> Int;
    safe fn PMPI_Type_create_hvector_c(
        count: i64,
        blocklength: i64,
        stride: i64,
        oldtype: usize,
        newtype: *mut usize,
    ) -> Int;
    safe fn PMPI_Type_create_struct_c(
        count: i64,
        lengths: *const i64,
        displacements: *const i64,
        types: *mut usize,
        newtype: *mut usize,
    ) -> Int;
    safe fn PMPI_Type_commit(datatype: *mut usize) -> Int;
    safe fn PMPI_Type_free(datatype: *mut usize) -> Int;
}

const ERR_COUNT: Int = 2;
const ERR_TYPE: Int = 3;
const PIECES: usize = 17;

/// One element of this datatype is what the call takes from the section.
pub struct Layout {
    datatype: Int,
}

/// A count of one, in both kinds.
pub trait One: 'static + Sized {
    /// It.
    const ONE: &'static Self;
}

impl One for Int {
    const ONE: &'static Int = &1;
}

impl One for i64 {
    const ONE: &'static i64 = &1;
}

impl Layout {
    /// For the shim.
    pub fn count<T: One + Copy>(&self) -> In<T> {
        In::of(T::ONE)
    }

    /// For the shim.
    pub fn datatype(&self) -> In<Int> {
        In::of(&self.datatype)
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        // An operation under way keeps it: MPI 5.0 §5.1.9.
        let mut handle = crate::arguments::to_c(self.datatype);
        PMPI_Type_free(&raw mut handle);
    }
}

/// What a function made, freed at the end of the block.
struct Made(usize);

impl Drop for Made {
    fn drop(&mut self) {
        PMPI_Type_free(&raw mut self.0);
    }
}

fn made(call: impl FnOnce(*mut usize) -> Int) -> Result<Made, Int> {
    let mut datatype = 0;
    match call(&raw mut datatype) {
        SUCCESS => Ok(Made(datatype)),
        code => Err(code),
    }
}

/// The first `count` of `datatype` in array element order. Nothing unless an element of the array holds a whole number of them.
pub fn of(dimensions: &[Dimension], element_bytes: i64, count: i64, datatype: usize) -> Result<Option<Layout>, Int> {
    let (mut lb, mut extent) = (0, 0);
    match PMPI_Type_get_extent_c(datatype, &raw mut lb, &raw mut extent) {
        SUCCESS => {}
        code => return Err(code),
    }
    if count < 0 {
        return Err(raise(ERR_COUNT));
    }
    if extent <= 0 || element_bytes % extent != 0 || count % (element_bytes / extent) != 0 {
        fits(dimensions, element_bytes, (lb, extent), (count, datatype))?;
        return Ok(None);
    }
    let per_element = element_bytes / extent;
    let element = made(|new| PMPI_Type_contiguous_c(per_element, datatype, new))?;
    let whole = pieces(dimensions, element, count / per_element)?;
    let mut handle = whole.0;
    match PMPI_Type_commit(&raw mut handle) {
        SUCCESS => {}
        code => return Err(code),
    }
    core::mem::forget(whole);
    Ok(Some(Layout { datatype: handle as Int }))
}

/// A copy of the section must have what `count` of `datatype` reach.
fn fits(dimensions: &[Dimension], element_bytes: i64, (lb, extent): (i64, i64), of: (i64, usize)) -> Result<(), Int> {
    let (count, datatype) = of;
    let (mut true_lb, mut true_extent) = (0, 0);
    match PMPI_Type_get_true_extent_c(datatype, &raw mut true_lb, &raw mut true_extent) {
        SUCCESS => {}
        code => return Err(code),
    }
    let extents = dimensions.iter().map(|dimension| dimension.extent.max(0) as i64);
    let bytes = extents.fold(element_bytes, i64::saturating_mul);
    if count == 0 {
        return Ok(());
    }
    if extent < 0 || lb < 0 || true_lb < 0 {
        return Err(raise(ERR_TYPE));
    }
    let reached = (count - 1).saturating_mul(extent).saturating_add(true_lb).saturating_add(true_extent);
    if reached > bytes { Err(raise(ERR_COUNT)) } else { Ok(()) }
}

/// So many elements: whole slabs of the last dimension, then whole slabs of the one before in the next slab, and so on.
fn pieces(dimensions: &[Dimension], element: Made, mut elements: i64) -> Result<Made, Int> {
    let mut slabs: [Option<Made>; PIECES] = [const { None }; PIECES];
    let mut sizes = [1i64; PIECES];
    slabs[0] = Some(element);
    for (at, dimension) in dimensions.iter().enumerate() {
        let extent = dimension.extent as i64;
        sizes[at + 1] = sizes[at].saturating_mul(extent.max(1));
        let Some(inner) = &slabs[at] else { return Err(raise(ERR_COUNT)) };
        let inner = inner.0;
        slabs[at + 1] =
            Some(made(|new| PMPI_Type_create_hvector_c(extent.max(0), 1, dimension.stride as i64, inner, new))?);
    }
    let rank = dimensions.len();
    if elements > sizes[rank] {
        return Err(raise(ERR_COUNT));
    }
    if elements == sizes[rank] {
        return slabs[rank].take().ok_or(ERR_COUNT);
    }
    let (mut displacement, mut used) = (0, 0);
    let (mut displacements, mut types) = ([0i64; PIECES], [0usize; PIECES]);
    let mut parts: [Option<Made>; PIECES] = [const { None }; PIECES];
    for (at, dimension) in dimensions.iter().enumerate().rev() {
        let (whole, stride) = (elements / sizes[at], dimension.stride as i64);
        elements %= sizes[at];
        let Some(inner) = &slabs[at] else { return Err(raise(ERR_COUNT)) };
        let part = made(|new| PMPI_Type_create_hvector_c(whole, 1, stride, inner.0, new))?;
        (displacements[used], types[used]) = (displacement, part.0);
        parts[used] = Some(part);
        used += 1;
        displacement += whole * stride;
    }
    let ones = [1i64; PIECES];
    made(|new| PMPI_Type_create_struct_c(used as i64, ones.as_ptr(), displacements.as_ptr(), types.as_mut_ptr(), new))
}
