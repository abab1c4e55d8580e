//! Datatypes that a program makes: parts of arrays. MPI 5.0 §5.1.

use super::lasting::shared;
use super::{DatatypeRef, Equivalence};
use crate::Result;
use crate::life::OneThread;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use ompi_core::data::Counts;
use ompi_core::datatype::{self, Datatype, Number, Order};
use ompi_core::error::Result as Inner;

/// A datatype of values of type `T` at places of an array: a column, a halo, a block of a grid. A
/// [`View`](super::View) shows it on a buffer.
///
/// ```
/// # let mut universe = test_singleton::universe();
/// # universe.set_buffer_size(4096)?;
/// use ompi::{datatype::{UserDatatype, View, ViewMut}, traits::*};
///
/// // The second column of a matrix of 3 rows and 4 columns goes to the last column of another one.
/// let matrix: Vec<f64> = (0..12).map(f64::from).collect();
/// let mut other = vec![0.0; 12];
/// let column = UserDatatype::<f64>::vector(3, 1, 4)?;
/// let world = universe.world();
/// world.this_process().buffered_send(&View::new(&matrix, 1, 1, &column)?)?;
/// world.any_process().receive_into(&mut ViewMut::new(&mut other, 3, 1, &column)?)?;
/// assert_eq!([other[3], other[7], other[11]], [1.0, 5.0, 9.0]);
/// # Ok::<(), ompi::Error>(())
/// ```
pub struct UserDatatype<T> {
    kept: Arc<Datatype>,
    handle: usize,
    of: PhantomData<T>,
    here: OneThread,
}

impl<T: Equivalence> UserDatatype<T> {
    /// `count` values, one after the other.
    pub fn contiguous(count: usize) -> Result<UserDatatype<T>> {
        UserDatatype::made(datatype::contiguous(number(count), &value::<T>()?))
    }

    /// `count` blocks of `length` values that begin `stride` values apart.
    pub fn vector(count: usize, length: usize, stride: isize) -> Result<UserDatatype<T>> {
        let stride = Number::Large(stride as i64);
        UserDatatype::made(datatype::vector(number(count), number(length), stride, &value::<T>()?))
    }

    /// Blocks of `lengths` values that begin at the values `displacements`: `(length, displacement)` each.
    pub fn indexed(blocks: &[(usize, isize)]) -> Result<UserDatatype<T>> {
        let lengths: Vec<i64> = blocks.iter().map(|(length, _)| *length as i64).collect();
        let places: Vec<i64> = blocks.iter().map(|(_, place)| *place as i64).collect();
        let count = number(blocks.len());
        UserDatatype::made(datatype::indexed(count, Counts::Large(&lengths), Counts::Large(&places), &value::<T>()?))
    }

    /// Blocks of `length` values each that begin at the values `displacements`.
    pub fn indexed_block(length: usize, displacements: &[isize]) -> Result<UserDatatype<T>> {
        let places: Vec<i64> = displacements.iter().map(|place| *place as i64).collect();
        let count = number(displacements.len());
        UserDatatype::made(datatype::indexed_block(count, number(length), Counts::Large(&places), &value::<T>()?))
    }

