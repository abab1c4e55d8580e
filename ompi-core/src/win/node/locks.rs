//! The passive lock of each process's memory, a ticket lock (`ticket.rs`).

use super::peers::{self, Peers};
use super::words::Words;
use crate::error::Result;
use crate::framework::osc::Lock;
use crate::framework::pml::subject;
use opal_core::sync::Ordering;

/// Waits for a passive lock, for rank `me`; `peers` may wait for it, too.
pub fn lock(words: &Words, rank: usize, lock: Lock, me: usize, peers: &Peers) -> Result<()> {
    let holder = words.holder(rank);
    let subject = || {
        // Relaxed: for people.
        let by = (holder.load(Ordering::Relaxed) as usize).checked_sub(1);
        subject::at_window(subject::LOCK, by.and_then(|by| Some((by, peers.process(by)?))), rank)
    };
    words.lock(rank).lock(lock, |done| peers::until(done, subject), || peers.notify_all())?;
    if lock == Lock::Exclusive {
        holder.store(me as u64 + 1, Ordering::Relaxed);
    }
    Ok(())
}

/// Gives a passive lock back; `peers` may wait for it.
pub fn unlock(words: &Words, rank: usize, lock: Lock, peers: &Peers) {
    if lock == Lock::Exclusive {
        words.holder(rank).store(0, Ordering::Relaxed);
    }
    words.lock(rank).unlock(lock, || peers.notify_all());
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
            let Ticket { next, may_share, may_own } = words.lock(0);
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
