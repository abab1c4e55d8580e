//! The bytes of one element as loops over runs, in the order of the type map.

use crate::{Error, Result};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Bytes that lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// From the element's address.
    pub offset: isize,
    /// Length.
    pub bytes: usize,
}

/// A part of a type map.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    /// One run.
    Run(Run),
    /// `count` runs of equal length, `stride` apart.
    Strided { run: Run, stride: isize, count: usize },
    /// Runs of `bytes` each at irregular offsets.
    Indexed { offsets: Arc<[isize]>, shift: isize, bytes: usize },
    /// `count` times another body, `stride` apart.
    Repeat { offset: isize, stride: isize, count: usize, of: Arc<Body> },
}

impl Block {
    /// Bytes of data.
    pub fn size(&self) -> usize {
        match self {
            Block::Run(run) => run.bytes,
            Block::Strided { run, count, .. } => run.bytes * count,
            Block::Indexed { offsets, bytes, .. } => bytes * offsets.len(),
            Block::Repeat { count, of, .. } => of.size * count,
        }
    }

    fn shifted(&self, by: isize) -> Block {
        let mut block = self.clone();
        match &mut block {
            Block::Run(run) | Block::Strided { run, .. } => run.offset += by,
            Block::Indexed { shift, .. } => *shift += by,
            Block::Repeat { offset, .. } => *offset += by,
        }
        block
    }
}

/// A sequence of blocks.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Body {
    pub blocks: Box<[Block]>,
    /// Packed bytes up to the end of each block.
    pub ends: Box<[usize]>,
    /// Packed bytes of all.
    pub size: usize,
    /// No loops inside.
    pub runs_only: bool,
    depth: u32,
}

impl Body {
    /// One run.
    pub fn of_run(run: Run) -> Body {
        let (blocks, ends) = (Box::from([Block::Run(run)]), Box::from([run.bytes]));
        Body { blocks, ends, size: run.bytes, runs_only: true, depth: 0 }
    }

    /// The first run, from one to the next, and how many, if it is so many runs evenly apart.
    pub fn strided(&self) -> Option<(Run, isize, usize)> {
        match &*self.blocks {
            [Block::Strided { run, stride, count }] => Some((*run, *stride, *count)),
            _ => None,
        }
    }

    /// The only run, if all data is one.
    pub fn single(&self) -> Option<Run> {
        match &*self.blocks {
            [Block::Run(run)] => Some(*run),
            _ => None,
        }
    }

    /// Calls back with every run in order.
    pub fn each_run(&self, base: isize, each: &mut dyn FnMut(Run)) {
        let at = |run: &Run, by: isize| Run { offset: run.offset + base + by, bytes: run.bytes };
        for block in &self.blocks {
            match block {
                Block::Run(run) => each(at(run, 0)),
                Block::Strided { run, stride, count } => {
                    (0..*count as isize).for_each(|index| each(at(run, index * stride)));
                }
                Block::Indexed { offsets, shift, bytes } => {
                    offsets.iter().for_each(|offset| each(Run { offset: base + shift + offset, bytes: *bytes }));
                }
                Block::Repeat { offset, stride, count, of } => {
                    (0..*count as isize).for_each(|index| of.each_run(base + offset + index * stride, each));
                }
            }
        }
    }
}

/// Collects blocks. The caller has checked that offsets and sizes fit.
#[derive(Default)]
pub(super) struct Builder {
    blocks: Vec<Block>,
}

impl Builder {
    /// `count` elements, `extent` apart, the first at `start`.
    pub fn elements(&mut self, start: isize, count: usize, extent: isize, of: &Arc<Body>) {
        if count == 0 || of.size == 0 {
            return;
        }
        if let Some(run) = of.single() {
            let run = Run { offset: start + run.offset, bytes: run.bytes };
            return self.strided(run, extent, count);
        }
        // A single regular loop goes on if the next element begins where its next turn would.
        if let [Block::Strided { run, stride, count: turns }] = &*of.blocks
            && stride.checked_mul(*turns as isize) == Some(extent)
        {
            let run = Run { offset: start + run.offset, bytes: run.bytes };
            return self.strided(run, *stride, count * turns);
        }
        if of.blocks.len().saturating_mul(count) <= SPLICED {
            for index in 0..count as isize {
                for block in &of.blocks {
                    self.block(block.shifted(start + index * extent));
                }
            }
            return;
        }
        self.blocks.push(Block::Repeat { offset: start, stride: extent, count, of: of.clone() });
    }

