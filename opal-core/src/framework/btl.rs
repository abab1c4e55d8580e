//! Byte transfer layer: moves active messages `(am id, immediate, payload)` to one peer.
//!
//! A transport knows nothing of MPI. The 3-bit am id selects the handler of a message, the `immediate` is opaque to the
//! transport, which carries [`Caps::immediate_bits`] bits of it. Order per peer and module is kept.
//!
//! Every call is complete when it returns `Ok`: the caller's buffer is its own again, also after [`Module::put`] and
//! [`Module::get`]. [`Full`] is not an error: try again after progress. [`Caps`] says what a module can do beyond
//! [`Module::send_inline`], [`Module::send`] and [`Module::poll`]. pml/ob1 refuses a module with fewer than 54
//! [`Caps::immediate_bits`].
#![allow(unsafe_code)] // linkme's expansion

use crate::framework::memcpy;
use crate::framework::shmem::Segment;
use crate::mca;
use crate::mem::Untrusted;
use crate::queue::fifo_pair::FifoPair;
use crate::sync::{AtomicBool, AtomicU64, Once, Ordering};
use crate::{Error, Result};
use alloc::vec::Vec;

/// Who handles a message at the other end: index into the table given to [`register`].
pub type AmId = u8;
/// Number of am ids.
pub const AM_IDS: usize = 8;

/// A module's own number for a peer, made by [`Module::add_peer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint(pub u32);

/// No room now; after progress there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// What a module can do, as data.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    /// Bits of `immediate` that travel, counted from the lowest. The PML says how many it needs when it reaches a first
    /// peer, and refuses a transport with fewer: pml/ob1 needs 54 (its tag, communicator and kind of communication).
    pub immediate_bits: u32,
    /// Largest payload of [`Module::send_inline`].
    pub inline_bytes: usize,
    /// Largest payload that suits being sent before the receiver asks for it. pml/ob1 takes less if its own limit, or
    /// `send_bytes` less a prefix of 8 bytes, is lower.
    pub eager_bytes: usize,
    /// Largest payload of [`Module::send`]: the fragment size that suits this transport. pml/ob1 needs 48 bytes, the
    /// longest of its control messages; fragments have a prefix of 8 bytes, and of more than 4 KiB whole pages are used.
    pub send_bytes: usize,
    /// One way, for choosing among modules.
    pub latency_ns: u32,
    /// For weighting the fragments of a long message over all modules that reach a peer.
    pub bandwidth_mbps: u32,
    /// Among modules that reach the same peer only those with the highest value are used.
    pub exclusivity: u32,
    /// [`Module::put`] works.
    pub put: bool,
    /// [`Module::get`] works.
    pub get: bool,
    /// Hash of the wire format; both ends must have the same.
    pub wire_id: u32,
}

/// A process that may be reachable.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    /// The caller's number for it; comes back in [`Receiver`] calls and as the source of what arrives.
    pub index: u32,
    /// This very process.
    pub is_self: bool,
    /// On the same node.
    pub same_node: bool,
    /// What all modules of the same component there published as their addresses, one after the other.
    pub address: &'a [u8],
}

/// Memory of a peer that [`Module::put`] and [`Module::get`] may touch: address there and the key its owner published.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// Address in the peer.
    pub address: u64,
    /// What [`Module::register`] returned there.
    pub key: u64,
}

/// Handles what arrives: `(peer index, immediate, payload)`. The payload is gone when it returns. It may send, but not
/// wait for progress.
pub type Receiver = fn(peer: u32, immediate: u64, payload: Untrusted<'_>);

/// Something that arrived and was not consumed yet; see [`Module::poll_peer`].
pub struct RxMessage<'a> {
    /// Handler's number.
    pub am: AmId,
    /// The immediate.
    pub immediate: u64,
    /// The payload, valid until [`Module::consume`].
    pub payload: Untrusted<'a>,
}

/// The processes among which messages travel, for transports that others can reach, too.
#[derive(Clone, Copy)]
pub struct Job {
    /// Its number, different from that of any other on the same network.
    pub number: u64,
    /// This process's [`Peer::index`] at the others.
    pub index: u32,
    /// How many processes.
    pub size: u32,
    /// All of them are on one node.
    pub one_node: bool,
    /// What only they know; never leaves a process.
    pub secret: [u8; 32],
}

