//! Byte transfer layer: moves active messages `(am id, immediate, payload)` to one peer.
//!
//! A transport knows nothing of MPI. The 3-bit am id selects the handler of a message, the `immediate` is opaque to the
//! transport, which carries [`Caps::immediate_bits`] bits of it. Order per peer and module is kept.
//!
//! A send is complete when it returns `Ok`: the caller's buffer is its own again. [`Full`] is not an error: try again after progress.
//! [`Caps`] says what a module can do beyond [`Module::send_inline`], [`Module::send`] and [`Module::poll`]; memory of a peer that it reaches by
//! itself is a subject of its own ([`RemoteCaps`]). pml/ob1 refuses a module with fewer than 54
//! [`Caps::immediate_bits`] or fewer than 48 [`Caps::send_bytes`].
//!
//! # The life of a module
//! 1. [`set_job`] and [`shmem::select`](crate::framework::shmem::select), before any transport is opened.
//! 2. `open` and [`Component::query`] of each component, once. A transport that cannot run here declines with a sentence.
//! 3. [`register_handler`], [`register_placement`], [`register_drain`], [`on_failure`], [`on_path_failure`] and [`on_unknown_peer`], by the PML, once each; [`name_hosts`] and [`watch_processes`] before that.
//! 4. [`Module::address`] of each module, once. All processes exchange the results.
//! 5. [`Module::add_peer`] for a process, before this one first sends to it. The peer may have added this process long before and
//!    sent to it: what it sent must be kept. All processes of this node are added early; a module that reaches others says by
//!    [`unknown_peer`] that one of them sends which was not added.
//! 6. Sends and polls; [`Module::remove_peer`] instead, if another transport is used for that process.
//!
//! A module lives as long as its process; no call closes it. MPI_Finalize polls until [`Module::is_drained`].
//!
//! # Threads
//! One thread at a time calls [`Module::poll`], and one at a time [`Module::add_peer`]. All other methods may run in
//! several threads at once, also beside those two, also two sends to one peer. A
//! [`ConditionalLock`](crate::sync::ConditionalLock) costs nothing in a process with one thread. An [`AmHandler`] runs
//! inside [`Module::poll`] and may call the sends of the same module.
//!
//! # Errors
//! A send knows one failure, [`Full`]. A transport that loses a peer, or finds that it breaks the format, prints a message
//! with the reason, closes the peer, calls [`failed`] once in its next [`Module::poll`], and answers sends to the peer
//! with [`Full`]. Bytes of a peer may be anything: they are checked, never asserted.
#![allow(unsafe_code)] // linkme's expansion

use crate::framework::memcpy;
use crate::framework::shmem::Segment;
use crate::mca;
use crate::mem::Untrusted;
use crate::queue::fifo_pair::FifoPair;
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::{Error, Result};
use alloc::string::String;
use alloc::vec::Vec;

/// The kind of a message: it selects the handler that [`register_handler`] was given at the other end.
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
    /// Largest payload of [`Module::send_inline`], in bytes. pml/ob1's fast path sends up to this length.
    pub inline_bytes: usize,
    /// Largest payload, in bytes, that suits being sent before the receiver asks for it. pml/ob1 takes less if its own limit, or
    /// `send_bytes` less a prefix of 8 bytes, is lower.
    pub eager_bytes: usize,
    /// Largest payload of [`Module::send`], in bytes: the fragment size that suits this transport. pml/ob1 needs 48 bytes, the
    /// longest of its control messages; fragments have a prefix of 8 bytes, and of more than 4 KiB whole pages are used.
    pub send_bytes: usize,
    /// Time of a short message in one direction, in nanoseconds. Of the modules that are used for a process, the one with
    /// the lowest latency carries everything that is matched.
    pub latency_ns: u32,
    /// Bandwidth in 10⁶ bits per second, more than 0. The fragments of a long message go to all modules that are used for
    /// a process, in this proportion until all of them say their [`Module::throughput`].
    pub bandwidth_mbps: u32,
    /// Rank among transports, without a unit. Of the modules that reach a process only those with the highest value are
    /// used: 65536 for btl/self, 1024 for btl/sm, 100 for btl/tcp.
    pub exclusivity: u32,
    /// What it does with memory of peers that do nothing.
    pub remote: RemoteCaps,
    /// Hash of the wire format. The transport publishes it in its address and compares it in [`Module::add_peer`].
    pub wire_id: u32,
}

/// What was measured of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throughput {
    /// What it carried lately while something was always under way, in 10⁶ bits per second; more than 0.
    pub mbps: u32,
    /// Bytes that were sent on it and that the peer is not known to have.
    pub unacknowledged: usize,
}

