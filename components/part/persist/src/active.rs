//! The operations under way, which every pass of progress moves on.

use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock, Ordering, threads_possible};

/// One side of a partitioned operation.
pub trait Operation: Send + Sync {
    /// Tries to move on; how many things moved. Does nothing if another thread is at it. `None` if it is not under way.
    fn advance(&self) -> Option<usize>;

    /// Whether it is under way.
    fn is_active(&self) -> bool;

    /// Whether it is on the list.
    fn listed(&self) -> &AtomicBool;
}

/// Those that passes look at; only they change it.
static LIST: ConditionalLock<Vec<Entry>> = ConditionalLock::new(Vec::new());
/// Those that were started since the last pass.
static NEW: ConditionalLock<Vec<Entry>> = ConditionalLock::new(Vec::new());
static NEWS: AtomicUsize = AtomicUsize::new(0);
static LISTED: AtomicUsize = AtomicUsize::new(0);

struct Entry {
    operation: Arc<dyn Operation>,
    // How many passes in a row found it idle.
    idle: u32,
}

/// An operation was started. It leaves the list after some passes that find it idle, so that one that is started again soon stays.
#[inline]
pub fn enlist(operation: &Arc<impl Operation + 'static>) {
    if !threads_possible() && operation.listed().load(Ordering::Relaxed) {
        return;
    }
    // SeqCst as in `is_needed`.
    if !operation.listed().swap(true, Ordering::SeqCst) {
        let mut new = NEW.lock();
        new.push(Entry { operation: operation.clone(), idle: 0 });
        NEWS.store(new.len(), Ordering::Relaxed);
    }
}

/// Moves on all of them; only one thread at a time is in here (`progress::pass`).
#[inline]
pub fn advance() -> usize {
    if NEWS.load(Ordering::Relaxed) + LISTED.load(Ordering::Relaxed) == 0 { 0 } else { advance_all() }
}

fn advance_all() -> usize {
    let mut list = LIST.lock();
    if NEWS.load(Ordering::Relaxed) != 0 {
        let mut new = NEW.lock();
        list.append(&mut new);
        NEWS.store(0, Ordering::Relaxed);
    }
    let mut moved = 0;
    list.retain_mut(|entry| {
        if let Some(now) = entry.operation.advance() {
            moved += now;
            entry.idle = 0;
            return true;
        }
        entry.is_needed()
    });
    LISTED.store(list.len(), Ordering::Relaxed);
    moved
}

impl Entry {
    /// Whether one that is not under way stays on the list.
    #[inline]
    fn is_needed(&mut self) -> bool {
        self.idle += 1;
        if self.idle < IDLE_PASSES {
            return true;
        }
        self.operation.listed().store(false, Ordering::SeqCst);
        // Started meanwhile: it found itself listed. SeqCst here and in the starts: one of the two sees the other.
        self.operation.is_active() && !self.operation.listed().swap(true, Ordering::SeqCst)
    }
}

/// Sets what `is_active` returns: in a start before `enlist`.
#[inline]
pub fn set(active: &AtomicBool, value: bool) {
    // SeqCst as in `is_needed`; without threads nobody else looks.
    active.store(value, if threads_possible() { Ordering::SeqCst } else { Ordering::Relaxed });
}

const IDLE_PASSES: u32 = 64;
