//! Operations over rings.

use super::{Copies, Memory, all_combined, among, combined, data, nobody, op, values};
use crate::buffer::packed;
use crate::operand::Operands;
use crate::peer::Peer;
use crate::pipeline::channel::Channel;
use crate::pipeline::layout::{self, Geometry};
use crate::pipeline::ring::{Ring, Rings};
use crate::pipeline::{self, Pipeline};
use alloc::vec;
use alloc::vec::Vec;
use ompi_core::data::Source;
use ompi_core::error::Class;
use ompi_core::executor::Executor;

/// One rank.
struct Rank {
    rings: Rings,
    peers: Vec<Option<Peer>>,
    on: Copies,
}

/// Numbers in a piece.
const PIECE: usize = 16;

impl Rank {
    /// From rank 0 to all or one, without an operation around it.
    fn stream(&mut self, which: u32, steps: usize, reader: Option<usize>) {
        let mut channel = Channel::begin(&self.rings, &self.peers, Ring::Input, (steps, 4 * PIECE * steps), reader);
        for step in 0..steps {
            if self.on.rank == 0 {
                write(&mut self.on, &mut channel, which, step);
            } else if reader.is_none_or(|reader| reader == self.on.rank) {
                read(&mut self.on, &channel, which, step);
            }
        }
        channel.close();
    }

    fn bcast(&mut self, which: u32, count: usize, root: usize) {
        let sent = values(root, 0, which, count);
        let mut all = if self.on.rank == root { sent.clone() } else { vec![0; count] };
        let over = Pipeline { rings: &self.rings, peers: &self.peers };
        pipeline::bcast(&over, &mut self.on, &data(&mut all, count), root).unwrap();
        assert_eq!(all, sent);
    }

    fn allgather(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut all) = (values(rank, 0, which, count), vec![0; size * count]);
        let over = Pipeline { rings: &self.rings, peers: &self.peers };
        let from = Source::From(data(&mut own, count));
        pipeline::allgather(&over, &mut self.on, from, &data(&mut all, count)).unwrap();
        assert!((0..size).flat_map(|rank| values(rank, 0, which, count)).eq(all));
    }

    fn alltoall(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let mut own: Vec<u32> = (0..size).flat_map(|to| values(rank, to, which, count)).collect();
        let mut all = vec![0; size * count];
        let over = Pipeline { rings: &self.rings, peers: &self.peers };
        let from = Source::From(data(&mut own, count));
        pipeline::alltoall(&over, &mut self.on, from, &data(&mut all, count)).unwrap();
        assert!((0..size).flat_map(|from| values(from, rank, which, count)).eq(all));
    }

    fn reduce(&mut self, which: u32, count: usize, root: Option<usize>) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let over = Pipeline { rings: &self.rings, peers: &self.peers };
        let wants = root.is_none_or(|root| root == rank);
        let to = wants.then_some(data(&mut sum, count));
        let operands = Operands { from: Source::From(data(&mut own, count)), to, op: &op(), root };
        pipeline::reduce(&over, &mut self.on, &operands).unwrap();
        assert!(!wants || sum == all_combined(size, which, count));
    }
}

impl Rank {
    fn gather(&mut self, which: u32, count: usize, root: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut all) = (values(rank, 0, which, count), vec![0; size * count]);
        let over = Pipeline { rings: &self.rings, peers: &self.peers };
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut all, count));
        pipeline::gather(&over, &mut self.on, from, ((rank == root).then_some(&to), root)).unwrap();
        assert!(rank != root || (0..size).flat_map(|rank| values(rank, 0, which, count)).eq(all));
    }

    fn scatter(&mut self, which: u32, count: usize, root: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let mut all: Vec<u32> = (0..size).flat_map(|to| values(root, to, which, count)).collect();
        let mut own = vec![0; count];
        let over = Pipeline { rings: &self.rings, peers: &self.peers };
        let (from, to) = (data(&mut all, count), data(&mut own, count));
        pipeline::scatter(&over, &mut self.on, ((rank == root).then_some(&from), Some(&to)), root).unwrap();
        assert_eq!(own, values(root, rank, which, count));
    }

    fn reduce_scatter(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, size * count), vec![0; count]);
        let over = Pipeline { rings: &self.rings, peers: &self.peers };
        let (from, to) = (Source::From(data(&mut own, size * count)), data(&mut sum, count));
        pipeline::reduce_scatter(&over, &mut self.on, (from, &to, &op()), |_| count).unwrap();
        assert_eq!(sum, all_combined(size, which, size * count)[rank * count..][..count]);
    }

    fn scan(&mut self, which: u32, count: usize) {
        let rank = self.on.rank;
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let over = Pipeline { rings: &self.rings, peers: &self.peers };
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut sum, count));
        pipeline::scan(&over, &mut self.on, (from, &to, &op()), false).unwrap();
        let sums = (1..=rank).fold(values(0, 0, which, count), |sum, next| {
            sum.iter().zip(values(next, 0, which, count)).map(|(first, second)| combined(*first, second)).collect()
        });
        assert_eq!(sum, sums);
    }
}

/// Rank 0's part of a step.
fn write(on: &mut Copies, channel: &mut Channel<'_>, which: u32, step: usize) {
    let mut piece = values(0, step, which, PIECE);
    let room = channel.reserve(step).unwrap();
    on.copy(&data(&mut piece, PIECE), &packed(room, 4 * PIECE)).unwrap();
    channel.publish(step);
}

