//! Who is told of what arrives: the handlers of the layer above, and how modules call them.

use super::{AM_IDS, AmHandler, AmId, FRAMEWORK};
use crate::mem::Untrusted;
use crate::sync::Once;
use crate::{Error, Result};
use alloc::format;
use alloc::string::String;

static AM_HANDLERS: [Once<AmHandler>; AM_IDS] = [const { Once::new() }; AM_IDS];
static ON_FAILURE: Once<fn(peer: u32)> = Once::new();

/// Registers the handler of an am id; once per id, before any peer is added. `Err(Exists)` if it has one.
pub fn register_handler(am: AmId, handler: AmHandler) -> Result<()> {
    let place = AM_HANDLERS.get(am as usize).ok_or(Error::Invalid)?;
    let mut mine = false;
    place.call_once(|| {
        mine = true;
        handler
    });
    if mine { Ok(()) } else { Err(Error::Exists) }
}

/// For modules: calls the handler of a message that arrived. A message of a kind without a handler is dropped: its
/// sender's mistake.
#[inline(always)]
pub fn deliver(am: AmId, peer: u32, immediate: u64, payload: Untrusted<'_>) {
    match AM_HANDLERS.get(am as usize).and_then(|place| place.get()) {
        Some(handler) => handler(peer, immediate, payload),
        None => unhandled(am, peer),
    }
}

static ON_UNKNOWN_PEER: Once<fn(peer: u32)> = Once::new();

/// Registers the function that is called when a process of the job has something to say that was not added: it adds the process;
/// once.
pub fn on_unknown_peer(callback: fn(peer: u32)) {
    ON_UNKNOWN_PEER.call_once(|| callback);
}

/// For modules, from [`Module::poll`] with no lock held: a process of the job, which has proved that, wants to send to this one and was
/// not added. Perhaps it is when this returns. Called once per attempt of the process.
#[cold]
pub fn unknown_peer(peer: u32) {
    if let Some(callback) = ON_UNKNOWN_PEER.get() {
        callback(peer);
    }
}

/// Registers the function that is called when a peer can no longer be reached; once.
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

static ON_PATH_FAILURE: Once<fn(peer: u32, wire_id: u32)> = Once::new();

/// Registers the function that is called when a transport no longer reaches a peer, which others may reach; once.
pub fn on_path_failure(callback: fn(peer: u32, wire_id: u32)) {
    ON_PATH_FAILURE.call_once(|| callback);
}

/// As [`failed`] where nothing says that the peer has ended: none of the component's modules, which have this wire id, reaches it
/// any more. The peer is lost unless another transport reaches it and what was sent is kept above.
#[cold]
pub fn path_failed(peer: u32, wire_id: u32) {
    match ON_PATH_FAILURE.get() {
        Some(callback) => callback(peer, wire_id),
        None => failed(peer),
    }
}

static HOST_OF: Once<fn(peer: u32) -> Option<String>> = Once::new();

/// Registers the function that knows the names of peers' hosts, and waits for nothing; once.
pub fn name_hosts(host_of: fn(peer: u32) -> Option<String>) {
    HOST_OF.call_once(|| host_of);
}

/// For messages of modules: `process 3 on node7`, or `process 3` where nobody knows its host.
#[cold]
pub fn peer_named(peer: u32) -> String {
    match HOST_OF.get().and_then(|host_of| host_of(peer)) {
        Some(host) => format!("process {peer} on {host}"),
        None => format!("process {peer}"),
    }
}

static HAS_ENDED: Once<fn(peer: u32) -> Option<bool>> = Once::new();

/// Registers the function that asks whoever watches the processes of the job whether one has ended, and waits for nothing; once.
pub fn watch_processes(has_ended: fn(peer: u32) -> Option<bool>) {
    HAS_ENDED.call_once(|| has_ended);
}

/// For modules whose paths to a peer fail: whether its process has ended before its time. `Some(false)`: not as far as is known, and it
/// will be known soon after. `None`: nobody watches it, and the paths alone tell. Costs a look at shared memory.
#[cold]
pub fn has_ended(peer: u32) -> Option<bool> {
    HAS_ENDED.get().and_then(|has_ended| has_ended(peer))
}

#[cold]
fn unhandled(am: AmId, peer: u32) {
    crate::verbose!(FRAMEWORK, 10, "dropped a message of kind {am} from process {peer}: nobody handles that kind");
}
