//! Operations over lines.

use super::{Copies, Memory, all_combined, among, data, nobody, op, values};
use crate::flags::data_movement as algorithms;
use crate::flags::epoch::{Shape, Turn};
use crate::flags::layout as wire;
use crate::flags::pair;
use crate::flags::reduction as combining;
use crate::flags::segment::{Lines, Peer};
use crate::flags::v_variants::{Several, Told};
use alloc::vec;
use alloc::vec::Vec;
use ompi_core::data::{Blocks, Counts, Data, Source};
use opal_core::sync::model::await_value;
use opal_core::sync::{Ordering, writing};

/// One rank.
struct Rank {
    lines: Lines,
    peers: Vec<Option<Peer>>,
    on: Copies,
}

/// Numbers that lie beside flags, counts and release words.
const BESIDE: usize = 1;
/// Numbers that do not.
const IN_AREA: usize = 16;

impl Rank {
    fn bcast(&mut self, which: u32, count: usize, root: usize) {
        let sent = values(root, 0, which, count);
        let mut all = if self.on.rank == root { sent.clone() } else { vec![0; count] };
        let turn = Turn::begin(&self.lines, &self.peers, Shape::From(root), 4 * count).unwrap();
        algorithms::bcast(&turn, &mut self.on, &data(&mut all, count), root).unwrap();
        assert_eq!(all, sent);
    }

    fn scatter(&mut self, which: u32, count: usize, root: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let mut all: Vec<u32> = (0..size).flat_map(|to| values(root, to, which, count)).collect();
        let mut own = vec![0; count];
        let (from, to) = (data(&mut all, count), data(&mut own, count));
        let bytes = 4 * count * (size - 1);
        let turn = Turn::begin(&self.lines, &self.peers, Shape::From(root), bytes).unwrap();
        algorithms::scatter(&turn, &mut self.on, (rank == root).then_some(&from), Some(&to), root).unwrap();
        assert_eq!(own, values(root, rank, which, count));
    }

    fn gather(&mut self, which: u32, count: usize, root: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut all) = (values(rank, 0, which, count), vec![0; size * count]);
        let to = data(&mut all, count);
        let turn = Turn::begin(&self.lines, &self.peers, Shape::To(root), 4 * count).unwrap();
        let from = Source::From(data(&mut own, count));
        algorithms::gather(&turn, &mut self.on, from, (rank == root).then_some(&to)).unwrap();
        let each = (0..size).flat_map(|rank| values(rank, 0, which, count));
        assert!(rank != root || each.eq(all));
    }

    fn allgather(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut all) = (values(rank, 0, which, count), vec![0; size * count]);
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut all, count));
        let ends = (&self.lines, &self.peers[..]);
        match pair::serves(ends, 4 * count) {
            true => pair::allgather(ends, &mut self.on, from, &to).unwrap(),
            false => {
                let turn = Turn::begin(&self.lines, &self.peers, Shape::All, 4 * count).unwrap();
                algorithms::allgather(&turn, &mut self.on, from, &to).unwrap();
            }
        }
        assert!((0..size).flat_map(|rank| values(rank, 0, which, count)).eq(all));
    }

    fn reduce(&mut self, which: u32, count: usize, root: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let to = data(&mut sum, count);
        let turn = Turn::begin(&self.lines, &self.peers, Shape::To(root), 4 * count).unwrap();
        let from = Source::From(data(&mut own, count));
        combining::reduce(&turn, &mut self.on, from, (rank == root).then_some(&to), &op()).unwrap();
        assert!(rank != root || sum == all_combined(size, which, count));
    }

    fn allreduce(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut sum, count));
        let ends = (&self.lines, &self.peers[..]);
        match pair::serves(ends, 4 * count) {
            true => pair::allreduce(ends, &mut self.on, from, &to, &op()).unwrap(),
            false => {
                let turn = Turn::begin(&self.lines, &self.peers, Shape::All, 4 * count).unwrap();
                combining::allreduce(&turn, &mut self.on, from, &to, &op()).unwrap();
            }
        }
        assert_eq!(sum, all_combined(size, which, count));
    }

    fn reduce_scatter(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, size * count), vec![0; count]);
        let turn = Turn::begin(&self.lines, &self.peers, Shape::All, 4 * size * count).unwrap();
        let (from, to) = (Source::From(data(&mut own, size * count)), data(&mut sum, count));
        let extent = (rank * count, size * count);
        combining::reduce_scatter(&turn, &mut self.on, (from, &to, &op()), extent).unwrap();
        assert_eq!(sum, all_combined(size, which, size * count)[rank * count..][..count]);
    }

    fn scan(&mut self, which: u32, count: usize, is_exclusive: bool) {
        let rank = self.on.rank;
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let turn = Turn::begin(&self.lines, &self.peers, Shape::Up, 4 * count).unwrap();
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut sum, count));
        combining::scan(&turn, &mut self.on, (from, &to, &op()), is_exclusive).unwrap();
        match rank + usize::from(!is_exclusive) {
            0 => assert!(sum.iter().all(|number| *number == 0)),
            those => assert_eq!(sum, all_combined(those, which, count)),
        }
    }

    /// MPI_Alltoallv of blocks of `to + 1` numbers.
    fn exchange(&mut self, which: u32) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (places, mine) = (vec![0i32, 4, 8], vec![rank as i32 + 1; 3]);
        let mut own: Vec<u32> = (0..size).flat_map(|to| values(rank, to, which, 4)).collect();
        let mut all = vec![0; 4 * size];
        let blocks = |all: &mut [u32], counts: &'static [i32], places: &'static [i32]| {
            let Data { at, datatype, .. } = data(all, 0);
            Blocks { at, counts: Counts::Int(counts), displacements: Counts::Int(places), datatype }
        };
        let (places, mine): (&'static [i32], &'static [i32]) = (places.leak(), mine.leak());
        let (from, to) = (blocks(&mut own, &[1, 2, 3], places), blocks(&mut all, mine, places));
        let turn = Turn::begin(&self.lines, &self.peers, Shape::All, wire::area_bytes(size)).unwrap();
        let told = Told::tell(turn, &mut self.on, Several::Alike(&from), Several::Alike(&to)).unwrap();
        assert!(told.is_short() && told.longest == 12 && told.all == 4 * 2 * (1 + 2 + 3));
        told.take(&mut self.on).unwrap();
        for peer in (0..size).filter(|peer| *peer != rank) {
            assert_eq!(all[4 * peer..][..rank + 1], values(peer, rank, which, rank + 1));
        }
    }

    fn barrier(&self) {
        match self.lines.size {
            2 => pair::barrier((&self.lines, &self.peers)).unwrap(),
            _ => Turn::begin(&self.lines, &self.peers, Shape::All, 0).unwrap().meet().unwrap(),
        }
    }
}