/// The others'.
fn read(on: &mut Copies, channel: &Channel<'_>, which: u32, step: usize) {
    let (at, mut piece) = (channel.data(0, step).unwrap(), vec![0; PIECE]);
    on.copy(&packed(at, 4 * PIECE), &data(&mut piece, PIECE)).unwrap();
    assert_eq!(piece, values(0, step, which, PIECE));
    channel.consume(step);
}

fn ranks(size: usize, each: fn(&mut Rank)) {
    ranks_within(usize::MAX, size, each);
}

fn ranks_within(preemptions: usize, size: usize, each: fn(&mut Rank)) {
    ranks_with(2, preemptions, size, each);
}

fn ranks_with(slots: usize, preemptions: usize, size: usize, each: fn(&mut Rank)) {
    let geometry = Geometry { ranks: size, slots, slot_bytes: 4 * PIECE };
    let memory = Memory::new(geometry.bytes());
    among(size, preemptions, memory, move |rank| {
        let rings = Rings::over(memory.part(layout::DETACH_COUNT), rank, geometry, 4 * PIECE);
        let mut one = Rank { rings, peers: nobody(size), on: Copies::new(rank, size, memory) };
        each(&mut one);
        // To leave is a model of its own.
        core::mem::forget(one.rings);
    });
}

/// More pieces than slots.
#[test]
fn one_writes_what_another_reads() {
    ranks(2, |rank| rank.bcast(0, 3 * PIECE, 0));
}

/// Of the slots before this operation the writer has heard nothing yet.
#[test]
fn two_write_what_the_other_one_reads() {
    ranks(2, |rank| {
        rank.bcast(0, 2 * PIECE, 0);
        rank.bcast(1, PIECE, 1);
        rank.bcast(2, PIECE, 0);
    });
}

#[test]
fn one_writes_what_two_read() {
    ranks_within(0, 3, |rank| rank.bcast(0, 3 * PIECE, 0));
}

/// Rank 2 reads its second piece when rank 0 has written the third, which rank 1 has long waited for.
#[test]
fn the_slower_reader_counts() {
    ranks_within(0, 3, |rank| {
        let mut channel = Channel::begin(&rank.rings, &rank.peers, Ring::Input, (4, 16 * PIECE), None);
        let mut sign = Channel::begin(&rank.rings, &rank.peers, Ring::Result, (1, 0), None);
        for step in 0..4 {
            match rank.on.rank {
                0 => write(&mut rank.on, &mut channel, 0, step),
                _ => read(&mut rank.on, &channel, 0, step),
            }
            match (rank.on.rank, step) {
                (0, 2) => _ = sign.reserve(0).map(|_| sign.publish(0)).unwrap(),
                (2, 0) => _ = sign.data(0, 0).unwrap(),
                _ => {}
            }
        }
    });
}

#[test]
fn two_write_and_read() {
    ranks(2, |rank| rank.allgather(0, 3 * PIECE));
}

#[test]
fn three_write_and_read() {
    ranks(3, |rank| rank.alltoall(0, PIECE / 2));
}

#[test]
fn two_combine() {
    ranks(2, |rank| rank.reduce(0, 2 * PIECE, None));
}

/// Slots for results are used again, too.
#[test]
fn two_combine_more() {
    ranks_within(0, 2, |rank| rank.reduce(0, 6 * PIECE, None));
}

#[test]
fn three_combine_for_one() {
    ranks_within(1, 3, |rank| rank.reduce(0, PIECE, Some(1)));
}

/// What only one read before, all read now, and the reverse.
#[test]
fn readers_change() {
    ranks(2, |rank| {
        rank.reduce(0, 2 * PIECE, Some(1));
        rank.bcast(1, PIECE, 0);
        rank.reduce(2, PIECE, Some(1));
    });
}

/// Before the reader takes anything.
#[test]
fn ranks_that_disagree_about_a_length_learn_it() {
    ranks(2, |rank| {
        rank.bcast(0, PIECE, 0);
        let mut all = vec![0; 2 * PIECE];
        let whole = data(&mut all, (rank.on.rank + 1) * PIECE);
        let over = Pipeline { rings: &rank.rings, peers: &rank.peers };
        let result = pipeline::bcast(&over, &mut rank.on, &whole, 0).map_err(|fault| fault.get());
        assert_eq!(result, if rank.on.rank == 0 { Ok(()) } else { Err(Class::Truncate as i32) });
    });
}

#[test]
fn two_write_for_one() {
    ranks_within(0, 3, |rank| rank.gather(0, 3 * PIECE, 1));
}

#[test]
fn one_writes_for_each_of_two() {
    ranks_within(0, 3, |rank| rank.scatter(0, 3 * PIECE / 2, 2));
}

#[test]
fn each_combines_its_own_block() {
    ranks_within(0, 3, |rank| rank.reduce_scatter(0, PIECE / 2));
}

/// Slots are used again when the next rank has them, and others read them before.
#[test]
fn sums_go_from_rank_to_rank() {
    ranks_within(0, 3, |rank| {
        rank.bcast(0, PIECE, 2);
        rank.scan(1, 3 * PIECE);
    });
}

/// Slots that were not used before come next, then those which others may still read.
#[test]
fn more_of_a_ring_is_used_after_a_lap() {
    for slots in [3, 4] {
        ranks_with(slots, 1, 2, |rank| {
            rank.bcast(0, 2 * PIECE, 0);
            rank.bcast(1, 3 * PIECE, 0);
        });
    }
}

/// Slots from before the operation with one reader may still be read by others.
#[test]
fn one_reads_after_all() {
    ranks_within(0, 3, |rank| {
        rank.stream(0, 2, None);
        rank.stream(1, 1, Some(1));
    });
}
