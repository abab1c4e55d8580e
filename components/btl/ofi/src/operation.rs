//! Memory of peers, and this process's memory that they reach: registrations, keys, and operations under way.

use crate::raw::Region;
use crate::wire;
use alloc::vec::Vec;
use opal_core::framework::btl::Completion;
use opal_core::{Error, Result};

/// What is known of memory, and what is under way.
#[derive(Default)]
pub struct Memory {
    /// By handle: memory that peers reach.
    pub regions: Vec<Option<Region>>,
    /// By what `import_key` returns: what peers said.
    pub keys: Vec<Option<wire::Key>>,
    /// By context: operations, the rank whose memory it is, and whether it finds something.
    pub under_way: Vec<Option<(Completion, u32, bool)>>,
    /// Contexts that are free.
    pub free: Vec<u32>,
    /// How many keys were made.
    pub made: u64,
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
        self.free.len() == self.under_way.len()
    }

    /// Whether an operation finds something.
    pub fn finds(&self, slot: u32) -> bool {
        matches!(self.under_way.get(slot as usize), Some(Some((_, _, true))))
    }

    /// An operation has ended; the rank whose memory it was.
    pub fn end(&mut self, slot: u32, ended: Result<u64>) -> Option<u32> {
        let (done, rank, _) = self.under_way.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        self.ended.push((done, ended));
        Some(rank)
    }

    /// Nothing will be complete any more.
    pub fn end_all(&mut self) {
        for slot in 0..self.under_way.len() as u32 {
            self.end(slot, Err(Error::Unreachable));
        }
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
