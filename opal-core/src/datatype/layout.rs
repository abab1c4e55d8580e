//! Where the bytes of one element of a datatype lie.

use super::body::{Body, Builder, Run};
use super::element::Unit;
use super::signature::{Part, Signature};
use super::{Primitive, Scalar};
use crate::inspect::Fact;
use crate::{Error, Result};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The layout of one element; immutable, shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    size: usize,
    extent: isize,
    // Any number of elements in a row is one run that begins at the buffer's address.
    flat: bool,
    // The offset of the only run, if there is just one.
    single: Option<isize>,
    pub(super) body: Arc<Body>,
    bounds: Bounds,
    align: usize,
    primitive: Option<Primitive>,
    primitives: usize,
    pub(super) signature: Signature,
}

/// One of the two bounds of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// MPI_LB of MPI 1.1.
    Lower,
    /// MPI_UB.
    Upper,
}

/// Lower and upper bound, true ones and those that may be shifted; MPI 5.0 §5.1.6 to §5.1.8.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bounds {
    // None: no entry in the type map that says something about it.
    low: Option<Bound>,
    high: Option<Bound>,
    // None: no data.
    real: Option<(isize, isize)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    at: isize,
    // MPI_Type_create_resized was applied to it or to a part, or a part is a marker: such bounds outweigh all others.
    marked: bool,
}

impl Layout {
    /// Where size and extent lie, for debuggers ([`crate::inspect`]).
    pub const FACTS: [Fact; 2] = [
        Fact::number("layout.size", core::mem::offset_of!(Layout, size)),
        Fact::number("layout.extent", core::mem::offset_of!(Layout, extent)),
    ];

    /// One basic element at offset 0. `extent` may exceed the size of the data (long double, pairs).
    ///
    /// # Panics
    /// When runs overflow: they are constants of the caller.
    pub fn basic(primitive: Primitive, runs: &[Run], extent: usize, align: usize) -> Layout {
        Layout::narrowed(primitive, runs, extent, align, None)
    }

    /// As [`Layout::basic`] for an integer that has `narrow` bytes in the portable representation (MPI 5.0 §14.5.2).
    ///
    /// # Panics
    /// As `basic`.
    pub fn narrowed(primitive: Primitive, runs: &[Run], extent: usize, align: usize, narrow: Option<u8>) -> Layout {
        let mut builder = Builder::default();
        for run in runs {
            let one = Arc::new(single(run.bytes));
            builder.elements(run.offset, 1, run.bytes as isize, &one);
        }
        let body = builder.finish().expect("a basic type has no loops");
        let end = runs.iter().map(|run| run.offset + run.bytes as isize).max().unwrap_or(0);
        let (signature, primitives) = Signature::basic(primitive, narrow);
        let bounds = Bounds { real: Some((0, end)), ..Bounds::new(0, extent as isize, false) };
        Layout::assemble(body, bounds, align, Some(primitive), primitives, signature)
    }

    /// One basic element of so many bytes, aligned to a byte: an item of a file whose representation only the program knows.
    pub fn item(bytes: u32) -> Layout {
        let size = bytes as usize;
        let bounds = Bounds { real: Some((0, size as isize)), ..Bounds::new(0, size as isize, false) };
        Layout::assemble(Arc::new(single(size)), bounds, 1, None, 1, Signature::Uniform(Unit::opaque(bytes)))
    }

    /// Bytes of data in one element.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Distance from one element to the next.
    #[inline(always)]
    pub fn extent(&self) -> isize {
        self.extent
    }

    /// Lower bound.
    pub fn lb(&self) -> isize {
        self.bounds.declared().0
    }

    /// Where data begins.
    pub fn true_lb(&self) -> isize {
        self.bounds.real.unwrap_or_default().0
    }

    /// From where data begins to where it ends.
    pub fn true_extent(&self) -> isize {
        let (low, high) = self.bounds.real.unwrap_or_default();
        high - low
    }

    /// Calls back with every run of one element in the order of its type map.
    pub fn each_run(&self, each: &mut dyn FnMut(Run)) {
        self.body.each_run(0, each);
    }

    /// The basic type that all its data is made of, if there is just one.
    pub fn primitive(&self) -> Option<Primitive> {
        self.primitive
    }

