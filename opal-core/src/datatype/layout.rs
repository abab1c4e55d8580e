//! Where the bytes of one element of a datatype lie.

use super::Primitive;
use crate::{Error, Result};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes that lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// From the element's address.
    pub offset: isize,
    /// Length.
    pub bytes: usize,
}

/// The layout of one element; immutable, shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    size: usize,
    lb: isize,
    extent: isize,
    true_lb: isize,
    true_extent: isize,
    align: usize,
    runs: Vec<Run>,
    primitive: Option<Primitive>,
    primitives: usize,
}

impl Layout {
    /// One basic element at offset 0. `extent` may exceed the size of the data (long double, pairs).
    pub fn basic(primitive: Primitive, runs: &[Run], extent: usize, align: usize) -> Layout {
        let size = runs.iter().map(|run| run.bytes).sum();
        let true_extent = runs.last().map_or(0, |run| run.offset + run.bytes as isize);
        Layout {
            size,
            lb: 0,
            extent: extent as isize,
            true_lb: 0,
            true_extent,
            align,
            runs: runs.to_vec(),
            primitive: Some(primitive),
            primitives: 1,
        }
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
        self.lb
    }

    /// Where data begins.
    pub fn true_lb(&self) -> isize {
        self.true_lb
    }

    /// From where data begins to where it ends.
    pub fn true_extent(&self) -> isize {
        self.true_extent
    }

    /// The runs of one element in the order of its type map.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The basic type that all its data is made of, if there is just one.
    pub fn primitive(&self) -> Option<Primitive> {
        self.primitive
    }

    /// Number of basic elements in one element.
    pub fn primitives(&self) -> usize {
        self.primitives
    }

    /// Whether any number of elements in a row is one run that begins at the buffer's address.
    #[inline(always)]
    pub fn is_contiguous(&self) -> bool {
        self.size as isize == self.extent && self.true_lb == 0 && self.runs.len() <= 1
    }

    /// `count` elements in a row. MPI 5.0 §5.1.2, MPI_Type_contiguous.
    pub fn contiguous(count: usize, of: &Arc<Layout>) -> Result<Layout> {
        Layout::blocks(&[(0, count)], of)
    }

    /// `count` blocks of `block` elements, their starts `stride` bytes apart. MPI 5.0 §5.1.2, MPI_Type_create_hvector.
    pub fn hvector(count: usize, block: usize, stride: isize, of: &Arc<Layout>) -> Result<Layout> {
        let starts: Vec<(isize, usize)> = (0..count as isize).map(|index| (index * stride, block)).collect();
        Layout::blocks(&starts, of)
    }

    /// Blocks of elements: byte displacement and number of elements of each, in order.
    pub fn blocks(blocks: &[(isize, usize)], of: &Arc<Layout>) -> Result<Layout> {
        let mut runs: Vec<Run> = Vec::new();
        let mut bounds: Option<(isize, isize)> = None;
        let mut elements = 0usize;
        for (start, count) in blocks.iter().filter(|(_, count)| *count > 0) {
            elements = elements.checked_add(*count).ok_or(Error::Invalid)?;
            let last = start + of.extent * (*count as isize - 1);
            let (low, high) = (*start.min(&last) + of.lb, *start.max(&last) + of.lb + of.extent);
            bounds = Some(bounds.map_or((low, high), |(l, h)| (low.min(l), high.max(h))));
            if of.is_contiguous() {
                push_merged(&mut runs, Run { offset: *start, bytes: of.size * count });
                continue;
            }
            for index in 0..*count as isize {
                for run in &of.runs {
                    push_merged(&mut runs, Run { offset: start + index * of.extent + run.offset, bytes: run.bytes });
                }
            }
        }
        let (lb, ub) = bounds.unwrap_or((0, 0));
        let true_lb = runs.iter().map(|run| run.offset).min().unwrap_or(0);
        let true_ub = runs.iter().map(|run| run.offset + run.bytes as isize).max().unwrap_or(0);
        Ok(Layout {
            size: of.size.checked_mul(elements).ok_or(Error::Invalid)?,
            lb,
            extent: ub - lb,
            true_lb,
            true_extent: true_ub - true_lb,
            align: of.align,
            runs: if runs.is_empty() { vec![] } else { runs },
            primitive: of.primitive,
            primitives: of.primitives * elements,
        })
    }
}

fn push_merged(runs: &mut Vec<Run>, run: Run) {
    if run.bytes == 0 {
        return;
    }
    match runs.last_mut() {
        Some(last) if last.offset + last.bytes as isize == run.offset => last.bytes += run.bytes,
        _ => runs.push(run),
    }
}
