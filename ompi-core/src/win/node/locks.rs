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

/// Takes a passive lock for rank `me` if that needs no wait and few looks; otherwise nothing is done.
#[inline]
pub fn try_lock(words: &Words, rank: usize, lock: Lock, me: usize, peers: &Peers) -> bool {
    let ticket = words.ticket(rank);
    if lock == Lock::Shared {
        return ticket.try_lock(lock, || peers.notify_all());
    }
    if !shared_by_all::is_for_single_locks(words) || !ticket.try_lock(lock, || peers.notify_all()) {
        return false;
    }
    if !shared_by_all::is_for_single_locks(words) {
        // Somebody has asked for all meanwhile, and may have missed the ticket.
        ticket.unlock(lock, || peers.notify_all());
        return false;
    }
    words.holder(rank).store(me as u64 + 1, Ordering::Relaxed);
    true
}

/// Gives a passive lock back; `peers` may wait for it.
#[inline]
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

    /// The words of a window of one process.
    fn alone() -> (Words, Peers) {
        let layout = Layout::new(&[Part { bytes: 8, unit: 1 }], false).unwrap();
        let mapping = PlacedFile::create(layout.bytes()).unwrap().map(layout.bytes()).unwrap();
        (Words::new(layout, mapping, 0, 1), Peers::none())
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let (words, peers) = alone();
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

    #[test]
    fn a_lock_without_a_wait_is_taken_only_where_nobody_is_in_the_way() {
        let (words, peers) = alone();
        let [single, shared] = [Lock::Exclusive, Lock::Shared];
        assert!(!try_lock(&words, 0, single, 0, &peers), "nobody knows of one who wants it alone");
        lock(&words, 0, single, 0, &peers).unwrap();
        assert!(!try_lock(&words, 0, single, 0, &peers) && !try_lock(&words, 0, shared, 0, &peers));
        unlock(&words, 0, single, &peers);
        assert!(try_lock(&words, 0, single, 0, &peers) && words.holder(0).load(Ordering::Relaxed) == 1);
        assert!(!try_lock(&words, 0, single, 0, &peers) && !try_lock(&words, 0, shared, 0, &peers));
        unlock(&words, 0, single, &peers);
        assert!(try_lock(&words, 0, shared, 0, &peers) && try_lock(&words, 0, shared, 0, &peers));
        assert!(!try_lock(&words, 0, single, 0, &peers));
        unlock(&words, 0, shared, &peers);
        assert!(!try_lock(&words, 0, single, 0, &peers));
        unlock(&words, 0, shared, &peers);
        assert!(try_lock(&words, 0, single, 0, &peers));
        unlock(&words, 0, single, &peers);
        assert!(try_share_all(&words, 0, &peers));
        assert!(!try_lock(&words, 0, single, 0, &peers), "somebody has all");
        end_share_all(&words, 0, &peers);
        assert!(words.ticket(0).is_idle());
    }
}