    /// Number of basic elements in one element; a value with its index (MINLOC) is two.
    pub fn primitives(&self) -> usize {
        self.primitives
    }

    /// Bytes of one element in the portable representation (MPI 5.0 §14.5.2); never more than [`Layout::size`].
    pub fn external_size(&self) -> usize {
        self.signature.external(self.primitives)
    }

    /// Number of basic elements in the first `bytes` bytes of the packed data of any number of elements; `None` if
    /// they end within one. MPI 5.0 §5.1.11, MPI_Get_elements.
    pub fn elements_in(&self, bytes: usize) -> Option<usize> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let rest = self.signature.elements_in(bytes % self.size)?;
        (bytes / self.size).checked_mul(self.primitives)?.checked_add(rest)
    }

    /// Number of basic elements that lie wholly in the first `bytes` bytes of the packed data of any number of elements.
    pub fn elements_within(&self, bytes: usize) -> usize {
        match self.size {
            0 => 0,
            size => bytes / size * self.primitives + self.signature.elements_within(bytes % size),
        }
    }

    /// Bytes of the basic elements that lie wholly in the first `bytes` bytes of the portable representation of any number of
    /// elements: in memory, and there.
    pub fn bytes_of_external(&self, bytes: usize) -> (usize, usize) {
        let external = self.external_size();
        let Some(whole) = bytes.checked_div(external) else { return (0, 0) };
        let (here, there) = self.signature.bytes_of_external(bytes % external);
        (whole * self.size + here, whole * external + there)
    }

    /// Bytes of the first `elements` basic elements of any number of elements in a row; `None` when that overflows.
    pub fn bytes_of(&self, elements: usize) -> Option<usize> {
        if self.primitives == 0 {
            return (elements == 0).then_some(0);
        }
        let rest = self.signature.bytes_of(elements % self.primitives)?;
        (elements / self.primitives).checked_mul(self.size)?.checked_add(rest)
    }

    /// Whether any number of elements in a row is one run that begins at the buffer's address.
    #[inline(always)]
    pub fn is_contiguous(&self) -> bool {
        self.flat
    }

    /// Where the data of `count` elements lies from the buffer's address, if it is one run.
    #[inline(always)]
    pub fn run_of(&self, count: usize) -> Option<isize> {
        if self.flat {
            return Some(0);
        }
        let offset = self.single?;
        (count <= 1 || self.size as isize == self.extent).then_some(offset)
    }

    /// `count` elements in a row. MPI 5.0 §5.1.2, MPI_Type_contiguous.
    pub fn contiguous(count: usize, of: &Arc<Layout>) -> Result<Layout> {
        Layout::blocks(&[(0, count)], of)
    }

    /// `count` blocks of `block` elements, their starts `stride` bytes apart. MPI 5.0 §5.1.2, MPI_Type_create_hvector.
    pub fn hvector(count: usize, block: usize, stride: isize, of: &Arc<Layout>) -> Result<Layout> {
        if count == 0 || block == 0 {
            return Layout::blocks(&[], of);
        }
        let elements = count.checked_mul(block).ok_or(Error::Invalid)?;
        size_of_all(elements, of.size)?;
        let one = of.bounds.repeated(0, block, of.extent)?.rounded(of.align)?;
        let bounds = one.repeated(0, count, stride)?.rounded(of.align)?;
        let mut builder = Builder::default();
        match of.body.single() {
            Some(run) if block == 1 || of.extent == run.bytes as isize => {
                builder.strided(Run { offset: run.offset, bytes: run.bytes * block }, stride, count);
            }
            _ => {
                let mut one = Builder::default();
                one.elements(0, block, of.extent, &of.body);
                builder.elements(0, count, stride, &one.finish()?);
            }
        }
        let signature = Signature::repeated(of.part(elements))?;
        let primitives = of.primitives.checked_mul(elements).ok_or(Error::Invalid)?;
        Ok(Layout::assemble(builder.finish()?, bounds, of.align, of.primitive, primitives, signature))
    }

    /// Blocks of elements: byte displacement and number of elements of each, in order. MPI_Type_create_hindexed.
    ///
    /// `Err(Invalid)` when offsets or sizes do not fit.
    pub fn blocks(blocks: &[(isize, usize)], of: &Arc<Layout>) -> Result<Layout> {
        let mut builder = Builder::default();
        let mut bounds = Bounds::default();
        let mut elements = 0usize;
        for (start, count) in blocks.iter().filter(|(_, count)| *count > 0) {
            elements = elements.checked_add(*count).ok_or(Error::Invalid)?;
            bounds = bounds.with(&of.bounds.repeated(*start, *count, of.extent)?);
            size_of_all(elements, of.size)?;
            builder.elements(*start, *count, of.extent, &of.body);
        }
        let signature = Signature::repeated(of.part(elements))?;
        let primitives = of.primitives.checked_mul(elements).ok_or(Error::Invalid)?;
        // Nothing has neither a basic type nor an alignment.
        let (primitive, align) = if elements == 0 { (None, 1) } else { (of.primitive, of.align) };
        Ok(Layout::assemble(builder.finish()?, bounds.rounded(align)?, align, primitive, primitives, signature))
    }

    /// No data, and a bound at displacement 0 that outweighs those of data: a part of a structure as MPI 1.1 §3.12.3 has it.
    pub fn marker(which: Marker) -> Result<Layout> {
        let here = Some(Bound { at: 0, marked: true });
        let bounds = match which {
            Marker::Lower => Bounds { low: here, ..Bounds::default() },
            Marker::Upper => Bounds { high: here, ..Bounds::default() },
        };
        Ok(Layout::assemble(Builder::default().finish()?, bounds, 1, None, 0, Signature::sequence(Vec::new())?))
    }

    /// Blocks of different types: byte displacement, number of elements and type of each. MPI_Type_create_struct.
    pub fn structure(blocks: &[(isize, usize, &Arc<Layout>)]) -> Result<Layout> {
        let mut builder = Builder::default();
        let mut bounds = Bounds::default();
        let (mut align, mut size, mut primitives) = (1, 0usize, 0usize);
        let mut parts = Vec::new();
        let mut only: Option<Option<Primitive>> = None;
        for (start, count, of) in blocks.iter().filter(|(_, count, _)| *count > 0) {
            bounds = bounds.with(&of.bounds.repeated(*start, *count, of.extent)?);
            size = size.checked_add(size_of_all(*count, of.size)?).ok_or(Error::Invalid)?;
            size_of_all(1, size)?;
            builder.elements(*start, *count, of.extent, &of.body);
            let added = of.primitives.checked_mul(*count);
            primitives = added.and_then(|added| primitives.checked_add(added)).ok_or(Error::Invalid)?;
            align = align.max(of.align);
            parts.push(of.part(*count));
            if of.size > 0 {
                only = Some(only.map_or(of.primitive, |seen| if seen == of.primitive { seen } else { None }));
            }
        }
        let signature = Signature::sequence(parts)?;
        Ok(Layout::assemble(builder.finish()?, bounds.rounded(align)?, align, only.flatten(), primitives, signature))
    }

    /// The same data with other bounds. MPI 5.0 §5.1.7, MPI_Type_create_resized.
    pub fn resized(&self, lb: isize, extent: isize) -> Result<Layout> {
        let ub = lb.checked_add(extent).ok_or(Error::Invalid)?;
        let mut resized = self.clone();
        resized.bounds = Bounds { real: self.bounds.real, ..Bounds::new(lb, ub, true) };
        resized.settle();
        Ok(resized)
    }

    fn assemble(
        body: Arc<Body>,
        bounds: Bounds,
        align: usize,
        primitive: Option<Primitive>,
        primitives: usize,
        signature: Signature,
    ) -> Layout {
        let single = body.single().map(|run| run.offset);
        let mut layout = Layout {
            size: body.size,
            extent: 0,
            flat: false,
            single,
            body,
            bounds,
            align,
            primitive,
            primitives,
            signature,
        };
        layout.settle();
        layout
    }

    /// Derives from the bounds what the message path asks for.
    fn settle(&mut self) {
        let (low, high) = self.bounds.declared();
        self.extent = high - low;
        self.flat = self.size == 0 || self.single == Some(0) && self.size as isize == self.extent;
    }

    fn part(&self, count: usize) -> Part {
        Part {
            count,
            bytes: self.size,
            elements: self.primitives,
            external: self.external_size(),
            of: self.signature.clone(),
        }
    }
}

