//! MINLOC and MAXLOC: values with an index (MPI 5.0 §6.9.4).

use ompi_core::framework::op::formulas::{Combine, is_nan};

/// A value and its index, laid out as the C struct that the standard describes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Pair<V, I> {
    /// What is compared.
    pub value: V,
    /// Where it came from.
    pub index: I,
}

/// MPI_MINLOC.
pub struct Minloc;
/// MPI_MAXLOC.
pub struct Maxloc;

impl<V: Copy + PartialOrd, I: Copy + PartialOrd> Combine<Pair<V, I>> for Minloc {
    #[inline(always)]
    fn apply(a: Pair<V, I>, b: Pair<V, I>) -> Pair<V, I> {
        choose(a, b, a.value < b.value)
    }
}

impl<V: Copy + PartialOrd, I: Copy + PartialOrd> Combine<Pair<V, I>> for Maxloc {
    #[inline(always)]
    fn apply(a: Pair<V, I>, b: Pair<V, I>) -> Pair<V, I> {
        choose(a, b, a.value > b.value)
    }
}

#[inline(always)]
fn choose<V: Copy + PartialOrd, I: Copy + PartialOrd>(a: Pair<V, I>, b: Pair<V, I>, first: bool) -> Pair<V, I> {
    let (nan_a, nan_b) = (is_nan(a.value), is_nan(b.value));
    let tie = a.value == b.value || nan_a && nan_b;
    if first || nan_a && !nan_b || tie && a.index < b.index { a } else { b }
}
