//! Moving bytes between a body's places and a packed buffer.
//!
//! Position is a byte of the packed data; every level finds its turn by a division. Whole turns then go without any
//! arithmetic on positions.

use super::body::{Block, Body, Run};
use crate::framework::memcpy;

/// Where packed bytes come from or go to.
#[derive(Clone, Copy)]
pub(super) struct Packed<const PACK: bool>(pub *mut u8);

impl<const PACK: bool> Packed<PACK> {
    /// Moves some bytes between `data` and here, and goes on by as many.
    ///
    /// # Safety
    /// Both are valid for `bytes`, in the direction that `PACK` says, and do not overlap.
    #[allow(clippy::multiple_unsafe_ops_per_block)] // one of them runs
    #[inline(always)]
    unsafe fn run(&mut self, data: *mut u8, bytes: usize) {
        let here = self.0;
        self.0 = here.wrapping_add(bytes);
        let (to, from) = if PACK { (here, data) } else { (data, here) };
        // A call and a loop cost more than the move for the sizes of numbers.
        // SAFETY: the caller's promise, for each arm.
        unsafe {
            match bytes {
                4 => fixed::<4>(to, from),
                8 => fixed::<8>(to, from),
                16 => fixed::<16>(to, from),
                _ => memcpy::copy(to, from, bytes),
            }
        }
    }