/// A process among those of all jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessName {
    /// Its job.
    pub job: u64,
    /// Its rank there.
    pub rank: u32,
}

/// A process that may be reachable.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    /// The caller's number for it; comes back in calls of [`AmHandler`] and as the source of what arrives.
    pub index: u32,
    /// This very process.
    pub is_self: bool,
    /// On the same node.
    pub same_node: bool,
    /// The addresses of all modules of the same component in that process, one after the other. Hostile.
    pub address: &'a [u8],
}

/// Handles a message: `(peer index, immediate, payload)`. The payload is valid until it returns. It may send, but not wait
/// for progress.
pub type AmHandler = fn(peer: u32, immediate: u64, payload: Untrusted<'_>);

/// Something that arrived and was not consumed yet; see [`Module::poll_peer`].
pub struct RxMessage<'a> {
    /// Its kind.
    pub am: AmId,
    /// The immediate.
    pub immediate: u64,
    /// The payload, valid until [`Module::consume`].
    pub payload: Untrusted<'a>,
}

/// A running transport: one per NIC, or one in all.
pub trait Module: Sync {
    /// Its capabilities: the same values for its whole life. May be called on the send path.
    fn caps(&self) -> &Caps;

    /// The transport before which this one stands, once it is there: the caller's messages go to that one changed, checked, or as they
    /// are. Methods that say "the inner one's" need not be written then.
    fn inner(&self) -> Option<&dyn Module> {
        None
    }

    /// The bytes by which peers reach this module; they get them as [`Peer::address`]. They hold at least the wire id, so
    /// that another version of the library is told apart, or nothing where peers need nothing or do not reach it.
    fn address(&self) -> Vec<u8>;

    /// The bytes by which processes of other jobs reach this module, `name` being this process; they get them as
    /// [`Peer::address`], and none of [`Module::address`]. Empty: they do not reach it. What this takes is made at the first
    /// call; later ones return the same. The inner one's.
    fn address_beyond_job(&self, name: ProcessName) -> Vec<u8> {
        self.inner().map_or_else(Vec::new, |inner| inner.address_beyond_job(name))
    }

    /// Prepares to send to a peer and to receive from it. Called at most once per peer and module.
    ///
    /// `Ok(None)`: this transport does not reach the peer; another may. `Ok(Some(endpoint))`: sends are allowed at once,
    /// and may answer [`Full`] until a connection stands. It must not wait for the peer, which may compute for hours.
    /// `Err(Mismatch)`: the peer speaks another wire format. `Err(Malformed)`: its address cannot be. Other errors are the
    /// system's. Print a message before an `Err`: it fails the communication with the peer, and no other transport is tried.
    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>>;

    /// Closes a peer: sends to it answer [`Full`] from now on, and nothing of it is delivered any more. Called when a process of
    /// another job is left and nothing is on its way to it or from it. The endpoint is not used again.
    fn remove_peer(&self, endpoint: Endpoint);

    /// The peer's process has ended without leaving: a transport that cannot see that itself takes what the peer still sent and calls
    /// [`failed`] in its next [`Module::poll`]. It may be called more than once.
    fn peer_ended(&self, _endpoint: Endpoint) {}

