//! Reduction operations: kernels that combine two arrays of one basic type.
#![allow(unsafe_code)] // linkme's expansion; the cache of function pointers

use alloc::vec::Vec;
use core::ptr::null_mut;
use opal_core::datatype::Primitive;
use opal_core::mca;
use opal_core::sort;
use opal_core::sync::{AtomicPtr, Once, Ordering};

pub mod formulas;
pub mod loops;

/// The predefined operations of MPI 5.0 §6.9.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the standard's names
pub enum Operation {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    Replace,
    NoOp,
}

/// `out[i] = first[i] op second[i]` for `count` elements. `out` may be where `second` is.
pub type Kernel = unsafe fn(first: *const u8, second: *const u8, out: *mut u8, count: usize);

/// A source of kernels.
pub trait Component: mca::Component {
    /// Priority after `open`, which may look at CPUID.
    fn query(&self) -> core::result::Result<i32, mca::Declined>;

    /// The kernel for an operation on a basic type, if there is one.
    fn kernel(&self, operation: Operation, primitive: Primitive) -> Option<Kernel>;
}

opal_core::framework! {
    /// Kernels of the predefined reduction operations.
    "op", Ompi, version 1, ManyOfMany, OMPI_OPS: dyn Component
}

static SELECTED: Once<Vec<&'static dyn Component>> = Once::new();

/// Opens the components and sorts them by priority, once. Without it the first operation does so.
pub fn select() -> opal_core::Result<()> {
    if SELECTED.get().is_some() {
        return Ok(());
    }
    let mut bids: Vec<(i32, &'static dyn Component)> = Vec::new();
    for component in mca::open(&FRAMEWORK, &OMPI_OPS)? {
        match component.query() {
            Ok(priority) => {
                mca::select::record(component.info(), mca::select::Verdict::Chosen(Some(priority)));
                bids.push((priority, component));
            }
            Err(mca::Declined(why)) => {
                component.close();
                mca::select::record(component.info(), mca::select::Verdict::Declined(why));
            }
        }
    }
    sort::by_key(&mut bids, |(priority, _)| core::cmp::Reverse(*priority));
    SELECTED.call_once(|| bids.into_iter().map(|(_, component)| component).collect());
    Ok(())
}

/// The best kernel for an operation on a basic type; looked up once, then a load from a table.
#[inline]
pub fn kernel(operation: Operation, primitive: Primitive) -> Option<Kernel> {
    // Relaxed: what is stored is the address of code, which nobody writes.
    let known = CACHE[slot(operation, primitive)].load(Ordering::Relaxed);
    if known.is_null() || known == none() {
        return if known.is_null() { look_up(operation, primitive) } else { None };
    }
    // SAFETY: what is neither null nor the mark for "none" was stored by `look_up` from a `Kernel`.
    Some(unsafe { core::mem::transmute::<*mut (), Kernel>(known) })
}

#[cold]
fn look_up(operation: Operation, primitive: Primitive) -> Option<Kernel> {
    select().ok()?;
    let found = SELECTED.get()?.iter().find_map(|component| component.kernel(operation, primitive));
    let address = found.map_or(none(), |kernel| kernel as *mut ());
    CACHE[slot(operation, primitive)].store(address, Ordering::Relaxed);
    found
}

/// Marks that no component has it.
fn none() -> *mut () {
    core::ptr::without_provenance_mut(1)
}

const SCALARS: usize = 16;
// A basic type has 1, 2, 4, 8, 16 or 32 bytes.
const SIZES: usize = 8;
const OPERATIONS: usize = 14;

static CACHE: [AtomicPtr<()>; OPERATIONS * SCALARS * SIZES] =
    [const { AtomicPtr::new(null_mut()) }; OPERATIONS * SCALARS * SIZES];

fn slot(operation: Operation, primitive: Primitive) -> usize {
    let size = primitive.bytes.max(1).ilog2() as usize;
    (operation as usize * SCALARS + primitive.scalar as usize) * SIZES + size
}
