//! The locks that were asked for last, of which nobody knows yet whether they were granted: each travels with the first access, which the
//! target does when it has granted it. A thread has one of them at most, over all windows: two locks that are taken in another order
//! than the program asked for them could each wait for the other. For those of other threads nobody waits: there is no order between them.

use crate::synchronize::ask;
use crate::target::Service;
use crate::wire::SyncKind;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use ompi_core::error::Result;
use opal_core::sync::{ConditionalLock, threads_possible};
use opal_core::sys;

struct Deferred {
    thread: u32,
    service: Weak<Service>,
    rank: usize,
    // As in the peer: the answer to the first flush that is asked for afterwards comes when the lock is granted.
    granted_at: u64,
}

static DEFERRED: ConditionalLock<Vec<Deferred>> = ConditionalLock::new(Vec::new());

/// A lock of a rank was asked for.
pub fn defer(service: &Arc<Service>, rank: usize) {
    let granted_at = service.window.with_peer(rank, |peer| {
        peer.granted_at = peer.flushes + 1;
        peer.granted_at
    });
    let mut all = DEFERRED.lock();
    // Those of threads that have ended.
    all.retain(Deferred::is_open);
    all.push(Deferred { thread: thread(), service: Arc::downgrade(service), rank, granted_at });
}

/// Waits until that of this thread is granted, if there is one.
pub fn wait() -> Result<()> {
    let thread = thread();
    let own = {
        let mut all = DEFERRED.lock();
        let own = all.iter().position(|deferred| [thread, ONLY].contains(&deferred.thread));
        own.map(|place| all.swap_remove(place))
    };
    own.map_or(Ok(()), |deferred| deferred.wait())
}

/// Waits until the lock of a rank, if one was asked for, is granted.
pub fn wait_for_grant(service: &Arc<Service>, rank: usize) -> Result<()> {
    let (is_granted, granted_at) = service.window.with_peer(rank, |peer| (peer.is_granted(), peer.granted_at));
    if is_granted { Ok(()) } else { wait_until(service, rank, granted_at) }
}

fn wait_until(service: &Arc<Service>, rank: usize, granted_at: u64) -> Result<()> {
    let window = &service.window;
    if window.with_peer(rank, |peer| peer.flushes < granted_at) {
        ask(service, rank, SyncKind::Flush)?;
        window.send_marked(rank)?;
    }
    window.wait_for(rank, |peer| peer.acks >= granted_at)
}

fn thread() -> u32 {
    if threads_possible() { sys::thread_id() } else { ONLY }
}

/// The thread of a process where there is one; no thread has this number.
const ONLY: u32 = 0;

impl Deferred {
    /// Whether nobody knows yet that it was granted.
    fn is_open(&self) -> bool {
        let granted = |service: Arc<Service>| service.window.with_peer(self.rank, |peer| peer.acks >= self.granted_at);
        self.service.upgrade().is_some_and(|service| !granted(service))
    }

    fn wait(self) -> Result<()> {
        let Deferred { service, rank, granted_at, .. } = self;
        service.upgrade().map_or(Ok(()), |service| wait_until(&service, rank, granted_at))
    }
}
