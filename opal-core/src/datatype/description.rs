//! The bytes by which a process tells another one where the data of a datatype lies: what one-sided operations send along.
//!
//! All numbers are words of 64 bits, little-endian: extent, lower bound, then the body. A body is its number of blocks, and a
//! block is its kind with its fields in the order of [`Block`]. Basic types are not told: only which bytes, in which order.

use super::body::{Block, Body};
use super::{Layout, Primitive, Run, Scalar};
use crate::{Error, Result};
use alloc::sync::Arc;
use alloc::vec::Vec;

impl Layout {
    /// Appends the description of this layout.
    pub fn describe(&self, to: &mut Vec<u8>) {
        push(to, self.extent());
        push(to, self.lb());
        describe_body(&self.body, to);
    }

    /// The layout that a peer described, of bytes: size, extent, lower bound and places are those of the original, which basic
    /// types they belong to is not known.
    ///
    /// `Err(Malformed)` for bytes that describe nothing, `Err(Invalid)` for places outside the address space.
    pub fn of_description(bytes: &[u8]) -> Result<Layout> {
        let mut words = Words { rest: bytes };
        let (extent, lb) = (words.next()?, words.next()?);
        let byte = Layout::basic(Primitive::new(Scalar::Byte, 1), &[Run { offset: 0, bytes: 1 }], 1, 1);
        let layout = words.body(&Arc::new(byte), 0)?;
        match words.rest.is_empty() {
            true => layout.resized(lb, extent),
            false => Err(Error::Malformed),
        }
    }
}

const RUN: isize = 0;
const STRIDED: isize = 1;
const INDEXED: isize = 2;
const REPEAT: isize = 3;

/// More levels than any layout has.
const DEEPEST: u32 = 300;

fn push(to: &mut Vec<u8>, word: isize) {
    to.extend_from_slice(&(word as i64).to_le_bytes());
}

fn describe_body(body: &Body, to: &mut Vec<u8>) {
    push(to, body.blocks.len() as isize);
    for block in &body.blocks {
        let mut each = |words: &[isize]| words.iter().for_each(|word| push(to, *word));
        match block {
            Block::Run(run) => each(&[RUN, run.offset, run.bytes as isize]),
            Block::Strided { run, stride, count } => {
                each(&[STRIDED, run.offset, run.bytes as isize, *stride, *count as isize]);
            }
            Block::Indexed { offsets, shift, bytes } => {
                each(&[INDEXED, *shift, *bytes as isize, offsets.len() as isize]);
                each(offsets);
            }
            Block::Repeat { offset, stride, count, of } => {
                each(&[REPEAT, *offset, *stride, *count as isize]);
                describe_body(of, to);
            }
        }
    }
}

struct Words<'a> {
    rest: &'a [u8],
}

impl Words<'_> {
    fn next(&mut self) -> Result<isize> {
        let (word, rest) = self.rest.split_first_chunk::<8>().ok_or(Error::Malformed)?;
        self.rest = rest;
        isize::try_from(i64::from_le_bytes(*word)).map_err(|_| Error::Malformed)
    }

    fn length(&mut self) -> Result<usize> {
        usize::try_from(self.next()?).map_err(|_| Error::Malformed)
    }

    /// How many items follow, of at least one word each.
    fn items(&mut self) -> Result<usize> {
        let items = self.length()?;
        if items <= self.rest.len() / 8 { Ok(items) } else { Err(Error::Malformed) }
    }

    fn body(&mut self, byte: &Arc<Layout>, depth: u32) -> Result<Layout> {
        if depth > DEEPEST {
            return Err(Error::Malformed);
        }
        let blocks = self.items()?;
        let mut parts: Vec<(isize, usize, Arc<Layout>)> = Vec::new();
        parts.try_reserve_exact(blocks).map_err(|_| Error::OutOfResource)?;
        for _ in 0..blocks {
            parts.push(self.block(byte, depth)?);
        }
        let parts: Vec<(isize, usize, &Arc<Layout>)> = parts.iter().map(|(at, count, of)| (*at, *count, of)).collect();
        Layout::structure(&parts)
    }

    /// Place, number of elements and layout of each.
    fn block(&mut self, byte: &Arc<Layout>, depth: u32) -> Result<(isize, usize, Arc<Layout>)> {
        match self.next()? {
            RUN => Ok((self.next()?, self.length()?, byte.clone())),
            STRIDED => {
                let (offset, bytes) = (self.next()?, self.length()?);
                let (stride, count) = (self.next()?, self.length()?);
                Ok((offset, 1, Arc::new(Layout::hvector(count, bytes, stride, byte)?)))
            }
            INDEXED => {
                let (shift, bytes, count) = (self.next()?, self.length()?, self.items()?);
                let mut blocks = Vec::new();
                blocks.try_reserve_exact(count).map_err(|_| Error::OutOfResource)?;
                for _ in 0..count {
                    blocks.push((self.next()?.checked_add(shift).ok_or(Error::Invalid)?, bytes));
                }
                Ok((0, 1, Arc::new(Layout::blocks(&blocks, byte)?)))
            }
            REPEAT => {
                let (offset, stride, count) = (self.next()?, self.next()?, self.length()?);
                let of = Arc::new(self.body(byte, depth + 1)?);
                Ok((offset, 1, Arc::new(Layout::hvector(count, 1, stride, &of)?)))
            }
            _ => Err(Error::Malformed),
        }
    }
}
