//! Datatypes as one looks at them.

use alloc::string::String;
use core::fmt;
use ompi_core::datatype::Datatype;

/// An MPI datatype, to look at.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::traits::*;
///
/// let double = f64::equivalent_datatype();
/// assert_eq!((double.name().as_str(), double.size(), double.extent()), ("MPI_DOUBLE", 8, 8));
/// ```
#[derive(Clone, Copy)]
pub struct DatatypeRef<'a>(pub(crate) &'a Datatype);

impl DatatypeRef<'_> {
    /// Its name: the standard's, or one that was given.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// Bytes of data in one element.
    #[inline]
    pub fn size(&self) -> usize {
        self.0.layout.size()
    }

    /// Bytes from one element to the next.
    pub fn extent(&self) -> isize {
        self.0.layout.extent()
    }

    /// From the first byte of data to the last: first offset and length in bytes.
    pub fn true_extent(&self) -> (isize, isize) {
        (self.0.layout.true_lb(), self.0.layout.true_extent())
    }
}

impl fmt::Debug for DatatypeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatatypeRef")
            .field("name", &self.name())
            .field("size", &self.size())
            .field("extent", &self.extent())
            .finish()
    }
}