    /// The part of an array of `sizes` that begins at `starts` and is `subsizes` long, the last dimension's values being
    /// neighbours. `Err(Arg)` if it is not inside.
    ///
    /// ```
    /// # let mut universe = test_singleton::universe();
    /// # universe.set_buffer_size(4096)?;
    /// use ompi::{datatype::{UserDatatype, View}, traits::*};
    ///
    /// let grid: Vec<i32> = (0..20).collect();
    /// let inner = UserDatatype::<i32>::subarray([4, 5], [2, 3], [1, 1])?;
    /// let world = universe.world();
    /// world.this_process().buffered_send(&View::new(&grid, 0, 1, &inner)?)?;
    /// assert_eq!(world.any_process().receive_vec::<i32>()?.0, [6, 7, 8, 11, 12, 13]);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    pub fn subarray<const D: usize>(
        sizes: [usize; D],
        subsizes: [usize; D],
        starts: [usize; D],
    ) -> Result<UserDatatype<T>> {
        let [sizes, subsizes, starts] = [sizes, subsizes, starts].map(|all| all.map(|one| one as i64));
        let [sizes, subsizes, starts] = [&sizes, &subsizes, &starts].map(|all| Counts::Large(all));
        UserDatatype::made(datatype::subarray(sizes, subsizes, starts, D, Order::C, &value::<T>()?))
    }

    /// The same data with elements that begin `extent` values apart: so that several columns lie side by side.
    pub fn resized(&self, extent: isize) -> Result<UserDatatype<T>> {
        let extent = extent as i64 * size_of::<T>() as i64;
        UserDatatype::made(datatype::resized(self.kept.layout.lb() as i64, extent, true, &self.kept))
    }

    /// `count` of these, one extent after the other.
    pub fn repeated(&self, count: usize) -> Result<UserDatatype<T>> {
        UserDatatype::made(datatype::contiguous(number(count), &self.kept))
    }

    /// `count` blocks of `length` of these, which begin `stride` extents apart.
    pub fn strided(&self, count: usize, length: usize, stride: isize) -> Result<UserDatatype<T>> {
        let stride = Number::Large(stride as i64);
        UserDatatype::made(datatype::vector(number(count), number(length), stride, &self.kept))
    }

    /// As one looks at it.
    pub fn as_datatype(&self) -> DatatypeRef<'_> {
        DatatypeRef(&self.kept)
    }

    fn made(made: Inner<Datatype>) -> Result<UserDatatype<T>> {
        let made = made?;
        made.commit();
        let kept = Arc::new(made);
        let handle = datatype::register(kept.clone())?;
        Ok(UserDatatype { kept, handle, of: PhantomData, here: PhantomData })
    }
}

/// Fields of any types at offsets in bytes, for views of bytes.
impl UserDatatype<u8> {
    /// Blocks of `(count, offset in bytes, datatype)`.
    ///
    /// ```
    /// # let mut universe = test_singleton::universe();
    /// # universe.set_buffer_size(4096)?;
    /// use ompi::{datatype::{UserDatatype, View}, traits::*};
    ///
    /// // A record of a file: 4 bytes of length, 4 bytes that nobody needs, a number.
    /// let fields = [(1, 0, u32::equivalent_datatype()), (1, 8, f64::equivalent_datatype())];
    /// let record = UserDatatype::structured(&fields)?;
    /// let bytes = [0u8; 16];
    /// let world = universe.world();
    /// world.this_process().buffered_send(&View::new(&bytes, 0, 1, &record)?)?;
    /// assert_eq!(world.any_process().receive_into(&mut [1u8; 16])?.bytes(), 12);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    pub fn structured(fields: &[(usize, isize, DatatypeRef<'_>)]) -> Result<UserDatatype<u8>> {
        let counts: Vec<i64> = fields.iter().map(|(count, ..)| *count as i64).collect();
        let offsets: Vec<i64> = fields.iter().map(|(_, offset, _)| *offset as i64).collect();
        let types: Vec<Arc<Datatype>> = fields.iter().map(|(.., datatype)| shared(*datatype)).collect();
        let (counts, offsets) = (Counts::Large(&counts), Counts::Large(&offsets));
        UserDatatype::made(datatype::structure(number(fields.len()), counts, offsets, &types))
    }
}

impl<T> Drop for UserDatatype<T> {
    fn drop(&mut self) {
        // What it was is held by whoever still uses it.
        drop(datatype::remove(self.handle));
    }
}

impl<T> fmt::Debug for UserDatatype<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UserDatatype").field(&DatatypeRef(&self.kept)).finish()
    }
}

/// The datatype of one value.
fn value<T: Equivalence>() -> Inner<Arc<Datatype>> {
    let element = shared(T::equivalent_datatype());
    match T::COUNT {
        1 => Ok(element),
        count => datatype::contiguous(number(count), &element).map(Arc::new),
    }
}

fn number(count: usize) -> Number {
    Number::Large(count as i64)
}
