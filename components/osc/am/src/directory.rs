//! All windows of this process: packets find theirs by its context number, and passes of progress look at those where something is
//! under way. So windows that rest cost nothing.

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::oob::{WindowPacket, window};
use opal_core::mca::pvar::Counter;
use opal_core::sync::{AtomicBool, ConditionalLock, Ordering};
use opal_core::{progress, wait};

/// A window, as packets and passes of progress see it.
pub trait Served: Send + Sync {
    /// Its own communicator.
    fn comm(&self) -> &Communicator;

    /// Whether passes of progress look at it.
    fn is_active(&self) -> &AtomicBool;

    /// Records of a rank arrived. `false` if some are malformed.
    fn arrived(self: Arc<Self>, origin: usize, records: &[u8]) -> bool;

    /// In a pass of progress: goes on with everything; how much moved. It is active no more afterwards, unless something is left to do.
    fn poll(self: Arc<Self>) -> usize;
}

/// By context number.
static ALL: ConditionalLock<Vec<Option<Weak<dyn Served>>>> = ConditionalLock::new(Vec::new());
static ACTIVE: ConditionalLock<Vec<Arc<dyn Served>>> = ConditionalLock::new(Vec::new());
/// Empty; its room is used again.
static SPARE: ConditionalLock<Vec<Arc<dyn Served>>> = ConditionalLock::new(Vec::new());
/// Windows that passes have looked at.
pub static POLLED: Counter = Counter::new();
/// Whether there are active ones, for passes to look at without the lock.
static ANY_ACTIVE: AtomicBool = AtomicBool::new(false);

/// From now on packets and passes of progress may come.
pub fn open() -> opal_core::Result<()> {
    window::serve(deliver);
    progress::add_callback(poll)
}

/// Packets for its window find it.
pub fn enter(service: Arc<dyn Served>) {
    let index = service.comm().context as usize;
    let mut all = ALL.lock();
    if all.len() <= index {
        all.resize_with(index + 1, || None);
    }
    all[index] = Some(Arc::downgrade(&service));
}

/// Passes of progress look at it.
pub fn activate(service: Arc<dyn Served>) {
    if !service.is_active().swap(true, Ordering::Relaxed) {
        let mut active = ACTIVE.lock();
        active.push(service);
        ANY_ACTIVE.store(true, Ordering::Relaxed);
    }
}

/// Whether any window has something under way.
pub fn any_active() -> bool {
    ANY_ACTIVE.load(Ordering::Relaxed)
}

/// A packet arrived. `false` if it makes no sense.
fn deliver(process: u32, packet: WindowPacket, records: &[u8]) -> bool {
    let service = ALL.lock().get(packet.context as usize).and_then(|place| place.as_ref()?.upgrade());
    let Some(service) = service else { return false };
    let sender = packet.sender as usize;
    service.comm().group.members().get(sender) == Some(process) && service.arrived(sender, records)
}

/// Goes on with all active windows; called by one thread at a time.
fn poll() -> usize {
    if !ANY_ACTIVE.load(Ordering::Relaxed) {
        return 0;
    }
    // Nothing is locked while messages are sent and received.
    let spare = core::mem::take(&mut *SPARE.lock());
    let mut active = {
        let mut active = ACTIVE.lock();
        ANY_ACTIVE.store(false, Ordering::Relaxed);
        core::mem::replace(&mut *active, spare)
    };
    POLLED.add(active.len() as u64);
    let moved = active.drain(..).map(|service| service.poll()).sum();
    *SPARE.lock() = active;
    if moved > 0 {
        progress::flush();
        wait::wake_threads();
    }
    moved
}