    /// `count` runs of equal length, `stride` apart.
    pub fn strided(&mut self, run: Run, stride: isize, count: usize) {
        if count == 1 || stride == run.bytes as isize {
            self.run(Run { offset: run.offset, bytes: run.bytes * count });
        } else {
            self.blocks.push(Block::Strided { run, stride, count });
        }
    }

    fn block(&mut self, block: Block) {
        match block {
            Block::Run(run) => self.run(run),
            other => self.blocks.push(other),
        }
    }

    fn run(&mut self, run: Run) {
        match self.blocks.last_mut() {
            _ if run.bytes == 0 => {}
            Some(Block::Run(last)) if last.offset + last.bytes as isize == run.offset => last.bytes += run.bytes,
            _ => self.blocks.push(Block::Run(run)),
        }
    }

    /// The body; `Err(OutOfResource)` for loops nested too deep to walk on an ordinary stack.
    pub fn finish(self) -> Result<Arc<Body>> {
        if let [Block::Run(run)] = self.blocks[..] {
            return Ok(Arc::new(Body::of_run(run)));
        }
        let mut blocks = compress(self.blocks);
        // A loop of one turn around nothing else is its content.
        if let [Block::Repeat { offset: 0, count: 1, of, .. }] = &blocks[..] {
            return Ok(of.clone());
        }
        blocks.shrink_to_fit();
        let mut size = 0;
        let ends = blocks.iter().map(|block| {
            size += block.size();
            size
        });
        let ends: Box<[usize]> = ends.collect();
        let inner = blocks.iter().map(|block| match block {
            Block::Repeat { of, .. } => of.depth + 1,
            _ => 0,
        });
        let depth = inner.max().unwrap_or(0);
        if depth > DEEPEST {
            return Err(Error::OutOfResource);
        }
        let runs_only = blocks.iter().all(|block| matches!(block, Block::Run(_)));
        Ok(Arc::new(Body { blocks: blocks.into_boxed_slice(), ends, size, runs_only, depth }))
    }
}

/// Finds regular and irregular sequences of runs of equal length.
fn compress(blocks: Vec<Block>) -> Vec<Block> {
    if blocks.len() < 2 {
        return blocks;
    }
    let run = |index: usize| match blocks.get(index) {
        Some(Block::Run(run)) => Some(*run),
        _ => None,
    };
    let mut result = Vec::new();
    let mut index = 0;
    while index < blocks.len() {
        let Some(first) = run(index) else {
            result.push(blocks[index].clone());
            index += 1;
            continue;
        };
        let equal = (index..).take_while(|at| run(*at).is_some_and(|run| run.bytes == first.bytes)).count();
        let regular = regular_prefix(equal, |at| run(index + at).map_or(0, |run| run.offset));
        let (taken, block) = if regular == equal && equal >= 3 || regular >= LISTED {
            let stride = run(index + 1).map_or(0, |next| next.offset - first.offset);
            (regular, Block::Strided { run: first, stride, count: regular })
        } else if equal >= LISTED {
            let offsets = (index..index + equal).filter_map(run).map(|run| run.offset).collect();
            (equal, Block::Indexed { offsets, shift: 0, bytes: first.bytes })
        } else {
            (1, Block::Run(first))
        };
        result.push(block);
        index += taken;
    }
    result
}

/// How many of the first offsets have one distance.
fn regular_prefix(count: usize, offset: impl Fn(usize) -> isize) -> usize {
    if count < 3 {
        return count;
    }
    let stride = offset(1) - offset(0);
    1 + (1..count).take_while(|at| offset(*at) - offset(*at - 1) == stride).count()
}

/// Up to so many blocks are copied rather than referred to, so that neighbours can merge.
const SPLICED: usize = 8;
/// From so many equal runs on a list of offsets pays.
const LISTED: usize = 8;
/// Levels of loops within loops.
const DEEPEST: u32 = 256;