static JOB: Once<Job> = Once::new();

/// Says who this process is among its peers: once, before transports are opened. Without it, transports that must
/// tell peers from other processes decline.
pub fn set_job(job: Job) {
    JOB.call_once(|| job);
}

/// What [`set_job`] was given.
pub fn job() -> Option<&'static Job> {
    JOB.get()
}

static RECEIVERS: [Once<Receiver>; AM_IDS] = [const { Once::new() }; AM_IDS];
static ON_FAILURE: Once<fn(peer: u32)> = Once::new();

/// Says who handles an am id; once per id, before any peer is added. `Err(Exists)` if it is taken.
pub fn register(am: AmId, receiver: Receiver) -> Result<()> {
    let place = RECEIVERS.get(am as usize).ok_or(Error::Invalid)?;
    let mut mine = false;
    place.call_once(|| {
        mine = true;
        receiver
    });
    if mine { Ok(()) } else { Err(Error::Exists) }
}

/// For modules: hands what arrived to its receiver. What nobody handles is dropped; a peer's mistake, not ours.
#[inline(always)]
pub fn deliver(am: AmId, peer: u32, immediate: u64, payload: Untrusted<'_>) {
    match RECEIVERS.get(am as usize).and_then(|place| place.get()) {
        Some(receiver) => receiver(peer, immediate, payload),
        None => unhandled(am, peer),
    }
}

/// Says whom to tell when a peer can no longer be reached; once.
pub fn on_failure(callback: fn(peer: u32)) {
    ON_FAILURE.call_once(|| callback);
}

/// For modules, after their own message about the reason: the peer is closed, nothing more will come from it. Sends to it
/// return [`Full`] from now on.
#[cold]
pub fn failed(peer: u32) {
    if let Some(callback) = ON_FAILURE.get() {
        callback(peer);
    }
}

#[cold]
fn unhandled(am: AmId, peer: u32) {
    crate::verbose!(FRAMEWORK, 10, "dropped a message of kind {am} from process {peer}: nobody handles that kind");
}

/// A running transport: one per NIC, or one in all.
pub trait Module: Sync {
    /// Its abilities; the same for its whole life.
    fn caps(&self) -> &Caps;

    /// What peers get as [`Peer::address`].
    fn address(&self) -> Vec<u8>;

    /// Tries to reach a peer; `None` if this transport cannot. `Err(Mismatch)` if the other end speaks another format.
    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>>;

    /// Forgets a peer; nothing is sent to or taken from it afterwards.
    fn remove_peer(&self, endpoint: Endpoint);

    /// Sends at most [`Caps::inline_bytes`] bytes: the fast path, no state left behind.
    ///
    /// # Safety
    /// `payload` is readable for `bytes`.
    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full>;

    /// Sends at most [`Caps::send_bytes`] bytes that `fill` writes straight into the transport's buffer; `fill` gets
    /// a place for exactly `bytes` bytes and fills all of it.
    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full>;

    /// Sends `prefix`, at most [`PREFIX_BYTES_MAX`] bytes, and `bytes` bytes that lie in one run as one payload, together
    /// at most [`Caps::send_bytes`]: a part of something longer, whose receiver takes one after the other. A transport that
    /// can hands the run to the system from where it lies; it may say [`Full`] rather than copy.
    ///
    /// # Safety
    /// `run` is readable for `bytes`.
    unsafe fn send_run(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        run: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        self.send(to, am, immediate, prefix.len() + bytes, &mut |place| {
            // SAFETY: `place` has room for the prefix and the run.
            unsafe { memcpy::copy(place, prefix.as_ptr(), prefix.len()) };
            // SAFETY: as above; the run is readable by the caller's promise.
            unsafe { memcpy::copy(place.wrapping_add(prefix.len()), run, bytes) };
        })
    }

    /// Writes `bytes` from `from` to the peer's memory. `Ok` means it is there.
    ///
    /// # Safety
    /// `from` is readable for `bytes`.
    unsafe fn put(&self, _to: Endpoint, _from: *const u8, _remote: Remote, _bytes: usize) -> Result<()> {
        Err(Error::Unsupported)
    }

