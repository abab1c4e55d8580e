//! Epochs on a segment.

use super::{Copies, Memory, all_combined, among, data, nobody, op, values};
use crate::buffer::VBlocks;
use crate::flags::data_movement;
use crate::flags::epoch::Epoch;
use crate::flags::layout;
use crate::flags::pair_words;
use crate::flags::reduction;
use crate::flags::segment::{Pattern, Segment};
use crate::flags::v_variants::ExchangedLengths;
use crate::peer::Peer;
use alloc::vec;
use alloc::vec::Vec;
use ompi_core::data::{Blocks, Counts, Data, Source};
use opal_core::sync::model::await_value;
use opal_core::sync::{Ordering, writing};

/// One rank.
struct Rank {
    segment: Segment,
    peers: Vec<Option<Peer>>,
    on: Copies,
}

/// Numbers that lie beside flags, counts and release words.
const INLINE: usize = 1;
/// Numbers that do not.
const IN_SLOT: usize = 16;

impl Rank {
    fn bcast(&mut self, which: u32, count: usize, root: usize) {
        let sent = values(root, 0, which, count);
        let mut all = if self.on.rank == root { sent.clone() } else { vec![0; count] };
        let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::OneToAll(root), 4 * count).unwrap();
        data_movement::bcast(&epoch, &mut self.on, &data(&mut all, count), root).unwrap();
        assert_eq!(all, sent);
    }

    fn scatter(&mut self, which: u32, count: usize, root: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let mut all: Vec<u32> = (0..size).flat_map(|to| values(root, to, which, count)).collect();
        let mut own = vec![0; count];
        let (from, to) = (data(&mut all, count), data(&mut own, count));
        let bytes = 4 * count * (size - 1);
        let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::OneToAll(root), bytes).unwrap();
        data_movement::scatter(&epoch, &mut self.on, (rank == root).then_some(&from), Some(&to), root).unwrap();
        assert_eq!(own, values(root, rank, which, count));
    }

    fn gather(&mut self, which: u32, count: usize, root: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut all) = (values(rank, 0, which, count), vec![0; size * count]);
        let to = data(&mut all, count);
        let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::AllToOne(root), 4 * count).unwrap();
        let from = Source::From(data(&mut own, count));
        data_movement::gather(&epoch, &mut self.on, from, (rank == root).then_some(&to)).unwrap();
        let each = (0..size).flat_map(|rank| values(rank, 0, which, count));
        assert!(rank != root || each.eq(all));
    }

    fn allgather(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut all) = (values(rank, 0, which, count), vec![0; size * count]);
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut all, count));
        let team = (&self.segment, &self.peers[..]);
        match pair_words::serves(team, 4 * count) {
            true => pair_words::allgather(team, &mut self.on, from, &to).unwrap(),
            false => {
                let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::AllToAll, 4 * count).unwrap();
                data_movement::allgather(&epoch, &mut self.on, from, &to).unwrap();
            }
        }
        assert!((0..size).flat_map(|rank| values(rank, 0, which, count)).eq(all));
    }

    fn reduce(&mut self, which: u32, count: usize, root: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let to = data(&mut sum, count);
        let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::AllToOne(root), 4 * count).unwrap();
        let from = Source::From(data(&mut own, count));
        reduction::reduce(&epoch, &mut self.on, from, (rank == root).then_some(&to), &op()).unwrap();
        assert!(rank != root || sum == all_combined(size, which, count));
    }

    fn allreduce(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut sum, count));
        let team = (&self.segment, &self.peers[..]);
        match pair_words::serves(team, 4 * count) {
            true => pair_words::allreduce(team, &mut self.on, from, &to, &op()).unwrap(),
            false => {
                let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::AllToAll, 4 * count).unwrap();
                reduction::allreduce(&epoch, &mut self.on, from, &to, &op()).unwrap();
            }
        }
        assert_eq!(sum, all_combined(size, which, count));
    }

    fn reduce_in_parts(&mut self, which: u32, count: usize, root: Option<usize>) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut sum, count));
        let to = root.is_none_or(|root| root == rank).then_some(&to);
        reduction::reduce_in_parts((&self.segment, &self.peers), &mut self.on, (from, to, &op()), root).unwrap();
        assert!(to.is_none() || sum == all_combined(size, which, count));
    }

    fn reduce_scatter(&mut self, which: u32, count: usize) {
        let (rank, size) = (self.on.rank, self.on.size);
        let (mut own, mut sum) = (values(rank, 0, which, size * count), vec![0; count]);
        let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::AllToAll, 4 * size * count).unwrap();
        let (from, to) = (Source::From(data(&mut own, size * count)), data(&mut sum, count));
        let extent = (rank * count, size * count);
        reduction::reduce_scatter(&epoch, &mut self.on, (from, &to, &op()), extent).unwrap();
        assert_eq!(sum, all_combined(size, which, size * count)[rank * count..][..count]);
    }

    fn scan(&mut self, which: u32, count: usize, is_exclusive: bool) {
        let rank = self.on.rank;
        let (mut own, mut sum) = (values(rank, 0, which, count), vec![0; count]);
        let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::Scan, 4 * count).unwrap();
        let (from, to) = (Source::From(data(&mut own, count)), data(&mut sum, count));
        reduction::scan(&epoch, &mut self.on, (from, &to, &op()), is_exclusive).unwrap();
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
        let epoch = Epoch::begin(&self.segment, &self.peers, Pattern::AllToAll, layout::slot_bytes(size)).unwrap();
        let lengths =
            ExchangedLengths::exchange(epoch, &mut self.on, VBlocks::Uniform(&from), VBlocks::Uniform(&to)).unwrap();
        assert!(lengths.is_short() && lengths.longest == 12 && lengths.all == 4 * 2 * (1 + 2 + 3));
        lengths.take(&mut self.on).unwrap();
        for peer in (0..size).filter(|peer| *peer != rank) {
            assert_eq!(all[4 * peer..][..rank + 1], values(peer, rank, which, rank + 1));
        }
    }

    fn barrier(&self) {
        match self.segment.size {
            2 => pair_words::barrier((&self.segment, &self.peers)).unwrap(),
            _ => Epoch::begin(&self.segment, &self.peers, Pattern::AllToAll, 0).unwrap().barrier().unwrap(),
        }
    }
}

