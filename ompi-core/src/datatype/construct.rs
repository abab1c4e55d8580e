//! The constructors of derived datatypes, MPI 5.0 §5.1.2 to §5.1.4.
//!
//! Each serves the `int` function and its `_c` twin: a count comes as [`Number`], arrays as [`Counts`], and which
//! variant they are decides how MPI_Type_get_contents returns them. Old types are held by the new one, so their
//! handles may be freed. `Err(Count)` for a negative count, `Err(Arg)` for a negative block length or what does not
//! fit the address space.

use super::combiner::Combiner;
use super::object::{Contents, Datatype};
use crate::counts::Counts;
use crate::error::{Class, Fault, Result, no_room};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::Error;
use opal_core::datatype::Layout;

/// A count, block length or stride in either of the C interface's widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `int`.
    Int(i32),
    /// `MPI_Count`.
    Large(i64),
}

impl Number {
    /// Its value.
    pub fn get(self) -> i64 {
        match self {
            Number::Int(value) => value as i64,
            Number::Large(value) => value,
        }
    }

    fn count(self, name: &'static str, class: Class) -> Result<usize> {
        usize::try_from(self.get()).map_err(|_| negative(name, class, self.get()))
    }
}

/// MPI_Type_contiguous.
pub fn contiguous(count: Number, old: &Arc<Datatype>) -> Result<Datatype> {
    let layout = Layout::contiguous(count.count("count", Class::Count)?, &old.layout).map_err(too_large)?;
    Ok(made(layout, Combiner::Contiguous, Arguments::new().number(count).old(old)))
}

/// MPI_Type_vector; `stride` in extents of the old type.
pub fn vector(count: Number, block: Number, stride: Number, old: &Arc<Datatype>) -> Result<Datatype> {
    let (counted, blocks) = (count.count("count", Class::Count)?, block.count("blocklength", Class::Arg)?);
    let bytes = (stride.get() as isize).checked_mul(old.layout.extent()).ok_or(Error::Invalid).map_err(too_large)?;
    let layout = Layout::hvector(counted, blocks, bytes, &old.layout).map_err(too_large)?;
    Ok(made(layout, Combiner::Vector, Arguments::new().number(count).number(block).number(stride).old(old)))
}

/// MPI_Type_create_hvector; `stride` in bytes.
pub fn hvector(count: Number, block: Number, stride: i64, old: &Arc<Datatype>) -> Result<Datatype> {
    let (counted, blocks) = (count.count("count", Class::Count)?, block.count("blocklength", Class::Arg)?);
    let layout = Layout::hvector(counted, blocks, stride as isize, &old.layout).map_err(too_large)?;
    let arguments = Arguments::new().number(count).number(block).address(count, stride).old(old);
    Ok(made(layout, Combiner::Hvector, arguments))
}

/// MPI_Type_indexed; displacements in extents of the old type. Both arrays have `count` entries.
pub fn indexed(count: Number, lengths: Counts<'_>, displacements: Counts<'_>, old: &Arc<Datatype>) -> Result<Datatype> {
    let layout = blocks(count, |at| length(lengths, at), displacements, old.layout.extent(), old)?;
    let arguments = Arguments::new().number(count).numbers(lengths, count).numbers(displacements, count).old(old);
    Ok(made(layout, Combiner::Indexed, arguments))
}

/// MPI_Type_create_hindexed; displacements in bytes, always as `Counts::Large`.
pub fn hindexed(
    count: Number,
    lengths: Counts<'_>,
    displacements: Counts<'_>,
    old: &Arc<Datatype>,
) -> Result<Datatype> {
    let layout = blocks(count, |at| length(lengths, at), displacements, 1, old)?;
    let arguments = Arguments::new().number(count).numbers(lengths, count).addresses(count, displacements).old(old);
    Ok(made(layout, Combiner::Hindexed, arguments))
}

/// MPI_Type_create_indexed_block; displacements in extents of the old type.
pub fn indexed_block(count: Number, block: Number, displacements: Counts<'_>, old: &Arc<Datatype>) -> Result<Datatype> {
    let length = block.count("blocklength", Class::Arg)?;
    let layout = blocks(count, |_| Ok(length), displacements, old.layout.extent(), old)?;
    let arguments = Arguments::new().number(count).number(block).numbers(displacements, count).old(old);
    Ok(made(layout, Combiner::IndexedBlock, arguments))
}

/// MPI_Type_create_hindexed_block; displacements in bytes, always as `Counts::Large`.
pub fn hindexed_block(
    count: Number,
    block: Number,
    displacements: Counts<'_>,
    old: &Arc<Datatype>,
) -> Result<Datatype> {
    let length = block.count("blocklength", Class::Arg)?;
    let layout = blocks(count, |_| Ok(length), displacements, 1, old)?;
    let arguments = Arguments::new().number(count).number(block).addresses(count, displacements).old(old);
    Ok(made(layout, Combiner::HindexedBlock, arguments))
}

