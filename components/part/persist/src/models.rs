//! Every order of the accesses of threads that mark partitions and of one that makes progress.

extern crate std;

use crate::marks::{Marked, Marks, Taken};
use opal_core::sync::model::{check, reading_value, spawn, writing_value};
use opal_core::sync::{ConditionalLock, raise_threads};
use std::sync::Arc;
use std::vec::Vec;

/// A send of two partitions, of which models watch who writes and reads them.
struct Sending {
    marks: Marks,
    out: ConditionalLock<Out>,
    data: [u8; PARTITIONS],
}

/// What belongs to who makes progress.
struct Out {
    taken: Taken,
    sent: Vec<usize>,
    // Runs behind which nothing of the round was left.
    last: usize,
}

const PARTITIONS: usize = 2;

impl Sending {
    fn begin() -> Arc<Sending> {
        raise_threads();
        let (marks, taken) = Marks::new(PARTITIONS).unwrap();
        let out = ConditionalLock::new(Out { taken, sent: Vec::new(), last: 0 });
        let sending = Arc::new(Sending { marks, out, data: [0; PARTITIONS] });
        // A model knows words by their addresses, which are what they stay only now.
        sending.marks.clear(&mut sending.out.lock().taken);
        sending
    }

    /// As `PartitionedSend::mark`; whether it was the last one.
    fn mark(&self, partition: usize) -> bool {
        writing_value(&raw const self.data[partition]);
        let marked = self.marks.mark(partition..partition + 1, || ());
        assert_ne!(marked, Marked::Twice);
        if marked == Marked::All {
            self.push();
        }
        marked == Marked::All
    }

    /// As `PartitionedSend::push`, if no other thread is at it.
    fn push(&self) {
        let Some(mut out) = self.out.try_lock() else { return };
        let Out { taken, sent, last } = &mut *out;
        let all = self.marks.is_full();
        self.marks.take(taken, |run, is_last| {
            *last += usize::from(is_last);
            for partition in run {
                reading_value(&raw const self.data[partition]);
                sent.push(partition);
            }
        });
        assert!(!all || taken.count == PARTITIONS, "who finds all counted takes all");
    }

    fn sent(&self) -> Vec<usize> {
        self.push();
        let out = self.out.lock();
        assert_eq!(out.last, 1, "one run is the last one of the round, whoever takes it");
        let mut sent = out.sent.clone();
        sent.sort_unstable();
        sent
    }
}

#[test]
fn each_partition_is_taken_once_and_with_its_data() {
    check(|| {
        let sending = Sending::begin();
        let (one, two) = (sending.clone(), sending.clone());
        let threads = [spawn(move || one.mark(0)), spawn(move || two.mark(1))];
        sending.push();
        let last = threads.map(|thread| thread.join().unwrap());
        assert_eq!(last.iter().filter(|last| **last).count(), 1);
        assert_eq!(sending.sent(), [0, 1]);
    });
}

#[test]
fn a_second_mark_is_told_to_one_of_two_threads() {
    check(|| {
        let sending = Sending::begin();
        let other = sending.clone();
        let thread = spawn(move || other.marks.mark(0..1, || ()));
        let marked = [sending.marks.mark(0..1, || ()), thread.join().unwrap()];
        assert_eq!(marked.iter().filter(|marked| **marked == Marked::Twice).count(), 1);
        assert_eq!(sending.marks.left(), 1);
        assert!(sending.mark(1));
        assert_eq!(sending.sent(), [0, 1]);
    });
}
