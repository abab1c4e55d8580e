//! A section with gaps as a datatype: vectors of vectors, by the strides of the compiler's descriptor.

use crate::arguments::{In, Int, SUCCESS};
use crate::dimension::Dimension;
use crate::kept::{Known, Lent, Shape};
use crate::reach::Extents;
use crate::refusal::Refusal;

unsafe extern "C" {
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

const PIECES: usize = 17;

/// What the call takes from a section: one element of a datatype of ours, or what the program passed where there are no gaps.
pub struct Layout<T: 'static> {
    made: Option<Int>,
    // It stays for the next call.
    lent: Option<Lent>,
    count: In<T>,
    datatype: In<Int>,
}

/// A count of one, in both kinds.
pub trait One: 'static + Copy + Into<i64> {
    /// It.
    const ONE: &'static Self;
}

impl One for Int {
    const ONE: &'static Int = &1;
}

impl One for i64 {
    const ONE: &'static i64 = &1;
}

impl<T: One> Layout<T> {
    /// What the program passed.
    pub fn as_it_is(count: In<T>, datatype: In<Int>) -> Layout<T> {
        Layout { made: None, lent: None, count, datatype }
    }

    fn kept(lent: Lent, count: In<T>, datatype: In<Int>) -> Layout<T> {
        Layout { made: Some(lent.datatype() as Int), lent: Some(lent), count, datatype }
    }

    /// For the shim.
    pub fn count(&self) -> In<T> {
        if self.made.is_some() { In::of(T::ONE) } else { self.count }
    }

    /// For the shim.
    pub fn datatype(&self) -> In<Int> {
        self.made.as_ref().map_or(self.datatype, In::of)
    }
}

impl<T> Drop for Layout<T> {
    fn drop(&mut self) {
        if let (Some(datatype), None) = (self.made, &self.lent) {
            // An operation under way keeps it: MPI 5.0 §5.1.9.
            let mut handle = crate::arguments::to_c(datatype);
            PMPI_Type_free(&raw mut handle);
        }
    }
}

/// What a function made, freed at the end of the block.
struct Made(usize);

impl Drop for Made {
    fn drop(&mut self) {
        PMPI_Type_free(&raw mut self.0);
    }
}

fn made(call: impl FnOnce(*mut usize) -> Int) -> Result<Made, Refusal> {
    let mut datatype = 0;
    match call(&raw mut datatype) {
        SUCCESS => Ok(Made(datatype)),
        code => Err(Refusal::Raised(code)),
    }
}

/// The first `count` of `datatype` in array element order. Nothing unless an element of the array holds a whole number of them, and
/// for sections of up to `short` bytes.
pub fn of<T: One>(
    dimensions: &[Dimension],
    element_bytes: i64,
    (count_passed, datatype_passed): (In<T>, In<Int>),
    short: i64,
) -> Result<Option<Layout<T>>, Refusal> {
    let (count, datatype): (i64, usize) = (count_passed.get().into(), datatype_passed.handle());
    let shape = Shape::of(dimensions, element_bytes, count, datatype);
    let short = match shape.as_ref().map(Shape::look_up) {
        Some(Known::Datatype(lent)) => return Ok(Some(Layout::kept(lent, count_passed, datatype_passed))),
        // It comes again and again.
        Some(Known::Shape) => 0,
        Some(Known::Nothing) | None => short,
    };
    // C refuses them, or does not look at them.
    let Some(of_type) = Extents::of(datatype).filter(|_| count >= 0) else {
        return Ok(Some(Layout::as_it_is(count_passed, datatype_passed)));
    };
    let extent = of_type.extent;
    let extents = dimensions.iter().map(|dimension| dimension.extent.max(0) as i64);
    let bytes = extents.fold(element_bytes, i64::saturating_mul);
    if bytes <= short || extent <= 0 || element_bytes % extent != 0 || count % (element_bytes / extent) != 0 {
        of_type.items(0, count).within(bytes)?;
        return Ok(None);
    }
    let per_element = element_bytes / extent;
    let element = made(|new| PMPI_Type_contiguous_c(per_element, datatype, new))?;
    let whole = pieces(dimensions, element, count / per_element)?;
    let mut handle = whole.0;
    match PMPI_Type_commit(&raw mut handle) {
        SUCCESS => {}
        code => return Err(Refusal::Raised(code)),
    }
    core::mem::forget(whole);
    if let Some(lent) = shape.and_then(|shape| shape.keep(handle)) {
        return Ok(Some(Layout::kept(lent, count_passed, datatype_passed)));
    }
    Ok(Some(Layout { made: Some(handle as Int), lent: None, count: count_passed, datatype: datatype_passed }))
}

/// So many elements: whole slabs of the last dimension, then whole slabs of the one before in the next slab, and so on.
fn pieces(dimensions: &[Dimension], element: Made, mut elements: i64) -> Result<Made, Refusal> {
    let mut slabs: [Option<Made>; PIECES] = [const { None }; PIECES];
    let mut sizes = [1i64; PIECES];
    slabs[0] = Some(element);
    for (at, dimension) in dimensions.iter().enumerate() {
        let extent = dimension.extent as i64;
        sizes[at + 1] = sizes[at].saturating_mul(extent.max(1));
        let Some(inner) = &slabs[at] else { return Err(Refusal::TooShort) };
        let inner = inner.0;
        slabs[at + 1] =
            Some(made(|new| PMPI_Type_create_hvector_c(extent.max(0), 1, dimension.stride as i64, inner, new))?);
    }
    let rank = dimensions.len();
    if elements > sizes[rank] {
        return Err(Refusal::TooShort);
    }
    if elements == sizes[rank] {
        return slabs[rank].take().ok_or(Refusal::TooShort);
    }
    let (mut displacement, mut used) = (0, 0);
    let (mut displacements, mut types) = ([0i64; PIECES], [0usize; PIECES]);
    let mut parts: [Option<Made>; PIECES] = [const { None }; PIECES];
    for (at, dimension) in dimensions.iter().enumerate().rev() {
        let (whole, stride) = (elements / sizes[at], dimension.stride as i64);
        elements %= sizes[at];
        let Some(inner) = &slabs[at] else { return Err(Refusal::TooShort) };
        let part = made(|new| PMPI_Type_create_hvector_c(whole, 1, stride, inner.0, new))?;
        (displacements[used], types[used]) = (displacement, part.0);
        parts[used] = Some(part);
        used += 1;
        displacement += whole * stride;
    }
    let ones = [1i64; PIECES];
    made(|new| PMPI_Type_create_struct_c(used as i64, ones.as_ptr(), displacements.as_ptr(), types.as_mut_ptr(), new))
}
