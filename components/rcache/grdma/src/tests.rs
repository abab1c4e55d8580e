//! What is kept, against a list that is searched from end to end; and what is told.

use crate::cache::{Bounds, Cache};
use crate::notices::{Notice, Notices};
use opal_core::framework::btl::Registration;
use opal_core::random::Random;
use std::ops::Range;
use std::vec::Vec;

/// What the cache should hold, with nothing to find it by.
struct Naive {
    range: Range<usize>,
    handle: u64,
    number: u32,
    users: u32,
    is_retired: bool,
    last_used: u64,
}

fn registration(handle: u64) -> Registration {
    Registration { handle, key: handle.to_le_bytes().to_vec() }
}

fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Both, with what has ended.
struct Pair {
    cache: Cache,
    list: Vec<Naive>,
    clock: u64,
    made: u64,
}

const BOUNDS: Bounds = Bounds { entries: 6, bytes: 400 };

impl Pair {
    fn acquire(&mut self, range: Range<usize>) {
        self.clock += 1;
        let has =
            |entry: &&mut Naive| !entry.is_retired && entry.range.start <= range.start && range.end <= entry.range.end;
        let known = self.list.iter_mut().find(has);
        let found = self.cache.find(&range);
        assert_eq!(found, known.as_ref().map(|entry| entry.number), "{range:?}");
        if let Some(entry) = known {
            assert_eq!(self.cache.key(entry.number), entry.handle.to_le_bytes());
            entry.users += 1;
            entry.last_used = self.clock;
            return;
        }
        let joined = self.cache.joined(&range);
        let live = self.list.iter().filter(|entry| !entry.is_retired && overlaps(&entry.range, &range));
        let all = live.fold(range.clone(), |all, entry| all.start.min(entry.range.start)..all.end.max(entry.range.end));
        assert_eq!(joined, all);
        self.forget(&joined);
        while !self.cache.has_room(joined.len(), BOUNDS) {
            let idle = self.list.iter().filter(|entry| !entry.is_retired && entry.users == 0);
            let oldest = idle.min_by_key(|entry| entry.last_used).map(|entry| entry.handle);
            assert_eq!(self.cache.give_up().map(|ended| ended.handle), oldest, "least recently used first");
            let Some(oldest) = oldest else { return };
            self.list.retain(|entry| entry.handle != oldest);
        }
        self.made += 1;
        let (handle, last_used) = (self.made, self.clock);
        let number = self.cache.keep(&joined, registration(handle));
        self.list.push(Naive { range: joined, handle, number, users: 1, is_retired: false, last_used });
    }

    fn forget(&mut self, range: &Range<usize>) {
        let mut ended = Vec::new();
        self.cache.forget(range, |registration| ended.push(registration.handle));
        let mut expected = Vec::new();
        self.list.retain_mut(|entry| {
            entry.is_retired |= overlaps(&entry.range, range);
            let goes = entry.is_retired && entry.users == 0;
            expected.extend(goes.then_some(entry.handle));
            !goes
        });
        ended.sort_unstable();
        expected.sort_unstable();
        assert_eq!(ended, expected, "{range:?}");
    }

    fn release(&mut self, at: usize) {
        let entry = &mut self.list[at];
        if entry.users == 0 {
            return;
        }
        entry.users -= 1;
        let goes = (entry.users == 0 && entry.is_retired).then_some(entry.handle);
        assert_eq!(self.cache.release(entry.number).map(|ended| ended.handle), goes);
        self.list.retain(|entry| Some(entry.handle) != goes);
    }
}

#[test]
fn is_what_a_list_would_be() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut pair = Pair { cache: Cache::new(), list: Vec::new(), clock: 0, made: 0 };
        for _ in 0..200 {
            let start = 1 + random.below(500) as usize;
            let range = start..start + 1 + random.below(80) as usize;
            match random.below(4) {
                0 => pair.forget(&range),
                1 if !pair.list.is_empty() => {
                    let at = random.below(pair.list.len() as u64) as usize;
                    pair.release(at);
                }
                _ => pair.acquire(range),
            }
            let live: Vec<&Naive> = pair.list.iter().filter(|entry| !entry.is_retired).collect();
            let bytes = live.iter().map(|entry| entry.range.len()).sum::<usize>();
            assert_eq!(pair.cache.size(), (live.len(), bytes));
            assert!(live.len() <= BOUNDS.entries && bytes <= BOUNDS.bytes);
        }
    }
}

#[test]
fn far_more_than_was_asked_for_is_not_registered() {
    let mut cache = Cache::new();
    cache.keep(&(0..100 << 20), registration(1));
    let beyond = (100 << 20) - 1..(100 << 20) + 5;
    assert_eq!(cache.joined(&beyond), beyond);
    let large = 50 << 20..150 << 20;
    assert_eq!(cache.joined(&large), 0..150 << 20);
}

#[test]
fn notices_come_in_order_and_those_without_room_are_not_lost() {
    let notices = Notices::<4>::new();
    let taken = || {
        let mut taken = Vec::new();
        notices.take(|notice| taken.push(notice));
        taken
    };
    for lap in 0..5 {
        assert!(notices.is_empty());
        (0..3).for_each(|number| notices.tell(lap + number, 100 + number));
        assert!(!notices.is_empty());
        assert_eq!(taken(), [0, 1, 2].map(|number| Notice::Range(lap + number, 100 + number)));
    }
    (0..6).for_each(|number| notices.tell(number, number + 1));
    let all = taken();
    assert_eq!(all[0], Notice::Everything);
    assert_eq!(all[1..], [0, 1, 2, 3].map(|number| Notice::Range(number, number + 1)));
    assert!(notices.is_empty() && taken().is_empty());
}
