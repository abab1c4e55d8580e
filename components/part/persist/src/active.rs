//! The operations under way, which every pass of progress moves on.

use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock, Ordering, threads_possible};

/// One side of a partitioned operation.
pub trait Operation: Send + Sync {
    /// Tries to move on; how many things moved. Does nothing if it is not under way or another thread is at it.
    fn advance(&self) -> usize;

    /// Whether it is under way.
    fn is_active(&self) -> bool;

    /// Whether it is on the list.
    fn listed(&self) -> &AtomicBool;
}

static LIST: ConditionalLock<Vec<Arc<dyn Operation>>> = ConditionalLock::new(Vec::new());
static LISTED: AtomicUsize = AtomicUsize::new(0);

/// An operation was started. It leaves the list in a pass that finds it idle, so that one that is started again at once stays.
#[inline]
pub fn enlist(operation: &Arc<impl Operation + 'static>) {
    if !threads_possible() && operation.listed().load(Ordering::Relaxed) {
        return;
    }
    // SeqCst as in `advance_all`.
    if !operation.listed().swap(true, Ordering::SeqCst) {
        let mut list = LIST.lock();
        list.push(operation.clone());
        LISTED.store(list.len(), Ordering::Relaxed);
    }
}

/// Moves on all of them; only one thread at a time is in here (`progress::pass`).
#[inline]
pub fn advance() -> usize {
    if LISTED.load(Ordering::Relaxed) == 0 { 0 } else { advance_all() }
}

fn advance_all() -> usize {
    let mut all = core::mem::take(&mut *LIST.lock());
    let mut moved = 0;
    all.retain(|operation| {
        moved += operation.advance();
        operation.is_active() || {
            operation.listed().store(false, Ordering::SeqCst);
            // Started meanwhile: it found itself listed. SeqCst here and in the starts: one of the two sees the other.
            operation.is_active() && !operation.listed().swap(true, Ordering::SeqCst)
        }
    });
    let mut list = LIST.lock();
    all.append(&mut list);
    *list = all;
    LISTED.store(list.len(), Ordering::Relaxed);
    moved
}
