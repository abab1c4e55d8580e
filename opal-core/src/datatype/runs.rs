//! Where the bytes from some position of the packed data on lie: what a view of a file asks, element after element.
//!
//! As in `walk.rs` every level finds its turn by a division, so that the way to any position is short and nothing is listed
//! beforehand.

use super::Layout;
use super::body::{Block, Body, Run};

impl Layout {
    /// Calls back with the places of `bytes` packed bytes from byte `skip` on, of as many elements in a row as it takes, in the
    /// order of the type map, until `each` says that it has enough. False if it did.
    ///
    /// Offsets count from the first element and wrap where they do not fit; who asks keeps elements below that.
    pub fn runs_from(&self, skip: usize, bytes: usize, each: &mut dyn FnMut(Run) -> bool) -> bool {
        if bytes == 0 || self.size() == 0 {
            return true;
        }
        turns(&self.body, 0, self.extent(), skip, bytes, each)
    }

    /// How many bytes of one element lie before an offset from it.
    pub fn bytes_below(&self, offset: isize) -> usize {
        let mut bytes = 0;
        self.each_run(&mut |run| {
            let below = offset.saturating_sub(run.offset);
            bytes += usize::try_from(below).unwrap_or(0).min(run.bytes);
        });
        bytes
    }
}

/// `bytes` bytes from byte `skip` on of turns of a body, `stride` apart.
fn turns(
    body: &Body,
    base: isize,
    stride: isize,
    skip: usize,
    bytes: usize,
    each: &mut dyn FnMut(Run) -> bool,
) -> bool {
    if let [Block::Run(run)] = body.blocks[..] {
        let first = base.wrapping_add(run.offset);
        return cut(run.bytes, skip, bytes, |turn, skip, bytes| {
            each(Run { offset: at(at(first, turn, stride), skip, 1), bytes })
        });
    }
    cut(body.size, skip, bytes, |turn, skip, bytes| part(body, at(base, turn, stride), skip, bytes, each))
}

/// `bytes` bytes from byte `skip` on of one turn.
fn part(body: &Body, base: isize, skip: usize, bytes: usize, each: &mut dyn FnMut(Run) -> bool) -> bool {
    let mut index = body.ends.partition_point(|end| *end <= skip);
    let (mut position, end) = (skip, skip + bytes);
    while position < end {
        let begins = if index == 0 { 0 } else { body.ends[index - 1] };
        let until = end.min(body.ends[index]);
        if !part_of(&body.blocks[index], base, position - begins, until - position, each) {
            return false;
        }
        (position, index) = (until, index + 1);
    }
    true
}

fn part_of(block: &Block, base: isize, skip: usize, bytes: usize, each: &mut dyn FnMut(Run) -> bool) -> bool {
    match block {
        Block::Run(run) => each(Run { offset: at(base, skip, 1).wrapping_add(run.offset), bytes }),
        Block::Strided { run, stride, .. } => {
            let first = base.wrapping_add(run.offset);
            cut(run.bytes, skip, bytes, |turn, skip, bytes| {
                each(Run { offset: at(at(first, turn, *stride), skip, 1), bytes })
            })
        }
        Block::Indexed { offsets, shift, bytes: size } => {
            let first = base.wrapping_add(*shift);
            cut(*size, skip, bytes, |turn, skip, bytes| {
                each(Run { offset: at(first.wrapping_add(offsets[turn]), skip, 1), bytes })
            })
        }
        Block::Repeat { offset, stride, of, .. } => turns(of, base.wrapping_add(*offset), *stride, skip, bytes, each),
    }
}

/// Cuts `bytes` bytes from byte `skip` on of turns of `size` bytes: the turn, the first byte of it and how many.
#[inline(always)]
fn cut(size: usize, skip: usize, bytes: usize, mut each: impl FnMut(usize, usize, usize) -> bool) -> bool {
    let (mut turn, mut within, mut bytes) = (skip / size, skip % size, bytes);
    while bytes > 0 {
        let some = (size - within).min(bytes);
        if !each(turn, within, some) {
            return false;
        }
        (turn, within, bytes) = (turn + 1, 0, bytes - some);
    }
    true
}

fn at(base: isize, turn: usize, stride: isize) -> isize {
    base.wrapping_add((turn as isize).wrapping_mul(stride))
}