    /// Sends at most [`Caps::inline_bytes`] bytes: the fast path. Left out, it is [`Module::send`].
    ///
    /// `Ok`: the message will arrive, after all earlier ones to this peer through this module; the payload has been copied.
    /// `Err(Full)`: nothing was sent, and nothing of it is remembered; the caller tries again after progress. `immediate`
    /// has no bits above [`Caps::immediate_bits`], `am` is below [`AM_IDS`].
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
    ) -> core::result::Result<(), Full> {
        // SAFETY: `payload` is readable for `bytes` by the caller's promise, and the place is new.
        self.send(to, am, immediate, bytes, &mut |place| unsafe { memcpy::copy(place, payload, bytes) })
    }

    /// Sends at most [`Caps::send_bytes`] bytes that `fill` writes straight into the transport's buffer. The results mean the
    /// same as those of [`Module::send_inline`].
    ///
    /// `fill` gets a place that is writable for exactly `bytes` bytes, with no alignment, and fills all of it. Call it once,
    /// during this call, and only for a message that is then sent: never before `Err(Full)`. It calls nothing of this
    /// module, so a lock may be held.
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
    /// The results mean the same as those of [`Module::send_inline`].
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

    /// Begins to write `bytes` bytes, at most [`RemoteCaps::put_bytes`], from `from` to the peer's memory. `Err(Full)`: nothing was begun.
    ///
    /// # Safety
    /// `from` is readable for `bytes`, and unchanged until the operation is complete. The peer has registered the memory under this key.
    ///
    /// # Panics
    /// Without [`RemoteCaps::put_bytes`].
    unsafe fn put(
        &self,
        _to: Endpoint,
        _from: *const u8,
        _remote: Remote,
        _bytes: usize,
        _done: Completion,
    ) -> core::result::Result<Begun, Full> {
        panic!("this transport has no put, as its Caps::remote says")
    }

    /// Begins to read `bytes` bytes, at most [`RemoteCaps::get_bytes`], of the peer's memory to `to`. `Err(Full)`: nothing was begun.
    ///
    /// # Safety
    /// `to` is writable for `bytes`, and nobody else's until the operation is complete. The peer has registered the memory under this key.
    ///
    /// # Panics
    /// Without [`RemoteCaps::get_bytes`].
    unsafe fn get(
        &self,
        _from: Endpoint,
        _to: *mut u8,
        _remote: Remote,
        _bytes: usize,
        _done: Completion,
    ) -> core::result::Result<Begun, Full> {
        panic!("this transport has no get, as its Caps::remote says")
    }

    /// Begins an atomic operation on a word of the peer's memory. `Err(Full)`: nothing was begun.
    ///
    /// # Safety
    /// The peer has registered the memory under this key, and the word is aligned.
    ///
    /// # Panics
    /// If [`RemoteCaps::atomics`] has none of this kind.
    unsafe fn atomic(
        &self,
        _to: Endpoint,
        _remote: Remote,
        _atomic: Atomic,
        _width: Width,
        _done: Completion,
    ) -> core::result::Result<Begun, Full> {
        panic!("this transport has no such atomic operation, as its Caps::remote says")
    }

    /// The number of this process itself for [`Module::put`], [`Module::get`] and [`Module::atomic`]; nothing is sent to it. Where
    /// operations are not [`RemoteCaps::atomic_with_processors`], the owner of a word uses this for it. `None`: there is no such way.
    fn own_endpoint(&self) -> Result<Option<Endpoint>> {
        Ok(None)
    }

    /// Makes `bytes` bytes of this process's memory reachable for the peers' operations; `Err` where the system or a card has no more room.
    /// Local memory of operations needs no call: where a fabric wants it registered, too, the module sees to it.
    fn register_memory(&self, _address: *mut u8, _bytes: usize) -> Result<Registration> {
        Err(Error::Unsupported)
    }

    /// Takes it back. No peer uses it any more.
    fn unregister_memory(&self, _registration: Registration) {}

    /// Makes a peer's key usable as [`Remote::key`]; the bytes are hostile. `Err(Malformed)` if it can be none.
    fn import_key(&self, _of: Endpoint, _key: &[u8]) -> Result<u64> {
        Err(Error::Unsupported)
    }

    /// Ends the use of a key of [`Module::import_key`].
    fn drop_key(&self, _of: Endpoint, _key: u64) {}

    /// Word `index` of those that this process and a peer share: `own` ones are this process's to give a meaning to, the
    /// others the peer's, which sees them as its own. Both see 0 at first; what the other writes is hostile. `None` where
    /// no memory is shared, and beyond the last one. The inner one's.
    fn shared_word(&self, peer: Endpoint, own: bool, index: u32) -> Option<&AtomicU64> {
        self.inner()?.shared_word(peer, own, index)
    }

    /// Memory of a peer (`None`: of this process) that all processes which this transport reaches have mapped, for the
    /// layer above: zeros at first, page-aligned, mapped for the life of the process, of the same length everywhere.
    /// A process that waits for a word in it is woken through [`FifoPair::peer_sleeps`] and [`Module::wake`]. The inner one's.
    fn shared_pool(&self, owner: Option<Endpoint>) -> Option<Segment> {
        self.inner()?.shared_pool(owner)
    }

    /// The queues to and from a peer, if short messages need nothing else: the caller then
    /// pushes and peeks itself instead of calling [`Module::send_inline`] and [`Module::poll_peer`]. The kinds of its
    /// messages are am ids. Never the inner one's, which would be used past this one.
    fn fifo_pair(&self, _peer: Endpoint) -> Option<&FifoPair> {
        None
    }

    /// Wakes a peer that sleeps. Called after a push to its [`Module::fifo_pair`] or a store to memory that it shares, if
    /// [`FifoPair::peer_sleeps`]. The inner one's.
    fn wake(&self, peer: Endpoint) {
        self.inner().into_iter().for_each(|inner| inner.wake(peer));
    }

    /// How fast the path to a peer is, as the peer acknowledged it. `None`: nobody has measured, [`Caps::bandwidth_mbps`] is all that is
    /// known. The inner one's.
    fn throughput(&self, to: Endpoint) -> Option<Throughput> {
        self.inner()?.throughput(to)
    }

    /// Whether messages to this endpoint take the path of another endpoint to the same peer, for good, because its own one could not be
    /// made: it adds nothing to what that carries. The inner one's.
    fn has_failed_over(&self, to: Endpoint) -> bool {
        self.inner().is_some_and(|inner| inner.has_failed_over(to))
    }

    /// What people want to know of the path to a peer beside the transport's name: an interface, how it is protected. Empty:
    /// nothing. The inner one's.
    fn path_detail(&self, to: Endpoint) -> String {
        self.inner().map_or_else(String::new, |inner| inner.path_detail(to))
    }

    /// The paths to peers that broke and are made again, for people who ask what a process waits for. Cheap where there are none. The
    /// inner one's.
    fn broken_paths(&self) -> Vec<BrokenPath> {
        self.inner().map_or_else(Vec::new, |inner| inner.broken_paths())
    }

    /// Hands the messages that were coalesced for a peer to the system. Never waits. The inner one's.
    fn flush(&self, to: Endpoint) {
        self.inner().into_iter().for_each(|inner| inner.flush(to));
    }

    /// Hands the messages that were coalesced for any peer to the system. Never waits. Called through
    /// [`progress::flush`](crate::progress::flush) if this module said
    /// [`progress::note_coalesced`](crate::progress::note_coalesced); may be called while the caller of a send or an
    /// [`AmHandler`] is at work, but calls no handler. The inner one's.
    fn flush_all(&self) {
        self.inner().into_iter().for_each(|inner| inner.flush_all());
    }

    /// Whether everything that was sent has left this process. While it has not, somebody must poll. The inner one's.
    fn is_drained(&self) -> bool {
        self.inner().is_none_or(|inner| inner.is_drained())
    }

    /// This process leaves MPI, nothing more will be sent: the time to tell peers that cannot see it, and to say what was only counted
    /// before. A session that begins later may meet processes of other jobs anew, and may call this again. The inner one's.
    fn finish(&self) {
        self.inner().into_iter().for_each(|inner| inner.finish());
    }

    /// Whether it is polled from the start. Otherwise it is from its first endpoint on, because nothing can come before. The inner one's.
    fn is_polled_without_peers(&self) -> bool {
        self.inner().is_none_or(|inner| inner.is_polled_without_peers())
    }

    /// Takes what arrived from any peer, and calls the [`AmHandler`] of each message by [`deliver`], in the order in
    /// which the peer sent them. Also does what is due: connecting, writing what did not fit. Returns how many messages
    /// were taken; after 0 the caller may yield or sleep. It must not wait. It may stop before everything is taken, so
    /// that one peer does not starve the others.
    fn poll(&self) -> usize;

    /// The next message from one peer, without taking it, polling at most `polls` times for it (with the core's pause hint
    /// in between). For the PML's receive without a request, which runs with one thread only.
    fn poll_peer(&self, _from: Endpoint, _polls: u32) -> Option<RxMessage<'_>> {
        None
    }

    /// Takes the message that [`Module::poll_peer`] returned last for this peer, and ends the life of its payload. Called at
    /// most once per message.
    fn consume(&self, _from: Endpoint) {}
}

