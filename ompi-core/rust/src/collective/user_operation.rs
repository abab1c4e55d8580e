//! Operations of the program for reductions. MPI 5.0 §6.9.5.
#![allow(unsafe_code)] // the library calls back with addresses

use super::operation::{Operation, sealed};
use crate::datatype::Equivalence;
use crate::raw;
use alloc::boxed::Box;
use core::ffi::c_void;
use core::fmt;
use core::marker::PhantomData;
use ompi_core::data::{self, Data};
use ompi_core::datatype::Datatype;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::op::Op;

/// A closure that combines two values: `operation(left, right)` leaves the result in `right`. It must be associative.
///
/// A panic in it ends the process: it runs in the middle of the library.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{collective::UserOperation, traits::*};
///
/// let world = universe.world();
/// let modulus = 1_000_003;
/// let product = UserOperation::commutative(|left: &u64, right: &mut u64| *right = *left * *right % modulus);
/// let mut all = 0;
/// world.all_reduce_into(&2u64, &mut all, &product)?;
/// assert_eq!(all, (0..world.size()).fold(1, |all, _| all * 2 % modulus));
/// # Ok::<(), ompi::Error>(())
/// ```
pub struct UserOperation<'f, T> {
    function: Box<Function<'f, T>>,
    commutative: bool,
    of: PhantomData<T>,
}

/// Any thread that calls MPI may run it.
type Function<'f, T> = dyn Fn(&T, &mut T) + Send + Sync + 'f;

impl<'f, T: Equivalence> UserOperation<'f, T> {
    /// One for which the order of the operands does not matter.
    pub fn commutative(function: impl Fn(&T, &mut T) + Send + Sync + 'f) -> UserOperation<'f, T> {
        UserOperation::new(function, true)
    }

    /// One whose left operand always comes from the lower ranks.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::{collective::UserOperation, traits::*};
    ///
    /// let world = universe.world();
    /// let last = UserOperation::associative(|_: &i32, _: &mut i32| {});
    /// let mut rank = -1;
    /// world.all_reduce_into(&world.rank(), &mut rank, &last)?;
    /// assert_eq!(rank, world.size() - 1);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    pub fn associative(function: impl Fn(&T, &mut T) + Send + Sync + 'f) -> UserOperation<'f, T> {
        UserOperation::new(function, false)
    }

    fn new(function: impl Fn(&T, &mut T) + Send + Sync + 'f, commutative: bool) -> UserOperation<'f, T> {
        // The library may combine any number of elements at a time.
        const { assert!(T::COUNT == 1, "an array is several elements: derive Equivalence for a struct that holds it") }
        UserOperation { function: Box::new(function), commutative, of: PhantomData }
    }
}

impl<T: Equivalence> sealed::Combines for &UserOperation<'_, T> {
    fn op(&self, datatype: &Datatype) -> Result<Op> {
        if !core::ptr::eq(datatype, T::equivalent_datatype().0) {
            let why = "the operation is for another type than that of the buffers";
            return Err(Fault::new(Class::Op).argument("op").because(why));
        }
        let captured = core::ptr::from_ref::<Box<Function<'_, T>>>(&self.function).expose_provenance();
        Ok(Op::Closure { function: combine::<T>, captured, commutative: self.commutative })
    }
}

impl<T: Equivalence> Operation for &UserOperation<'_, T> {}

/// Combines `count` elements. As an `extern "C"` function it ends the process when the closure panics.
///
/// # Safety
/// `function` is that of a living [`UserOperation`] for `T`; the rest as [`Op::reduce`] says for its datatype.
unsafe extern "C" fn combine<T: Equivalence>(function: *const c_void, input: *const u8, inout: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    let function = unsafe { &*function.cast::<Box<Function<'_, T>>>() };
    let datatype = T::equivalent_datatype().0;
    let element = |at: *mut u8, index| Data { at, count: 1, datatype }.at_element(index as isize, 1);
    for index in 0..count {
        let (mut left, mut right) = (raw::zeroed::<T>(), raw::zeroed::<T>());
        let (from, to) = (element(input.cast_mut(), index), element(inout, index));
        // Element by element through the datatype: the library's own room holds neither padding nor Rust's alignment.
        // SAFETY: one element there, one value here.
        let read = unsafe { data::copy(&from, &raw::target(&mut left)) };
        // SAFETY: as above.
        let read = read.and(unsafe { data::copy(&to, &raw::target(&mut right)) });
        function(&left, &mut right);
        // SAFETY: as above.
        let written = unsafe { data::copy(&raw::source(&right), &to) };
        read.and(written).expect("an element is as long as its value");
    }
}

impl<T> fmt::Debug for UserOperation<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserOperation").field("commutative", &self.commutative).finish_non_exhaustive()
    }
}