fn ranks(size: usize, each: fn(&mut Rank)) {
    ranks_within(usize::MAX, size, each);
}

fn ranks_within(preemptions: usize, size: usize, each: fn(&mut Rank)) {
    ranks_on(&[], preemptions, size, each);
}

/// Ranks on these cores, where they share any.
fn ranks_on(told: &'static [u64], preemptions: usize, size: usize, each: fn(&mut Rank)) {
    let memory = Memory::new(wire::bytes(size));
    among(size, preemptions, memory, move |rank| {
        let lines = Lines::over(memory.part(wire::DEPARTED), rank, size);
        if !told.is_empty() {
            assert!(lines.past.lock().cores.learn(told.to_vec(), rank));
        }
        let mut one = Rank { lines, peers: nobody(size), on: Copies::new(rank, size, memory) };
        each(&mut one);
        // To leave is a model of its own.
        core::mem::forget(one.lines);
    });
}

/// Values travel with the flags; each parity is used twice.
#[test]
fn two_ranks_combine_what_lies_beside_their_flags() {
    ranks(2, |rank| (0..3).for_each(|which| rank.allreduce(which, BESIDE)));
}

#[test]
fn two_ranks_exchange_words_around_what_one_writes() {
    ranks(2, |rank| {
        rank.allgather(0, BESIDE);
        rank.bcast(1, BESIDE, 1);
        rank.allgather(2, BESIDE);
    });
}

#[test]
fn two_ranks_combine_what_lies_in_areas() {
    ranks(2, |rank| (0..3).for_each(|which| rank.allreduce(which, IN_AREA)));
}

/// The writer waits for nothing but the other one's answer to the operation before the last.
#[test]
fn one_of_two_writes_again_and_again() {
    ranks(2, |rank| (0..4).for_each(|which| rank.bcast(which, IN_AREA, 0)));
}

#[test]
fn one_of_two_writes_beside_its_flag_again_and_again() {
    ranks(2, |rank| (0..4).for_each(|which| rank.bcast(which, BESIDE, 0)));
}

#[test]
fn two_ranks_write_in_turns() {
    ranks(2, |rank| {
        rank.bcast(0, IN_AREA, 0);
        rank.reduce(1, IN_AREA, 0);
        rank.scatter(2, IN_AREA, 0);
        rank.gather(3, IN_AREA, 1);
    });
}

/// The operation between lets the writer go on at once.
#[test]
fn one_of_two_writes_between_what_both_write() {
    ranks(2, |rank| {
        rank.allreduce(0, IN_AREA);
        rank.bcast(1, IN_AREA, 0);
        rank.allreduce(2, IN_AREA);
    });
}

#[test]
fn one_of_two_writes_between_what_both_write_beside_their_flags() {
    ranks(2, |rank| {
        rank.allreduce(0, BESIDE);
        rank.gather(1, BESIDE, 1);
        rank.allgather(2, BESIDE);
    });
}

/// Numbers beside the count, the sum beside the release word.
#[test]
fn three_ranks_combine_what_lies_beside_the_count() {
    ranks(3, |rank| {
        rank.allreduce(0, BESIDE);
        rank.barrier();
    });
}

#[test]
fn three_ranks_combine_what_lies_in_areas() {
    ranks(3, |rank| rank.allreduce(0, IN_AREA));
}