    /// As `run` for `count` runs, `stride` apart.
    ///
    /// # Safety
    /// That of `run` for each.
    #[inline(always)]
    unsafe fn runs(&mut self, data: *mut u8, bytes: usize, stride: isize, count: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.columns(data, bytes, stride, bytes as isize, count) };
        self.0 = self.0.wrapping_add(bytes * count);
    }

    /// Moves `count` runs, `stride` apart there and `step` apart here; the position stays.
    ///
    /// # Safety
    /// That of `run` for each.
    #[allow(clippy::multiple_unsafe_ops_per_block)] // one of them runs
    pub(super) unsafe fn columns(&self, data: *mut u8, bytes: usize, stride: isize, step: isize, count: usize) {
        // A loop for each of the usual sizes.
        // SAFETY: the caller's promise, for each arm.
        unsafe {
            match bytes {
                1 => self.fixed_columns::<1>(data, stride, step, count),
                2 => self.fixed_columns::<2>(data, stride, step, count),
                4 => self.fixed_columns::<4>(data, stride, step, count),
                8 => self.fixed_columns::<8>(data, stride, step, count),
                12 => self.fixed_columns::<12>(data, stride, step, count),
                16 => self.fixed_columns::<16>(data, stride, step, count),
                24 => self.fixed_columns::<24>(data, stride, step, count),
                32 => self.fixed_columns::<32>(data, stride, step, count),
                64 => self.fixed_columns::<64>(data, stride, step, count),
                _ => self.any_columns(data, bytes, stride, step, count),
            }
        }
    }

    /// # Safety
    /// That of `columns`.
    #[inline(never)]
    unsafe fn fixed_columns<const N: usize>(&self, mut data: *mut u8, stride: isize, step: isize, count: usize) {
        let mut here = self.0;
        for _ in 0..count {
            let (to, from) = if PACK { (here, data) } else { (data, here) };
            // SAFETY: a run of the caller's.
            unsafe { fixed::<N>(to, from) };
            data = data.wrapping_offset(stride);
            here = here.wrapping_offset(step);
        }
    }

    /// # Safety
    /// That of `columns`.
    #[inline(never)]
    unsafe fn any_columns(&self, mut data: *mut u8, bytes: usize, stride: isize, step: isize, count: usize) {
        let mut here = self.0;
        for _ in 0..count {
            let (to, from) = if PACK { (here, data) } else { (data, here) };
            // SAFETY: a run of the caller's.
            unsafe { memcpy::copy(to, from, bytes) };
            data = data.wrapping_offset(stride);
            here = here.wrapping_offset(step);
        }
    }

    /// Turns of two runs of the usual sizes, such as a number and its index, in one pass; the position stays. `false`: other
    /// sizes, and nothing was done.
    ///
    /// # Safety
    /// That of `run` for both of each turn.
    #[allow(clippy::multiple_unsafe_ops_per_block)] // one of them runs
    unsafe fn pairs(&self, runs: [Run; 2], data: *mut u8, stride: isize, count: usize) -> bool {
        let places = runs.map(|run| data.wrapping_offset(run.offset));
        // SAFETY: the caller's promise, for each arm.
        unsafe {
            match runs.map(|run| run.bytes) {
                [4, 4] => self.fixed_pairs::<4, 4>(places, stride, count),
                [4, 8] => self.fixed_pairs::<4, 8>(places, stride, count),
                [8, 4] => self.fixed_pairs::<8, 4>(places, stride, count),
                [8, 8] => self.fixed_pairs::<8, 8>(places, stride, count),
                _ => return false,
            }
        }
        true
    }

    /// # Safety
    /// That of `pairs`.
    #[inline(never)]
    unsafe fn fixed_pairs<const N: usize, const M: usize>(
        &self,
        [mut one, mut two]: [*mut u8; 2],
        stride: isize,
        count: usize,
    ) {
        let mut here = self.0;
        for _ in 0..count {
            let next = here.wrapping_add(N);
            let [(to, from), (to_two, from_two)] =
                if PACK { [(here, one), (next, two)] } else { [(one, here), (two, next)] };
            // SAFETY: a run of the caller's.
            unsafe { fixed::<N>(to, from) };
            // SAFETY: as above.
            unsafe { fixed::<M>(to_two, from_two) };
            (one, two) = (one.wrapping_offset(stride), two.wrapping_offset(stride));
            here = next.wrapping_add(M);
        }
    }

    /// Whole turns of a body that has runs only, such as a structure: two of the usual sizes in one pass, others run by run
    /// over some turns that fit the first level of cache, so that each inner loop moves one size.
    ///
    /// # Safety
    /// That of `turns`.
    unsafe fn turns_of_runs(&mut self, body: &Body, mut data: *mut u8, stride: isize, mut count: usize) {
        if let [Block::Run(one), Block::Run(two)] = &*body.blocks
            // SAFETY: both runs of each turn.
            && unsafe { self.pairs([*one, *two], data, stride, count) }
        {
            self.0 = self.0.wrapping_add(body.size * count);
            return;
        }
        while count > 0 {
            let turns = count.min(COLUMN);
            let mut within = Packed::<PACK>(self.0);
            for block in &body.blocks {
                if let Block::Run(run) = block {
                    // SAFETY: this run of each of the turns.
                    unsafe {
                        within.columns(data.wrapping_offset(run.offset), run.bytes, stride, body.size as isize, turns)
                    };
                    within.0 = within.0.wrapping_add(run.bytes);
                }
            }
            self.0 = self.0.wrapping_add(body.size * turns);
            data = data.wrapping_offset(stride * turns as isize);
            count -= turns;
        }
    }

    /// `bytes` bytes from byte `skip` on of `count` times `body`, `stride` apart.
    ///
    /// # Safety
    /// All runs of the body's turns from `data` on, and as many bytes here, are valid; `skip + bytes` is at most the
    /// size of all turns.
    #[allow(clippy::multiple_unsafe_ops_per_block)] // closures with the same contract
    pub(super) unsafe fn turns(&mut self, body: &Body, data: *mut u8, stride: isize, skip: usize, bytes: usize) {
        // SAFETY: the contract of this call, for the three parts.
        unsafe {
            cut(
                body.size,
                skip,
                bytes,
                self,
                |this, turn, skip, bytes| this.part(body, data.wrapping_offset(turn as isize * stride), skip, bytes),
                |this, first, count| {
                    this.whole_turns(body, data.wrapping_offset(first as isize * stride), stride, count)
                },
            )
        }
    }

    /// # Safety
    /// That of `turns`.
    unsafe fn whole_turns(&mut self, body: &Body, data: *mut u8, stride: isize, count: usize) {
        if let [Block::Run(run)] = &*body.blocks {
            // SAFETY: the only run of each turn.
            return unsafe { self.runs(data.wrapping_offset(run.offset), run.bytes, stride, count) };
        }
        if body.runs_only && count >= FEW && body.size <= SMALL {
            // SAFETY: the same contract.
            return unsafe { self.turns_of_runs(body, data, stride, count) };
        }
        let mut data = data;
        for _ in 0..count {
            for block in &body.blocks {
                // SAFETY: a block of one turn.
                unsafe { self.whole(block, data) };
            }
            data = data.wrapping_offset(stride);
        }
    }

    /// # Safety
    /// That of `turns` for one turn of one block.
    #[inline(always)]
    unsafe fn whole(&mut self, block: &Block, data: *mut u8) {
        match block {
            // SAFETY: the block's run.
            Block::Run(run) => unsafe { self.run(data.wrapping_offset(run.offset), run.bytes) },
            Block::Strided { run, stride, count } => {
                // SAFETY: the block's runs.
                unsafe { self.runs(data.wrapping_offset(run.offset), run.bytes, *stride, *count) }
            }
            Block::Indexed { offsets, shift, bytes } => {
                // SAFETY: the block's runs.
                unsafe { self.listed(offsets, data.wrapping_offset(*shift), *bytes) }
            }
            Block::Repeat { offset, stride, count, of } => {
                // SAFETY: the block's turns.
                unsafe { self.whole_turns(of, data.wrapping_offset(*offset), *stride, *count) }
            }
        }
    }

    /// # Safety
    /// That of `run` for each.
    #[inline(never)]
    unsafe fn listed(&mut self, offsets: &[isize], data: *mut u8, bytes: usize) {
        // A loop for each of the usual sizes, so that the choice is made once.
        macro_rules! each {
            ($size:expr) => {
                for offset in offsets {
                    // SAFETY: a run of the caller's.
                    unsafe { self.run(data.wrapping_offset(*offset), $size) };
                }
            };
        }
        match bytes {
            4 => each!(4),
            8 => each!(8),
            16 => each!(16),
            _ => each!(bytes),
        }
    }

    /// `bytes` bytes from byte `skip` on of one turn.
    ///
    /// # Safety
    /// That of `turns`.
    unsafe fn part(&mut self, body: &Body, data: *mut u8, skip: usize, bytes: usize) {
        let mut index = body.ends.partition_point(|end| *end <= skip);
        let (mut at, end) = (skip, skip + bytes);
        while at < end {
            let block = &body.blocks[index];
            let begins = if index == 0 { 0 } else { body.ends[index - 1] };
            let until = end.min(body.ends[index]);
            // SAFETY: within the block.
            unsafe { self.part_of(block, data, at - begins, until - at) };
            (at, index) = (until, index + 1);
        }
    }

    /// # Safety
    /// That of `turns` for a part of one turn of one block.
    #[allow(clippy::multiple_unsafe_ops_per_block)] // closures with the same contract
    unsafe fn part_of(&mut self, block: &Block, data: *mut u8, skip: usize, bytes: usize) {
        let run = |run: &Run| data.wrapping_offset(run.offset);
        match block {
            // SAFETY: within the run.
            Block::Run(one) => unsafe { self.run(run(one).wrapping_add(skip), bytes) },
            Block::Strided { run: one, stride, .. } => {
                let at = |turn: usize| run(one).wrapping_offset(turn as isize * stride);
                // SAFETY: within the block's runs.
                unsafe {
                    cut(
                        one.bytes,
                        skip,
                        bytes,
                        self,
                        |this, turn, skip, bytes| this.run(at(turn).wrapping_add(skip), bytes),
                        |this, first, count| this.runs(at(first), one.bytes, *stride, count),
                    )
                }
            }
            Block::Indexed { offsets, shift, bytes: each } => {
                let data = data.wrapping_offset(*shift);
                // SAFETY: within the block's runs.
                unsafe {
                    cut(
                        *each,
                        skip,
                        bytes,
                        self,
                        |this, turn, skip, bytes| {
                            this.run(data.wrapping_offset(offsets[turn]).wrapping_add(skip), bytes)
                        },
                        |this, first, count| this.listed(&offsets[first..first + count], data, *each),
                    )
                }
            }
            // SAFETY: within the block's turns.
            Block::Repeat { offset, stride, of, .. } => unsafe {
                self.turns(of, data.wrapping_offset(*offset), *stride, skip, bytes)
            },
        }
    }
}