/// MPI_Type_create_struct; displacements in bytes, always as `Counts::Large`.
pub fn structure(
    count: Number,
    lengths: Counts<'_>,
    displacements: Counts<'_>,
    old: &[Arc<Datatype>],
) -> Result<Datatype> {
    let counted = count.count("count", Class::Count)?;
    let mut parts = reserve(counted)?;
    for (at, old) in old.iter().enumerate().take(counted) {
        parts.push((displacements.get(at), length(lengths, at)?, &old.layout));
    }
    let layout = Layout::structure(&parts).map_err(too_large)?;
    let mut arguments = Arguments::new().number(count).numbers(lengths, count).addresses(count, displacements);
    arguments.0.datatypes.extend_from_slice(&old[..counted]);
    Ok(made(layout, Combiner::Struct, arguments))
}

/// MPI_Type_create_resized; `large` for the `_c` twin.
pub fn resized(lb: i64, extent: i64, large: bool, old: &Arc<Datatype>) -> Result<Datatype> {
    let layout = old.layout.resized(lb as isize, extent as isize).map_err(too_large)?;
    let form = if large { Number::Large(0) } else { Number::Int(0) };
    Ok(made(layout, Combiner::Resized, Arguments::new().address(form, lb).address(form, extent).old(old)))
}

/// MPI_Type_dup: also committed if the old one is. Attributes are the caller's to copy.
pub fn dup(old: &Arc<Datatype>) -> Datatype {
    let contents = Arguments::new().old(old).0;
    let new = Datatype::made(old.layout.clone(), Combiner::Dup as i32, contents);
    if old.is_committed() {
        new.commit();
    }
    new
}

fn blocks(
    count: Number,
    length: impl Fn(usize) -> Result<usize>,
    displacements: Counts<'_>,
    unit: isize,
    old: &Arc<Datatype>,
) -> Result<Layout> {
    let count = count.count("count", Class::Count)?;
    let mut blocks = reserve(count)?;
    for at in 0..count {
        let start = displacements.get(at).checked_mul(unit).ok_or(Error::Invalid).map_err(too_large)?;
        blocks.push((start, length(at)?));
    }
    Layout::blocks(&blocks, &old.layout).map_err(too_large)
}

fn length(lengths: Counts<'_>, at: usize) -> Result<usize> {
    let value = lengths.get(at);
    usize::try_from(value).map_err(|_| negative("array_of_blocklengths", Class::Arg, value as i64))
}

fn reserve<T>(count: usize) -> Result<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(count).map_err(|_| no_room(count.saturating_mul(size_of::<T>())))?;
    Ok(all)
}

pub(super) fn made(layout: Layout, combiner: Combiner, arguments: Arguments) -> Datatype {
    Datatype::made(Arc::new(layout), combiner as i32, arguments.0)
}

/// Arguments in the order of the call.
pub(super) struct Arguments(pub Contents);

impl Arguments {
    pub fn new() -> Arguments {
        Arguments(Contents::default())
    }

    /// Counts, lengths, strides and displacements in elements: with the integers or the large counts.
    pub fn number(mut self, value: Number) -> Arguments {
        match value {
            Number::Int(value) => self.0.integers.push(value),
            Number::Large(value) => self.0.counts.push(value),
        }
        self
    }

    pub fn numbers(mut self, values: Counts<'_>, count: Number) -> Arguments {
        let count = count.get() as usize;
        match values {
            Counts::Int(values) => self.0.integers.extend_from_slice(&values[..count]),
            Counts::Large(values) => self.0.counts.extend_from_slice(&values[..count]),
        }
        self
    }

    /// Whatever the function's width: an `int`.
    pub fn integer(mut self, value: i32) -> Arguments {
        self.0.integers.push(value);
        self
    }

    /// A displacement in bytes: an address in the `int` function, a large count in its twin. `form` is any number of
    /// the same call.
    fn address(mut self, form: Number, value: i64) -> Arguments {
        match form {
            Number::Int(_) => self.0.addresses.push(value as isize),
            Number::Large(_) => self.0.counts.push(value),
        }
        self
    }

    fn addresses(mut self, count: Number, values: Counts<'_>) -> Arguments {
        let each = (0..count.get() as usize).map(|at| values.get(at));
        match count {
            Number::Int(_) => self.0.addresses.extend(each),
            Number::Large(_) => self.0.counts.extend(each.map(|value| value as i64)),
        }
        self
    }

    pub fn old(mut self, old: &Arc<Datatype>) -> Arguments {
        self.0.datatypes.push(old.clone());
        self
    }
}

#[cold]
fn negative(name: &'static str, class: Class, value: i64) -> Fault {
    Fault::new(class).argument(name).because(format!("{name} is {value}, it must not be negative"))
}

#[cold]
pub(super) fn too_large(error: Error) -> Fault {
    let why = match error {
        Error::OutOfResource => "the datatype is nested too deep",
        _ => "the datatype's bounds or size exceed the address space",
    };
    Fault::new(Class::Arg).because(why)
}