/// The last one of a core counts for it.
#[test]
fn three_ranks_on_two_cores_combine_what_lies_beside_the_count() {
    ranks_on(&[1, 2, 1], usize::MAX, 3, |rank| {
        rank.allreduce(0, BESIDE);
        rank.barrier();
    });
}

/// Counts of turns in which all wait for the root only have nothing to do with cores.
#[test]
fn three_ranks_on_two_cores_go_on_after_one_waited_for_all() {
    ranks_on(&[1, 1, 2], 1, 3, |rank| {
        rank.reduce(0, IN_AREA, 1);
        rank.allreduce(1, IN_AREA);
        rank.allgather(2, BESIDE);
    });
}

/// What moved from one core to another is counted there from then on.
#[test]
fn three_ranks_move_to_other_cores() {
    ranks_on(&[1, 2, 1], 1, 3, |rank| {
        rank.barrier();
        rank.lines.past.lock().cores.learn(vec![3, 3, 2], rank.on.rank);
        rank.allreduce(0, BESIDE);
        rank.lines.past.lock().cores.learn(vec![1, 2, 3], rank.on.rank);
        rank.barrier();
        rank.lines.past.lock().cores.learn(vec![1, 3, 3], rank.on.rank);
        rank.allreduce(1, BESIDE);
    });
}

#[test]
fn three_ranks_on_one_core_meet() {
    ranks_on(&[5, 5, 5], usize::MAX, 3, |rank| {
        rank.allgather(0, IN_AREA);
        rank.barrier();
    });
}

/// Before a turn is used again, all meet.
#[test]
fn one_of_three_writes_beside_the_release_word_again_and_again() {
    ranks_within(0, 3, |rank| (0..4).for_each(|which| rank.bcast(which, BESIDE, 0)));
}

#[test]
fn one_of_three_writes_in_areas_again_and_again() {
    ranks_within(0, 3, |rank| (0..4).for_each(|which| rank.bcast(which, IN_AREA, 0)));
}

#[test]
fn one_of_three_gathers_again_and_again() {
    ranks(3, |rank| (0..3).for_each(|which| rank.gather(which, BESIDE, 0)));
}

/// Nobody waits for who is behind.
#[test]
fn three_scan_what_lies_beside_their_words() {
    ranks_within(1, 3, |rank| {
        rank.scan(0, BESIDE, false);
        rank.scan(1, BESIDE, true);
    });
}

/// Before a turn is used again, all meet.
#[test]
fn three_scan_in_the_turn_of_another_scan() {
    ranks_within(0, 3, |rank| {
        rank.scan(0, BESIDE, false);
        rank.lines.past.lock().number = wire::TURNS as u64 - 1;
        rank.scan(1, BESIDE, false);
        assert_eq!(rank.lines.past.lock().number, wire::TURNS as u64 + 1);
    });
}

#[test]
fn three_scan_in_areas_after_what_all_wrote() {
    ranks_within(0, 3, |rank| {
        rank.reduce_scatter(0, IN_AREA);
        (1..3).for_each(|which| rank.scan(which, IN_AREA, false));
    });
}

#[test]
fn three_exchange_blocks_of_their_own_lengths() {
    ranks_within(1, 3, |rank| rank.exchange(0));
}

/// What all wrote is still being read when one of them has gone on to the same turn.
#[test]
fn one_of_three_writes_between_what_all_write() {
    ranks_within(0, 3, |rank| {
        rank.allgather(0, BESIDE);
        (1..5).for_each(|which| rank.bcast(which, BESIDE, 0));
        rank.allgather(5, BESIDE);
    });
}

/// The same in areas, of which there are fewer.
#[test]
fn one_of_three_writes_in_areas_after_what_all_wrote() {
    ranks_within(0, 3, |rank| {
        rank.allgather(0, IN_AREA);
        (1..4).for_each(|which| rank.bcast(which, IN_AREA, 0));
    });
}

#[test]
fn all_write_in_areas_after_what_lay_beside_the_release_word() {
    ranks_within(0, 3, |rank| {
        rank.allgather(0, IN_AREA);
        (1..3).for_each(|which| rank.bcast(which, BESIDE, 0));
        rank.allgather(3, IN_AREA);
    });
}

#[test]
fn three_ranks_combine_in_areas_again_and_again() {
    ranks_within(0, 3, |rank| (0..4).for_each(|which| rank.allreduce(which, IN_AREA)));
}

/// Who counted itself out reads nothing any more: the memory may be others' then.
#[test]
fn what_all_have_left_nobody_reads() {
    let memory = Memory::new(wire::bytes(2));
    among(2, usize::MAX, memory, move |rank| {
        let lines = Lines::over(memory.part(wire::DEPARTED), rank, 2);
        let mut one = Rank { lines, peers: nobody(2), on: Copies::new(rank, 2, memory) };
        one.bcast(0, IN_AREA, 0);
        let departed = one.lines.shared().word(wire::DEPARTED);
        drop(one);
        if rank == 0 {
            // As in `ompi_core::shared_pool`.
            await_value(departed, Ordering::Acquire, |users| users == 2);
            writing(memory.at().wrapping_add(wire::area(1, 0, 2)), 4 * IN_AREA);
        }
    });
}
