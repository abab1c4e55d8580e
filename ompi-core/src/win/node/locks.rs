//! The passive locks of a window: that of each process's memory, a ticket lock (`ticket.rs`), and the shared lock of all (`shared_by_all.rs`).

use super::peers::{self, Peers};
use super::shared_by_all::{self, LockWords, first_sharer};
use super::words::Words;
use crate::error::Result;
use crate::framework::osc::Lock;
use crate::framework::pml::subject;
use opal_core::sync::Ordering;
use opal_core::wait::Subject;

/// Waits for a passive lock, for rank `me`; `peers` may wait for it, too.
pub fn lock(words: &Words, rank: usize, lock: Lock, me: usize, peers: &Peers) -> Result<()> {
    let holder = words.holder(rank);
    let wanted = |by: Option<usize>| -> Subject {
        subject::at_window(subject::LOCK, by.and_then(|by| Some((by, peers.process(by)?))), rank)
    };
    // Relaxed: for people.
    let by_one = || wanted((holder.load(Ordering::Relaxed) as usize).checked_sub(1));
    let ticket = words.ticket(rank);
    if lock == Lock::Exclusive {
        shared_by_all::note_writer(words);
    }
    ticket.lock(lock, |done| peers::until(done, by_one), || peers.notify_all())?;
    if lock == Lock::Exclusive {
        if first_sharer(words).is_some() {
            let is_free = || first_sharer(words).is_none();
            peers::until(is_free, || wanted(first_sharer(words)))
                .inspect_err(|_| ticket.unlock(lock, || peers.notify_all()))?;
        }
        holder.store(me as u64 + 1, Ordering::Relaxed);
    }
    Ok(())
}

/// Gives a passive lock back; `peers` may wait for it.
pub fn unlock(words: &Words, rank: usize, lock: Lock, peers: &Peers) {
    if lock == Lock::Exclusive {
        words.holder(rank).store(0, Ordering::Relaxed);
    }
    words.ticket(rank).unlock(lock, || peers.notify_all());
}

/// Takes a shared lock of all for rank `me`, unless somebody wants to have a process's memory alone.
pub fn try_share_all(words: &Words, me: usize, peers: &Peers) -> bool {
    shared_by_all::try_share(words, me, || peers.notify_all())
}

/// Gives it back.
pub fn end_share_all(words: &Words, me: usize, peers: &Peers) {
    shared_by_all::end_share(words, me, || peers.notify_all());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::osc::Part;
    use crate::win::Combining;
    use crate::win::node::layout::Layout;
    use crate::win::node::ticket::Ticket;
    use opal_core::sys::PlacedFile;

    #[test]
    fn readers_share_and_writers_do_not() {
        let layout = Layout::new(&[Part { bytes: 8, unit: 1 }], false).unwrap();
        let mapping = PlacedFile::create(layout.bytes()).unwrap().map(layout.bytes()).unwrap();
        let words = Words::new(layout, mapping, 0, 1);
        let peers = Peers::none();
        for _ in 0..3 {
            lock(&words, 0, Lock::Shared, 0, &peers).unwrap();
            lock(&words, 0, Lock::Shared, 0, &peers).unwrap();
            let Ticket { next, may_share, may_own } = words.ticket(0);
            let writer = next.load(Ordering::Relaxed);
            assert_ne!(may_own.load(Ordering::Relaxed), writer, "a writer waits for two readers");
            unlock(&words, 0, Lock::Shared, &peers);
            assert_ne!(may_own.load(Ordering::Relaxed), writer);
            unlock(&words, 0, Lock::Shared, &peers);
            assert_eq!(may_own.load(Ordering::Relaxed), writer);
            lock(&words, 0, Lock::Exclusive, 0, &peers).unwrap();
            assert_eq!(words.holder(0).load(Ordering::Relaxed), 1);
            let other = next.load(Ordering::Relaxed);
            assert_ne!(may_own.load(Ordering::Relaxed), other);
            assert_ne!(may_share.load(Ordering::Relaxed), other);
            unlock(&words, 0, Lock::Exclusive, &peers);
            assert_eq!((may_share.load(Ordering::Relaxed), may_own.load(Ordering::Relaxed)), (other, other));
        }
        drop(Combining::begin(words.accumulate_lock(0)));
        drop(Combining::begin(words.accumulate_lock(0)));
    }
}