impl Bounds {
    fn new(low: isize, high: isize, marked: bool) -> Bounds {
        Bounds { low: Some(Bound { at: low, marked }), high: Some(Bound { at: high, marked }), real: None }
    }

    /// Lower and upper bound; 0 where no entry says something.
    fn declared(&self) -> (isize, isize) {
        let at = |bound: Option<Bound>| bound.map_or(0, |bound| bound.at);
        (at(self.low), at(self.high))
    }

    /// Of `count` elements, `stride` apart, the first at `start`.
    fn repeated(&self, start: isize, count: usize, stride: isize) -> Result<Bounds> {
        let count = isize::try_from(count).map_err(|_| Error::Invalid)?;
        let last = (count - 1).checked_mul(stride).ok_or(Error::Invalid)?;
        // Half the address space on either side: any difference of two such offsets fits, too.
        let fits = |value: isize| (-LIMIT..=LIMIT).contains(&value).then_some(value);
        let shift_low = |low: isize| low.checked_add(start)?.checked_add(last.min(0)).and_then(fits);
        let shift_high = |high: isize| high.checked_add(start)?.checked_add(last.max(0)).and_then(fits);
        let shifted = |bound: Option<Bound>, shift: &dyn Fn(isize) -> Option<isize>| match bound {
            None => Ok(None),
            Some(bound) => Ok(Some(Bound { at: shift(bound.at).ok_or(Error::Invalid)?, ..bound })),
        };
        let real = match self.real {
            None => None,
            Some((low, high)) => Some(shift_low(low).zip(shift_high(high)).ok_or(Error::Invalid)?),
        };
        Ok(Bounds { low: shifted(self.low, &shift_low)?, high: shifted(self.high, &shift_high)?, real })
    }