/// Cuts `bytes` bytes from byte `skip` on of turns of `size` bytes each into a part, whole turns and another part.
///
/// # Safety
/// None of its own: it is unsafe so that the closures may be.
#[inline(always)]
unsafe fn cut<T>(
    size: usize,
    skip: usize,
    bytes: usize,
    context: &mut T,
    part: impl Fn(&mut T, usize, usize, usize),
    whole: impl Fn(&mut T, usize, usize),
) {
    let (mut turn, mut bytes) = (skip / size, bytes);
    let within = skip - turn * size;
    if within > 0 {
        let head = (size - within).min(bytes);
        part(context, turn, within, head);
        (turn, bytes) = (turn + 1, bytes - head);
    }
    let count = bytes / size;
    if count > 0 {
        whole(context, turn, count);
    }
    let rest = bytes - count * size;
    if rest > 0 {
        part(context, turn + count, 0, rest);
    }
}

/// # Safety
/// `from` is readable and `to` writable for `N` bytes.
#[inline(always)]
unsafe fn fixed<const N: usize>(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise; bytes have no alignment.
    let value = unsafe { from.cast::<[u8; N]>().read() };
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[u8; N]>().write(value) };
}

/// Turns that are moved run by run.
const COLUMN: usize = 128;
/// Bytes of a turn up to which `COLUMN` turns stay in the first levels of cache.
const SMALL: usize = 512;
/// Below so many turns it does not pay.
const FEW: usize = 4;
