//! Memory of peers, and this process's memory that they reach: registrations, keys, and operations under way.

use crate::raw::{Region, RemoteKey};
use alloc::vec::Vec;
use opal_core::Result;
use opal_core::framework::btl::Completion;

/// What is known of memory, and what is under way.
#[derive(Default)]
pub struct Memory {
    /// By handle: memory that peers reach.
    pub regions: Vec<Option<Region>>,
    /// By what `import_key` returns: what peers said.
    pub keys: Vec<Option<RemoteKey>>,
    /// By operation: whom to tell.
    under_way: Vec<Option<Completion>>,
    /// Operations that are free.
    free: Vec<u32>,
    /// Operations that ended, and nobody was told yet.
    pub ended: Vec<(Completion, Result<u64>)>,
}

impl Memory {
    /// For so many operations at once.
    pub fn new(operations: u32) -> Memory {
        Memory {
            under_way: (0..operations).map(|_| None).collect(),
            free: (0..operations).rev().collect(),
            ..Memory::default()
        }
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.free.len() == self.under_way.len() && self.ended.is_empty()
    }

    /// One that is free.
    pub fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// It goes on, and then this is told.
    pub fn goes_on(&mut self, slot: u32, done: Completion) {
        self.under_way[slot as usize] = Some(done);
    }

    /// It was not begun, or is over already.
    pub fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// It has ended.
    pub fn end(&mut self, slot: u32, ended: Result<u64>) {
        let Some(done) = self.under_way.get_mut(slot as usize).and_then(Option::take) else { return };
        self.free.push(slot);
        self.ended.push((done, ended));
    }
}

/// Puts it at a free place; which.
pub fn insert<T>(all: &mut Vec<Option<T>>, one: T) -> u64 {
    let at = all.iter().position(Option::is_none).unwrap_or(all.len());
    if at == all.len() {
        all.push(None);
    }
    all[at] = Some(one);
    at as u64
}
