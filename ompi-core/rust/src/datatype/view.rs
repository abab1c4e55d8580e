//! Buffers of which only some places are sent or received into.
#![allow(unsafe_code)] // promises about memory

use super::{Buffer, BufferMut, DatatypeRef, Equivalence, UserDatatype};
use crate::{Error, ErrorClass, Result};
use alloc::format;

/// Elements of a [`UserDatatype`] in a slice, to be sent.
#[derive(Debug)]
pub struct View<'b, T> {
    buffer: &'b [T],
    place: Place<'b, T>,
}

/// As [`View`], to be received into.
///
/// Two at the same time must have slices of their own:
///
/// ```compile_fail
/// # let universe = test_singleton::universe();
/// # use ompi::datatype::{UserDatatype, ViewMut};
/// let column = UserDatatype::<f64>::vector(3, 1, 4)?;
/// let mut matrix = [0.0; 12];
/// let first = ViewMut::new(&mut matrix, 0, 1, &column)?;
/// let second = ViewMut::new(&mut matrix, 1, 1, &column)?;
/// drop((first, second));
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Debug)]
pub struct ViewMut<'b, T> {
    buffer: &'b mut [T],
    place: Place<'b, T>,
}

#[derive(Debug)]
struct Place<'b, T> {
    offset: usize,
    count: usize,
    datatype: &'b UserDatatype<T>,
}

impl<'b, T: Equivalence> View<'b, T> {
    /// `count` elements, of which the first is addressed at the value `offset`. `Err(Disp)` if one of them reaches beyond
    /// the slice.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::datatype::{UserDatatype, View};
    ///
    /// let column = UserDatatype::<f64>::vector(3, 1, 4)?;
    /// assert!(View::new(&[0.0; 12], 3, 1, &column).is_ok());
    /// assert!(View::new(&[0.0; 12], 4, 1, &column).is_err());
    /// assert!(View::new(&[0.0; 12], 0, 2, &column).is_err());
    /// assert!(View::new(&[0.0; 12], 0, 4, &column.resized(1)?).is_ok());
    /// # Ok::<(), ompi::Error>(())
    /// ```
    pub fn new(buffer: &'b [T], offset: usize, count: usize, datatype: &'b UserDatatype<T>) -> Result<View<'b, T>> {
        Ok(View { place: Place::new(buffer.len(), offset, count, datatype)?, buffer })
    }
}

impl<'b, T: Equivalence> ViewMut<'b, T> {
    /// As [`View::new`].
    pub fn new(
        buffer: &'b mut [T],
        offset: usize,
        count: usize,
        datatype: &'b UserDatatype<T>,
    ) -> Result<ViewMut<'b, T>> {
        Ok(ViewMut { place: Place::new(buffer.len(), offset, count, datatype)?, buffer })
    }
}

impl<'b, T: Equivalence> Place<'b, T> {
    fn new(length: usize, offset: usize, count: usize, datatype: &'b UserDatatype<T>) -> Result<Place<'b, T>> {
        let shape = datatype.as_datatype();
        let (first, bytes) = shape.true_extent();
        // In i128, so that nothing overflows.
        let (offset_bytes, extent) = (offset as i128 * size_of::<T>() as i128, shape.extent() as i128);
        let last = extent * (count as i128 - 1);
        let from = offset_bytes + first as i128 + last.min(0);
        let to = offset_bytes + first as i128 + bytes as i128 + last.max(0);
        if count == 0 || shape.size() == 0 || from >= 0 && to <= (length * size_of::<T>()) as i128 {
            return Ok(Place { offset, count, datatype });
        }
        let why = format!(
            "{count} elements from value {offset} on are bytes {from} to {to} of a slice of {} bytes",
            length * size_of::<T>()
        );
        Err(Error::new(ErrorClass::Disp, "datatype", why))
    }
}

// SAFETY: `Place::new` has seen that no element reaches beyond the slice. A datatype of `T` names whole values at the
// places of values, which any bytes may fill; one of `u8` any bytes.
unsafe impl<T: Equivalence> Buffer for View<'_, T> {
    fn pointer(&self) -> *const u8 {
        self.buffer.as_ptr().wrapping_add(self.place.offset).cast()
    }

    fn count(&self) -> usize {
        self.place.count
    }

    fn as_datatype(&self) -> DatatypeRef<'_> {
        self.place.datatype.as_datatype()
    }
}

// SAFETY: as above.
unsafe impl<T: Equivalence> Buffer for ViewMut<'_, T> {
    fn pointer(&self) -> *const u8 {
        self.buffer.as_ptr().wrapping_add(self.place.offset).cast()
    }

    fn count(&self) -> usize {
        self.place.count
    }

    fn as_datatype(&self) -> DatatypeRef<'_> {
        self.place.datatype.as_datatype()
    }
}

// SAFETY: as above; the slice is borrowed mutably.
unsafe impl<T: Equivalence> BufferMut for ViewMut<'_, T> {
    fn pointer_mut(&mut self) -> *mut u8 {
        self.buffer.as_mut_ptr().wrapping_add(self.place.offset).cast()
    }
}
