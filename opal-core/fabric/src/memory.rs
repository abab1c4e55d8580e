//! Memory of peers, and this process's memory that they reach: registrations, keys, and operations under way.

use alloc::vec::Vec;
use opal_core::framework::btl::Completion;
use opal_core::{Error, Result};

/// What is known of memory, and what is under way. `R` is the library's registration of memory, `K` what a peer said of its own, `N` what
/// the transport notes of an operation.
pub struct Memory<R, K, N> {
    /// By handle: memory that peers reach.
    regions: Vec<Option<R>>,
    /// By what `import_key` returns: what peers said.
    keys: Vec<Option<K>>,
    /// By slot: whom to tell of the operation.
    under_way: Vec<Option<(Completion, N)>>,
    /// Slots that are free.
    free: Vec<u32>,
    /// Operations that ended, and nobody was told yet.
    ended: Vec<(Completion, Result<u64>)>,
}

impl<R, K: Copy, N: Copy> Memory<R, K, N> {
    /// For so many operations at once.
    pub fn new(operations: u32) -> Memory<R, K, N> {
        Memory {
            regions: Vec::new(),
            keys: Vec::new(),
            under_way: (0..operations).map(|_| None).collect(),
            free: (0..operations).rev().collect(),
            ended: Vec::new(),
        }
    }

    /// Keeps a registration; its handle.
    pub fn keep_region(&mut self, region: R) -> u64 {
        insert(&mut self.regions, region)
    }

    /// Takes a registration out.
    pub fn take_region(&mut self, handle: u64) -> Option<R> {
        self.regions.get_mut(usize::try_from(handle).ok()?)?.take()
    }

    /// Keeps what a peer said of its memory; its number.
    pub fn keep_key(&mut self, key: K) -> u64 {
        insert(&mut self.keys, key)
    }

    /// What a peer said.
    pub fn key(&self, number: u64) -> Option<K> {
        *self.keys.get(usize::try_from(number).ok()?)?
    }

    /// Takes it out.
    pub fn take_key(&mut self, number: u64) -> Option<K> {
        self.keys.get_mut(usize::try_from(number).ok()?)?.take()
    }

    /// A slot for an operation: then [`Memory::goes_on`] or [`Memory::give_back`].
    pub fn take_slot(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// The operation goes on, and when it has ended this is told.
    pub fn goes_on(&mut self, slot: u32, done: Completion, note: N) {
        self.under_way[slot as usize] = Some((done, note));
    }

    /// It was not begun, or is over already.
    pub fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// What was noted of an operation under way.
    pub fn note(&self, slot: u32) -> Option<N> {
        self.under_way.get(slot as usize)?.as_ref().map(|(_, note)| *note)
    }

    /// An operation has ended; what was noted of it. A slot without one: nothing.
    pub fn end(&mut self, slot: u32, ended: Result<u64>) -> Option<N> {
        let (done, note) = self.under_way.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        self.ended.push((done, ended));
        Some(note)
    }

    /// Nothing will be complete any more.
    pub fn end_all(&mut self) {
        for slot in 0..self.under_way.len() as u32 {
            self.end(slot, Err(Error::Unreachable));
        }
    }

    /// Those that ended, for [`tell`] when the lock is free.
    pub fn take_ended(&mut self) -> Vec<(Completion, Result<u64>)> {
        core::mem::take(&mut self.ended)
    }

    /// Whether nothing is under way, and everybody was told.
    pub fn is_idle(&self) -> bool {
        self.free.len() == self.under_way.len() && self.ended.is_empty()
    }
}

/// Tells of operations that ended, without the transport's lock: whoever is told may begin others.
pub fn tell(ended: Vec<(Completion, Result<u64>)>) {
    ended.into_iter().for_each(|(done, ended)| (done.call)(done.token, ended));
}

/// Puts it at a free place; which.
fn insert<T>(all: &mut Vec<Option<T>>, one: T) -> u64 {
    let at = all.iter().position(Option::is_none).unwrap_or(all.len());
    if at == all.len() {
        all.push(None);
    }
    all[at] = Some(one);
    at as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use opal_core::sync::{AtomicU64, Ordering};

    type Table = Memory<u8, u16, bool>;

    fn completion(token: u64) -> Completion {
        Completion { call: |_, _| {}, token }
    }

    #[test]
    fn places_are_used_again() {
        let mut memory = Table::new(0);
        assert_eq!([memory.keep_region(1), memory.keep_region(2), memory.keep_key(7)], [0, 1, 0]);
        assert_eq!([memory.take_region(0), memory.take_region(0), memory.take_region(9)], [Some(1), None, None]);
        assert_eq!([memory.keep_region(3), memory.keep_region(4)], [0, 2]);
        assert_eq!([memory.key(0), memory.key(1), memory.key(u64::MAX)], [Some(7), None, None]);
        assert_eq!([memory.take_key(0), memory.key(0), memory.take_key(u64::MAX)], [Some(7), None, None]);
    }

    #[test]
    fn an_operation_ends_once() {
        let mut memory = Table::new(2);
        let [first, second] = [memory.take_slot().unwrap(), memory.take_slot().unwrap()];
        assert_eq!(memory.take_slot(), None);
        memory.goes_on(first, completion(5), true);
        memory.give_back(second);
        assert!(!memory.is_idle());
        assert_eq!([memory.note(first), memory.note(second), memory.note(77)], [Some(true), None, None]);
        assert_eq!(
            [memory.end(first, Ok(3)), memory.end(first, Ok(3)), memory.end(77, Ok(3))],
            [Some(true), None, None]
        );
        assert!(!memory.is_idle(), "nobody was told");
        let ended: Vec<(u64, Result<u64>)> = memory.take_ended().iter().map(|(done, how)| (done.token, *how)).collect();
        assert_eq!((ended, memory.is_idle()), (Vec::from([(5, Ok(3))]), true));
    }

    #[test]
    fn what_is_under_way_fails_with_the_fabric() {
        static FAILED: AtomicU64 = AtomicU64::new(0);
        let mut memory = Table::new(3);
        for token in [1, 2] {
            let slot = memory.take_slot().unwrap();
            let call = |token, ended: Result<u64>| {
                FAILED.fetch_add(if ended == Err(Error::Unreachable) { token } else { 100 }, Ordering::Relaxed);
            };
            memory.goes_on(slot, Completion { call, token }, false);
        }
        memory.end_all();
        tell(memory.take_ended());
        assert_eq!((FAILED.load(Ordering::Relaxed), memory.is_idle()), (3, true));
    }
}
