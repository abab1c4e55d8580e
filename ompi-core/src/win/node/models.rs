//! Every order of the accesses of processes to the words of a ticket lock. What the lock guards is watched: a writer beside anybody
//! else is a failure, and so is one who sleeps for ever because nobody woke it.

extern crate std;

use super::ticket::Ticket;
use crate::framework::osc::Lock;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::model::{await_value, check_within, reading_value, spawn, writing_value};
use opal_core::sync::{AtomicU64, Ordering};

struct Words {
    next: AtomicU64,
    may_share: AtomicU64,
    may_own: AtomicU64,
    wakes: AtomicU64,
    guarded: u64,
}

impl Words {
    fn new() -> Arc<Words> {
        let word = || AtomicU64::new(0);
        Arc::new(Words { next: word(), may_share: word(), may_own: word(), wakes: word(), guarded: 0 })
    }

    fn ticket(&self) -> Ticket<'_> {
        Ticket { next: &self.next, may_share: &self.may_share, may_own: &self.may_own }
    }

    fn wake(&self) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes the lock, uses what it guards and gives it back; sleeps where it waits.
    fn turn(&self, lock: Lock) {
        let sleep = |done: &dyn Fn() -> bool| {
            loop {
                let wakes = self.wakes.load(Ordering::SeqCst);
                if done() {
                    return Ok(());
                }
                await_value(&self.wakes, Ordering::SeqCst, |now| now != wakes);
            }
        };
        self.ticket().lock(lock, sleep, || self.wake()).unwrap();
        match lock {
            Lock::Exclusive => writing_value(&raw const self.guarded),
            Lock::Shared => reading_value(&raw const self.guarded),
        }
        self.ticket().unlock(lock, || self.wake());
    }
}

fn turns(all: &'static [Lock]) {
    check_within(3, move || {
        let words = Words::new();
        let others: Vec<_> = all[1..]
            .iter()
            .map(|lock| {
                let words = words.clone();
                spawn(move || words.turn(*lock))
            })
            .collect();
        words.turn(all[0]);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn two_writers() {
    turns(&[Lock::Exclusive, Lock::Exclusive]);
}

#[test]
fn a_writer_and_a_reader() {
    turns(&[Lock::Exclusive, Lock::Shared]);
}

#[test]
fn a_writer_and_two_readers() {
    turns(&[Lock::Shared, Lock::Exclusive, Lock::Shared]);
}

#[test]
fn two_writers_and_a_reader() {
    turns(&[Lock::Exclusive, Lock::Shared, Lock::Exclusive]);
}
