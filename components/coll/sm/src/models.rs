//! Every order of the accesses of ranks to the segment and the rings that they share.
//!
//! Ranks are threads, which run the operations themselves. What they copy to and from shared memory is watched: two ranks at
//! one place at a time are a failure, as is a wrong result.
#![allow(unsafe_code)]

extern crate std;

use crate::peer::Peer;
use crate::pool_block::PoolBlock;
use alloc::vec::Vec;
use ompi_core::data::Data;
use ompi_core::datatype::{COMBINER_NAMED, Datatype};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::op::Operation;
use ompi_core::op::Op;
use ompi_core::shared_pool::Shared;
use opal_core::datatype::{Layout, Primitive, Run, Scalar};
use opal_core::framework::shmem::Segment;
use opal_core::sync::model::{check_within, reading_value, spawn, writing_value};
use opal_core::sync::{reading, writing};
use std::alloc::alloc_zeroed;
use std::ops::Range;
use std::sync::OnceLock;

/// The type of bytes. Those of the library are made of more words than a model may have.
pub fn byte() -> &'static Datatype {
    static BYTE: OnceLock<Datatype> = OnceLock::new();
    BYTE.get_or_init(|| of_bytes(1))
}

/// The type of numbers.
fn number() -> &'static Datatype {
    static NUMBER: OnceLock<Datatype> = OnceLock::new();
    NUMBER.get_or_init(|| of_bytes(4))
}

fn of_bytes(bytes: u8) -> Datatype {
    let run = Run { offset: 0, bytes: bytes.into() };
    Datatype::derived(Layout::basic(Primitive::new(Scalar::Byte, bytes), &[run], bytes.into(), 1), COMBINER_NAMED)
}

/// Memory of the ranks. A model's words stay as they are, so that it serves for every order.
#[derive(Clone, Copy)]
struct Memory {
    base: usize,
    bytes: usize,
}

impl Memory {
    fn new(bytes: usize) -> Memory {
        let layout = std::alloc::Layout::from_size_align(bytes, 64).unwrap();
        // SAFETY: not of size 0.
        Memory { base: unsafe { alloc_zeroed(layout) }.expose_provenance(), bytes }
    }

    fn at(&self) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(self.base)
    }

    /// What was copied here in the order before.
    fn clear(&self) {
        // SAFETY: as long, and nobody else uses it now.
        unsafe { self.at().write_bytes(0, self.bytes) };
    }

    fn part(&self, departed: usize) -> PoolBlock {
        let segment = Segment { base: self.at(), bytes: self.bytes };
        PoolBlock::of_test(Shared::of(segment, 0, self.bytes).unwrap(), departed)
    }
}

/// Copies and combines, and has what it does in shared memory watched.
struct Copies {
    rank: usize,
    size: usize,
    shared: Range<usize>,
    rooms: Vec<Vec<u8>>,
}

impl Copies {
    fn new(rank: usize, size: usize, memory: Memory) -> Copies {
        Copies { rank, size, shared: memory.base..memory.base + memory.bytes, rooms: Vec::new() }
    }

    fn reads(&self, at: *const u8, bytes: usize) {
        match at.addr().is_multiple_of(64) {
            _ if !self.shared.contains(&at.addr()) => {}
            true => reading(at, bytes),
            // It has neighbours.
            false => reading_value(at),
        }
    }

    fn writes(&self, at: *const u8, bytes: usize) {
        match at.addr().is_multiple_of(64) {
            _ if !self.shared.contains(&at.addr()) => {}
            true => writing(at, bytes),
            false => writing_value(at),
        }
    }
}

impl Executor for Copies {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn copy(&mut self, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
        let (bytes, from, to) = (from.bytes().min(to.bytes()), from.contiguous().unwrap(), to.contiguous().unwrap());
        self.reads(from, bytes);
        self.writes(to, bytes);
        // SAFETY: operations copy between their arguments, rooms and shared memory.
        unsafe { core::ptr::copy(from, to, bytes) };
        Ok(())
    }

    fn reduce(&mut self, _op: &Op, input: &Data<'_>, inout: &Data<'_>) -> Result<()> {
        self.reads(input.at, input.bytes());
        self.writes(inout.at, inout.bytes());
        for index in 0..inout.count {
            let place = |data: &Data<'_>| data.at.wrapping_add(4 * index).cast::<u32>();
            // SAFETY: as above.
            let (first, second) = unsafe { (place(input).read(), place(inout).read()) };
            // SAFETY: as above.
            unsafe { place(inout).write(combined(first, second)) };
        }
        Ok(())
    }

    fn scratch<'a>(&mut self, like: &Data<'a>) -> Result<Data<'a>> {
        let mut room = alloc::vec![0; like.bytes()];
        let at = room.as_mut_ptr();
        self.rooms.push(room);
        Ok(Data { at, ..*like })
    }

    fn send(&mut self, _: &Data<'_>, _: usize) -> Result<()> {
        unreachable!("nothing here sends messages")
    }

    fn recv(&mut self, _: &Data<'_>, _: usize) -> Result<()> {
        unreachable!("nothing here sends messages")
    }

    fn start_send(&mut self, _: &Data<'_>, _: usize) -> Result<()> {
        unreachable!("nothing here sends messages")
    }

    fn start_recv(&mut self, _: &Data<'_>, _: usize) -> Result<()> {
        unreachable!("nothing here sends messages")
    }

    fn finish(&mut self) -> Result<()> {
        unreachable!("nothing here sends messages")
    }
}

/// Order matters, and nothing else: numbers are functions x ↦ m x + c modulo 2¹⁶, one after the other.
fn combined(first: u32, second: u32) -> u32 {
    let [(m, c), (n, d)] = [first, second].map(|number| ((number >> 16) | 1, number & 0xffff));
    (m.wrapping_mul(n) << 16) | (m.wrapping_mul(d).wrapping_add(c) & 0xffff)
}

/// What a rank contributes to an operation, for a rank or for all.
fn values(rank: usize, to: usize, which: u32, count: usize) -> Vec<u32> {
    let number = |index| which * 1000 + rank as u32 * 100 + to as u32 * 10 + index + 1;
    (0..count as u32).map(|index| number(index).wrapping_mul(SPREAD)).collect()
}

/// Odd, so that numbers stay different from each other and from 0.
const SPREAD: u32 = 0x9e37_79b1;

fn all_combined(size: usize, which: u32, count: usize) -> Vec<u32> {
    let each = (0..size).rev().map(|rank| values(rank, 0, which, count));
    each.reduce(|sum, next| next.iter().zip(&sum).map(|(first, second)| combined(*first, *second)).collect()).unwrap()
}

/// `count` numbers.
fn data(numbers: &mut [u32], count: usize) -> Data<'static> {
    Data { at: numbers.as_mut_ptr().cast(), count, datatype: number() }
}

/// No rank has neighbours to wake: in a model all are awake.
fn nobody(size: usize) -> Vec<Option<Peer>> {
    (0..size).map(|_| None).collect()
}

/// Ranks do what `each` does, in every order with at most so many preemptions.
fn among(size: usize, preemptions: usize, memory: Memory, each: impl Fn(usize) + Copy + Send + Sync + 'static) {
    check_within(preemptions, move || {
        memory.clear();
        let others: Vec<_> = (1..size).map(|rank| spawn(move || each(rank))).collect();
        each(0);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

fn op() -> Op {
    Op::Predefined(Operation::Sum)
}

mod flags;
mod pipeline;
