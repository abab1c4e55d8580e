//! Every order of the accesses of processes to the words of a gate: those inside use an element together, one who has shut the gate and
//! holds the lock has it alone.

extern crate std;

use super::Gate;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::model::{check_within, reading_value, spawn, writing_value};
use opal_core::sync::{AtomicU64, Mutex};

struct Words {
    state: AtomicU64,
    inside: [AtomicU64; 2],
    lock: Mutex<()>,
    element: u64,
}

impl Words {
    fn gate(&self, process: usize) -> Gate<'_> {
        Gate::new(&self.state, &self.inside[process])
    }

    /// As an accumulate that an instruction does, or else the lock.
    fn accumulate(&self, process: usize) {
        match self.gate(process).enter() {
            Some(_inside) => reading_value(&raw const self.element),
            None => self.accumulate_long(process),
        }
    }

    /// As one that no instruction does.
    fn accumulate_long(&self, process: usize) {
        self.gate(process).shut(self.inside.iter()).unwrap();
        let _alone = self.lock.lock();
        writing_value(&raw const self.element);
    }
}

fn processes(all: &'static [fn(&Words, usize)]) {
    check_within(3, move || {
        let word = || AtomicU64::new(0);
        let words = Arc::new(Words { state: word(), inside: [word(), word()], lock: Mutex::new(()), element: 0 });
        let others: Vec<_> = all[1..]
            .iter()
            .map(|does| {
                let words = words.clone();
                spawn(move || does(&words, 1))
            })
            .collect();
        all[0](&words, 0);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert!(words.gate(0).is_shut());
    });
}

#[test]
fn an_instruction_and_a_lock() {
    processes(&[Words::accumulate, Words::accumulate_long]);
}

#[test]
fn two_that_shut_it() {
    processes(&[Words::accumulate_long, Words::accumulate_long]);
}

#[test]
fn instructions_before_and_after() {
    fn twice(words: &Words, process: usize) {
        words.accumulate(process);
        words.accumulate(process);
    }
    processes(&[twice, Words::accumulate_long]);
}