fn ranks(size: usize, each: fn(&mut Rank)) {
    ranks_within(usize::MAX, size, each);
}

fn ranks_within(preemptions: usize, size: usize, each: fn(&mut Rank)) {
    ranks_on((&[], false), preemptions, size, each);
}

/// Ranks that set flags of their own.
fn ranks_by_flags(preemptions: usize, size: usize, each: fn(&mut Rank)) {
    ranks_on((&[], true), preemptions, size, each);
}

/// Ranks on these cores, where they share any.
fn ranks_on((cores, by_flags): (&'static [u64], bool), preemptions: usize, size: usize, each: fn(&mut Rank)) {
    let memory = Memory::new(layout::bytes(size));
    among(size, preemptions, memory, move |rank| {
        let segment = Segment::over(memory.part(layout::DETACH_COUNT), rank, size, by_flags);
        if !cores.is_empty() {
            assert!(segment.state.lock().sharing.learn(cores.to_vec(), rank));
        }
        let mut one = Rank { segment, peers: nobody(size), on: Copies::new(rank, size, memory) };
        each(&mut one);
        // To leave is a model of its own.
        core::mem::forget(one.segment);
    });
}

/// Values travel with the flags; each parity is used twice.
#[test]
fn two_ranks_combine_what_lies_beside_their_flags() {
    ranks(2, |rank| (0..3).for_each(|which| rank.allreduce(which, INLINE)));
}

#[test]
fn two_ranks_exchange_words_around_what_one_writes() {
    ranks(2, |rank| {
        rank.allgather(0, INLINE);
        rank.bcast(1, INLINE, 1);
        rank.allgather(2, INLINE);
    });
}

#[test]
fn two_ranks_combine_what_lies_in_slots() {
    ranks(2, |rank| (0..3).for_each(|which| rank.allreduce(which, IN_SLOT)));
}

/// The writer waits for nothing but the other one's answer to the operation before the last.
#[test]
fn one_of_two_writes_again_and_again() {
    ranks(2, |rank| (0..4).for_each(|which| rank.bcast(which, IN_SLOT, 0)));
}

#[test]
fn one_of_two_writes_beside_its_flag_again_and_again() {
    ranks(2, |rank| (0..4).for_each(|which| rank.bcast(which, INLINE, 0)));
}

#[test]
fn two_ranks_write_in_turns() {
    ranks(2, |rank| {
        rank.bcast(0, IN_SLOT, 0);
        rank.reduce(1, IN_SLOT, 0);
        rank.scatter(2, IN_SLOT, 0);
        rank.gather(3, IN_SLOT, 1);
    });
}

/// The operation between lets the writer go on at once.
#[test]
fn one_of_two_writes_between_what_both_write() {
    ranks(2, |rank| {
        rank.allreduce(0, IN_SLOT);
        rank.bcast(1, IN_SLOT, 0);
        rank.allreduce(2, IN_SLOT);
    });
}

#[test]
fn one_of_two_writes_between_what_both_write_beside_their_flags() {
    ranks(2, |rank| {
        rank.allreduce(0, INLINE);
        rank.gather(1, INLINE, 1);
        rank.allgather(2, INLINE);
    });
}

/// Numbers beside the count, the sum beside the release word.
#[test]
fn three_ranks_combine_what_lies_beside_the_count() {
    ranks(3, |rank| {
        rank.allreduce(0, INLINE);
        rank.barrier();
    });
}

#[test]
fn three_ranks_combine_what_lies_in_slots() {
    ranks(3, |rank| rank.allreduce(0, IN_SLOT));
}

/// The last one of a core counts for it.
#[test]
fn three_ranks_on_two_cores_combine_what_lies_beside_the_count() {
    ranks_on((&[1, 2, 1], false), usize::MAX, 3, |rank| {
        rank.allreduce(0, INLINE);
        rank.barrier();
    });
}

/// Counters of all-to-one epochs have nothing to do with cores.
#[test]
fn three_ranks_on_two_cores_go_on_after_one_waited_for_all() {
    ranks_on((&[1, 1, 2], false), 1, 3, |rank| {
        rank.reduce(0, IN_SLOT, 1);
        rank.allreduce(1, IN_SLOT);
        rank.allgather(2, INLINE);
    });
}

/// What moved from one core to another is counted there from then on.
#[test]
fn three_ranks_move_to_other_cores() {
    ranks_on((&[1, 2, 1], false), 1, 3, |rank| {
        rank.barrier();
        rank.segment.state.lock().sharing.learn(vec![3, 3, 2], rank.on.rank);
        rank.allreduce(0, INLINE);
        rank.segment.state.lock().sharing.learn(vec![1, 2, 3], rank.on.rank);
        rank.barrier();
        rank.segment.state.lock().sharing.learn(vec![1, 3, 3], rank.on.rank);
        rank.allreduce(1, INLINE);
    });
}

#[test]
fn three_ranks_on_one_core_meet() {
    ranks_on((&[5, 5, 5], false), usize::MAX, 3, |rank| {
        rank.allgather(0, IN_SLOT);
        rank.barrier();
    });
}

/// A barrier comes before a flag set is used again.
#[test]
fn one_of_three_writes_beside_the_release_word_again_and_again() {
    ranks_within(0, 3, |rank| (0..4).for_each(|which| rank.bcast(which, INLINE, 0)));
}

#[test]
fn one_of_three_writes_in_slots_again_and_again() {
    ranks_within(0, 3, |rank| (0..4).for_each(|which| rank.bcast(which, IN_SLOT, 0)));
}

#[test]
fn one_of_three_gathers_again_and_again() {
    ranks(3, |rank| (0..3).for_each(|which| rank.gather(which, INLINE, 0)));
}

/// No rank waits for those behind it.
#[test]
fn three_scan_what_lies_beside_their_words() {
    ranks_within(1, 3, |rank| {
        rank.scan(0, INLINE, false);
        rank.scan(1, INLINE, true);
    });
}

/// A barrier comes before a flag set is used again.
#[test]
fn three_scan_in_the_flag_set_of_another_scan() {
    ranks_within(0, 3, |rank| {
        rank.scan(0, INLINE, false);
        rank.segment.state.lock().epoch = layout::FLAG_SETS as u64 - 1;
        rank.scan(1, INLINE, false);
        assert_eq!(rank.segment.state.lock().epoch, layout::FLAG_SETS as u64 + 1);
    });
}

#[test]
fn three_scan_in_slots_after_what_all_wrote() {
    ranks_within(0, 3, |rank| {
        rank.reduce_scatter(0, IN_SLOT);
        (1..3).for_each(|which| rank.scan(which, IN_SLOT, false));
    });
}

#[test]
fn three_exchange_blocks_of_their_own_lengths() {
    ranks_within(1, 3, |rank| rank.exchange(0));
}

/// What all wrote is still being read when one of them has gone on to the same epoch.
#[test]
fn one_of_three_writes_between_what_all_write() {
    ranks_within(0, 3, |rank| {
        rank.allgather(0, INLINE);
        (1..5).for_each(|which| rank.bcast(which, INLINE, 0));
        rank.allgather(5, INLINE);
    });
}

/// The same in data slots, of which there are fewer.
#[test]
fn one_of_three_writes_in_slots_after_what_all_wrote() {
    ranks_within(0, 3, |rank| {
        rank.allgather(0, IN_SLOT);
        (1..4).for_each(|which| rank.bcast(which, IN_SLOT, 0));
    });
}

#[test]
fn all_write_in_slots_after_what_lay_beside_the_release_word() {
    ranks_within(0, 3, |rank| {
        rank.allgather(0, IN_SLOT);
        (1..3).for_each(|which| rank.bcast(which, INLINE, 0));
        rank.allgather(3, IN_SLOT);
    });
}

#[test]
fn three_ranks_combine_in_slots_again_and_again() {
    ranks_within(0, 3, |rank| (0..4).for_each(|which| rank.allreduce(which, IN_SLOT)));
}

/// Each sets a flag and reads those of all; each parity is used twice.
#[test]
fn three_ranks_with_flags_of_their_own_combine_what_lies_beside_them() {
    ranks_by_flags(0, 3, |rank| (0..3).for_each(|which| rank.allreduce(which, INLINE)));
}

#[test]
fn one_of_three_gathers_in_slots_behind_their_flags_again_and_again() {
    ranks_by_flags(0, 3, |rank| (0..3).for_each(|which| rank.gather(which, IN_SLOT, 0)));
}

#[test]
fn three_ranks_with_flags_of_their_own_combine_in_slots() {
    ranks_by_flags(0, 3, |rank| (0..2).for_each(|which| rank.allreduce(which, IN_SLOT)));
}

/// The parity of meetings, not that of epochs, says which flag is free.
#[test]
fn three_ranks_with_flags_of_their_own_meet_around_what_one_writes() {
    ranks_by_flags(0, 3, |rank| {
        rank.allgather(0, INLINE);
        rank.bcast(1, INLINE, 1);
        rank.allgather(2, INLINE);
    });
}

/// A barrier comes before a flag set is used again.
#[test]
fn one_of_three_gathers_what_lies_beside_their_flags_again_and_again() {
    ranks_by_flags(0, 3, |rank| (0..4).for_each(|which| rank.gather(which, INLINE, 0)));
}

#[test]
fn one_of_three_combines_what_lies_beside_their_flags_after_a_scan() {
    ranks_by_flags(1, 3, |rank| {
        rank.scan(0, INLINE, false);
        rank.reduce(1, INLINE, 0);
        rank.gather(2, INLINE, 1);
    });
}

#[test]
fn three_ranks_combine_a_part_each() {
    ranks_by_flags(0, 3, |rank| rank.reduce_in_parts(0, IN_SLOT, None));
}

#[test]
fn three_ranks_combine_a_part_each_for_one_of_them() {
    ranks_by_flags(0, 3, |rank| rank.reduce_in_parts(0, IN_SLOT, Some(1)));
}

/// A rank that counted itself out reads nothing any more: the memory may belong to others then.
#[test]
fn what_all_have_left_nobody_reads() {
    let memory = Memory::new(layout::bytes(2));
    among(2, usize::MAX, memory, move |rank| {
        let segment = Segment::over(memory.part(layout::DETACH_COUNT), rank, 2, false);
        let mut one = Rank { segment, peers: nobody(2), on: Copies::new(rank, 2, memory) };
        one.bcast(0, IN_SLOT, 0);
        let departed = one.segment.shared().word(layout::DETACH_COUNT);
        drop(one);
        if rank == 0 {
            // As in `ompi_core::shared_pool`.
            await_value(departed, Ordering::Acquire, |users| users == 2);
            writing(memory.at().wrapping_add(layout::data_slot(1, 0, 2)), 4 * IN_SLOT);
        }
    });
}