/// A path to a peer that broke and is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPath {
    /// The peer.
    pub peer: u32,
    /// Since when, in ns of the monotonic clock.
    pub since_ns: u64,
    /// What is tried: `10.0.0.1 to 10.0.0.2, 7 attempts`.
    pub tried: String,
}

mod drain;
mod handlers;
mod job;
mod module_ref;
mod placement;
mod remote;
mod wire_id;
pub use drain::{Drain, Drained, PeekResult, drain, drain_with, register_drain, replace_drain};
pub use handlers::{
    deliver, failed, has_ended, name_hosts, on_failure, on_path_failure, on_unknown_peer, path_failed, peer_named,
    register_handler, unknown_peer, watch_processes,
};
pub use job::{Job, job, set_job};
pub use module_ref::ModuleRef;
pub use placement::{Fill, PREFIX_BYTES_MAX, Placement, RxPayload, placement, register_placement};
pub use remote::{Atomic, AtomicSet, Begun, Completion, KEY_BYTES_MAX, Registration, Remote, RemoteCaps, Width};
pub use wire_id::check_wire_id;

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

    /// Asked after `query` declined: whether the user wants it in so many words, so that the process must not start without it.
    fn is_required(&self) -> bool {
        false
    }

    /// What of this machine it could use for ranks on other nodes, a line each that says why it would or would not. For people, without a
    /// job; looks at the machine at each call.
    fn devices(&self) -> Vec<String> {
        Vec::new()
    }
}

crate::framework! {
    /// Byte transfer layer: moves active messages to one peer.
    "btl", Opal, version 1, ManyOfMany, OMPI_BTLS: dyn Component
}