    /// Unless a part marks the upper bound: with an extent that is a multiple of the strictest alignment (MPI 5.0 §5.1.6).
    fn rounded(self, align: usize) -> Result<Bounds> {
        let Some(Bound { at: high, marked: false }) = self.high else { return Ok(self) };
        let (low, _) = self.declared();
        let at = low.checked_add(round_up(high - low, align)?).ok_or(Error::Invalid)?;
        Ok(Bounds { high: Some(Bound { at, marked: false }), ..self })
    }

    /// Of both together.
    fn with(&self, other: &Bounds) -> Bounds {
        let real = match (self.real, other.real) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, None) | (None, one) => one,
        };
        Bounds {
            low: stronger(self.low, other.low, isize::min),
            high: stronger(self.high, other.high, isize::max),
            real,
        }
    }
}

/// The marked one; of two that are equal in this, the outer one.
fn stronger(a: Option<Bound>, b: Option<Bound>, outer: fn(isize, isize) -> isize) -> Option<Bound> {
    match (a, b) {
        (Some(a), Some(b)) if a.marked == b.marked => Some(Bound { at: outer(a.at, b.at), ..a }),
        (Some(a), Some(b)) => Some(if a.marked { a } else { b }),
        (one, None) | (None, one) => one,
    }
}

fn size_of_all(count: usize, size: usize) -> Result<usize> {
    let total = count.checked_mul(size).ok_or(Error::Invalid)?;
    if total <= LIMIT as usize { Ok(total) } else { Err(Error::Invalid) }
}

fn single(bytes: usize) -> Body {
    Body::of_run(Run { offset: 0, bytes })
}

fn round_up(extent: isize, align: usize) -> Result<isize> {
    let align = isize::try_from(align).map_err(|_| Error::Invalid)?;
    let above = extent.rem_euclid(align);
    if above == 0 { Ok(extent) } else { extent.checked_add(align - above).ok_or(Error::Invalid) }
}

/// The largest offset and size.
const LIMIT: isize = isize::MAX / 2;

impl Primitive {
    /// Whether it is a value with an index, for MINLOC and MAXLOC.
    pub const fn is_pair(self) -> bool {
        matches!(self.scalar, Scalar::FloatInt | Scalar::SignedInt | Scalar::FloatPair)
    }
}
