//! Every order of the accesses of processes to the words of ticket locks, and of the shared lock of all. What a lock guards is watched: a writer
//! beside anybody else is a failure, and so is one who sleeps for ever because nobody woke it.

extern crate std;

use super::shared_by_all::{self, LockWords};
use super::ticket::Ticket;
use crate::error::Result;
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

    fn sleep(&self, done: &dyn Fn() -> bool) -> Result<()> {
        loop {
            let wakes = self.wakes.load(Ordering::SeqCst);
            if done() {
                return Ok(());
            }
            await_value(&self.wakes, Ordering::SeqCst, |now| now != wakes);
        }
    }

    /// Takes the lock, uses what it guards and gives it back; sleeps where it waits.
    fn turn(&self, lock: Lock) {
        if !self.ticket().try_lock(lock, || self.wake()) {
            self.ticket().lock(lock, |done| self.sleep(done), || self.wake()).unwrap();
        }
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

/// Two processes' locks in one window. One word guards the first process's memory.
struct Window {
    of_first: Arc<Words>,
    of_second: Arc<Words>,
    shares: [AtomicU64; 2],
    asked: AtomicU64,
}

impl LockWords for Window {
    fn ranks(&self) -> usize {
        2
    }

    fn ticket(&self, rank: usize) -> Ticket<'_> {
        [&self.of_first, &self.of_second][rank].ticket()
    }

    fn shares_all(&self, rank: usize) -> &AtomicU64 {
        &self.shares[rank]
    }

    fn asked(&self) -> &AtomicU64 {
        &self.asked
    }
}

impl Window {
    fn new() -> Arc<Window> {
        let word = || AtomicU64::new(0);
        Arc::new(Window { of_first: Words::new(), of_second: Words::new(), shares: [word(), word()], asked: word() })
    }

    /// All sleep at one word, as the processes of a window do.
    fn sleep(&self, done: &dyn Fn() -> bool) -> Result<()> {
        self.of_first.sleep(done)
    }

    fn wake(&self) {
        self.of_first.wake();
    }

    /// Locks the first process's memory alone, and writes to it.
    fn alone(&self, _me: usize) {
        shared_by_all::note_writer(self);
        let ticket = self.of_first.ticket();
        ticket.lock(Lock::Exclusive, |done| self.sleep(done), || self.wake()).unwrap();
        self.sleep(&|| shared_by_all::first_sharer(self).is_none()).unwrap();
        writing_value(&raw const self.of_first.guarded);
        ticket.unlock(Lock::Exclusive, || self.wake());
    }

    /// Does so if nobody is in the way, as one who has done it before.
    fn alone_at_once(&self, me: usize) {
        shared_by_all::note_writer(self);
        let ticket = self.of_first.ticket();
        if !shared_by_all::is_for_single_locks(self) || !ticket.try_lock(Lock::Exclusive, || self.wake()) {
            return self.alone(me);
        }
        if shared_by_all::is_for_single_locks(self) {
            writing_value(&raw const self.of_first.guarded);
        }
        ticket.unlock(Lock::Exclusive, || self.wake());
    }

    /// Locks all, and reads from the first process's memory.
    fn all(&self, me: usize) {
        if shared_by_all::try_share(self, me, || self.wake()) {
            reading_value(&raw const self.of_first.guarded);
            shared_by_all::end_share(self, me, || self.wake());
            return;
        }
        for rank in 0..self.ranks() {
            self.ticket(rank).lock(Lock::Shared, |done| self.sleep(done), || self.wake()).unwrap();
        }
        reading_value(&raw const self.of_first.guarded);
        (0..self.ranks()).for_each(|rank| self.ticket(rank).unlock(Lock::Shared, || self.wake()));
    }
}

fn at_window(all: &'static [fn(&Window, usize)]) {
    check_within(3, move || {
        let window = Window::new();
        let others: Vec<_> = (1..all.len())
            .map(|rank| {
                let window = window.clone();
                spawn(move || all[rank](&window, rank))
            })
            .collect();
        all[0](&window, 0);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn all_and_alone() {
    at_window(&[Window::all, Window::alone]);
}

#[test]
fn all_and_alone_at_once() {
    at_window(&[Window::all, Window::alone_at_once]);
}

#[test]
fn all_twice_and_alone() {
    fn twice(window: &Window, me: usize) {
        window.all(me);
        window.all(me);
    }
    at_window(&[twice, Window::alone]);
}

#[test]
fn alone_twice_and_all() {
    fn twice(window: &Window, me: usize) {
        window.alone(me);
        window.alone(me);
    }
    at_window(&[Window::all, twice]);
}