    /// Reads `bytes` of the peer's memory to `to`. `Ok` means it is there.
    ///
    /// # Safety
    /// `to` is writable for `bytes`.
    unsafe fn get(&self, _from: Endpoint, _to: *mut u8, _remote: Remote, _bytes: usize) -> Result<()> {
        Err(Error::Unsupported)
    }

    /// Makes memory reachable for the peers' put and get; returns the key.
    fn register(&self, _address: *mut u8, _bytes: usize) -> Result<u64> {
        Ok(0)
    }

    /// Word `index` of those that this process and a peer share: `own` ones are this process's to give a meaning to, the
    /// others the peer's, which sees them as its own. Both see 0 at first; what the other writes is hostile. `None` where
    /// no memory is shared, and beyond the last one.
    fn shared_word(&self, _peer: Endpoint, _own: bool, _index: u32) -> Option<&AtomicU64> {
        None
    }

    /// Memory of a peer (`None`: of this process) that all processes which this transport reaches have mapped, for the
    /// layer above: zeros at first, page-aligned, mapped for the life of the process, of the same length everywhere.
    /// Whoever is told there of something it waits for is woken through [`FifoPair::peer_sleeps`] and [`Module::wake`].
    fn shared_pool(&self, _owner: Option<Endpoint>) -> Option<Segment> {
        None
    }

    /// The queues to and from a peer, if that is all there is to sending and receiving short messages: the caller then
    /// pushes and peeks itself instead of calling [`Module::send_inline`] and [`Module::poll_peer`]. The kinds of its
    /// messages are am ids.
    fn fifo_pair(&self, _peer: Endpoint) -> Option<&FifoPair> {
        None
    }

    /// Wakes a peer that sleeps, when [`FifoPair::push`] said so.
    fn wake(&self, _peer: Endpoint) {}

    /// Sends what was coalesced for a peer.
    fn flush(&self, _to: Endpoint) {}

    /// Sends what was coalesced for any peer. Called through [`progress::flush`](crate::progress::flush) if this
    /// module said [`progress::note_coalesced`](crate::progress::note_coalesced); may be called while the caller of a send or a
    /// [`Receiver`] is at work, but hands nothing to receivers.
    fn flush_all(&self) {}

    /// Whether everything that was sent has left this process. While it has not, somebody must poll.
    fn is_drained(&self) -> bool {
        true
    }

    /// The job is at its end, nothing more will be sent: the time to say what was only counted before.
    fn finish(&self) {}

    /// Takes everything that arrived from anybody, handing each to its [`Receiver`]; returns how many.
    fn poll(&self) -> usize;

    /// The next thing from one peer, without taking it, polling at most `polls` times for it (with the core's pause hint
    /// in between). The direct receive path of the PML, which runs with one thread only.
    fn poll_peer(&self, _from: Endpoint, _polls: u32) -> Option<RxMessage<'_>> {
        None
    }

    /// Takes what [`Module::poll_peer`] returned last for this peer.
    fn consume(&self, _from: Endpoint) {}
}

mod drain;
mod module_ref;
mod placement;
pub use drain::{Drain, Drained, PeekResult, drain, drain_with, register_drain};
pub use module_ref::ModuleRef;
pub use placement::{Fill, PREFIX_BYTES_MAX, Placement, RxPayload, placement, register_placement};

static NODE_SERVED: AtomicBool = AtomicBool::new(false);

/// For components whose modules reach every process of this node better than others do: says in `query` that they run.
pub fn serve_node() {
    NODE_SERVED.store(true, Ordering::Relaxed);
}

/// Whether every process of this node is reached by a component that said so: others need not be there for them.
pub fn is_node_served() -> bool {
    NODE_SERVED.load(Ordering::Relaxed)
}

/// A transport that may run.
pub trait Component: mca::Component {
    /// Whether its modules may reach every process of this node ([`serve_node`]): such components are queried first.
    fn serves_node(&self) -> bool {
        false
    }

    /// Its modules; called once after `open`.
    fn query(&self) -> core::result::Result<Vec<&'static dyn Module>, mca::Declined>;
}

crate::framework! {
    /// Byte transfer layer: moves active messages to one peer.
    "btl", Opal, version 1, ManyOfMany, OMPI_BTLS: dyn Component
}
