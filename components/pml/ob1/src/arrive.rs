//! What transports call: one function per kind of message. Payloads are a peer's and hostile.

use crate::context::{Body, Message};
use crate::state::STATE;
use crate::wire::{self, Envelope};
use ompi_core::framework::pml;
use opal_core::mem::Foreign;
use opal_core::verbose;

/// A standard send, all of it.
pub fn eager(process: u32, head: u64, payload: Foreign<'_>) {
    STATE.lock().whole(process, head, payload, None);
}

/// A synchronous send, all of it.
pub fn synchronous(process: u32, head: u64, payload: Foreign<'_>) {
    match wire::parse_prefix(payload) {
        Some((cookie, data)) => STATE.lock().whole(process, head, data, Some(cookie)),
        None => malformed(process, "synchronous"),
    }
}

/// A long send is announced.
pub fn ask(process: u32, head: u64, payload: Foreign<'_>) {
    match wire::parse_pair(payload) {
        Some((bytes, cookie)) => {
            let message = Message { process, body: Body::Announced(bytes, cookie) };
            STATE.lock().message(Envelope::of(head), message);
        }
        None => malformed(process, "ask"),
    }
}

/// The receiver of a long send is ready.
pub fn clear(process: u32, head: u64, payload: Foreign<'_>) {
    let known =
        wire::parse_pair(payload).is_some_and(|(cookie, wanted)| STATE.lock().cleared(process, head, cookie, wanted));
    if !known {
        malformed(process, "clear");
    }
}

/// A part of a long send.
pub fn fragment(process: u32, head: u64, payload: Foreign<'_>) {
    let known =
        wire::parse_prefix(payload).is_some_and(|(offset, data)| STATE.lock().fragment(process, head, offset, data));
    if !known {
        malformed(process, "fragment");
    }
}

/// A synchronous send was matched.
pub fn acknowledge(process: u32, head: u64, _payload: Foreign<'_>) {
    if !STATE.lock().acknowledged(process, head) {
        malformed(process, "acknowledge");
    }
}

#[cold]
#[inline(never)]
fn malformed(process: u32, kind: &str) {
    verbose!(
        pml::FRAMEWORK,
        10,
        "dropped a message of kind {kind} from process {process}: it fits nothing that is under way"
    );
}
