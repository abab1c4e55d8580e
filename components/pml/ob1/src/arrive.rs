//! What transports call: one function per kind of message. Payloads are a peer's and hostile.

use crate::context::{Announced, Body, Message};
use crate::single::Share;
use crate::state::STATE;
use crate::wire::{self, Envelope};
use ompi_core::comm::mail;
use ompi_core::framework::pml;
use opal_core::framework::btl::{Arriving, Landing, Take};
use opal_core::mem::Foreign;
use opal_core::verbose;

/// A standard send, all of it. Those that come through conduits and meet a receive are taken in [`crate::drain`].
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
    let announced = match (wire::parse(payload), wire::parse(payload)) {
        (Some([bytes, cookie]), _) => Announced { bytes, cookie, address: None },
        (_, Some([bytes, cookie, address])) => Announced { bytes, cookie, address: Some(address) },
        _ => return malformed(process, "ask"),
    };
    let message = Message { process, body: Body::Announced(announced) };
    STATE.lock().message(Envelope::of(head), message);
}

/// The receiver of a long send is ready.
pub fn clear(process: u32, head: u64, payload: Foreign<'_>) {
    let known = match (wire::parse(payload), wire::parse(payload)) {
        (Some([cookie, wanted]), _) => STATE.lock().cleared(process, head, cookie, wanted),
        (_, Some([cookie, wanted, address, begin, word])) => {
            let share = Share { cookie, wanted, address, begin, word };
            STATE.lock().asked_to_share(process, head, share)
        }
        _ => false,
    };
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

/// The sender has written its part.
pub fn shared(process: u32, head: u64, payload: Foreign<'_>) {
    if !wire::parse(payload).is_some_and(|[written]| STATE.lock().shared(process, head, written == 1)) {
        malformed(process, "shared");
    }
}

/// Where parts of long sends belong.
pub const FRAGMENTS: Landing = Landing { prefix_bytes: wire::PREFIX_BYTES, place, landed };

fn place(part: Arriving<'_>, take: Take<'_>) -> bool {
    wire::parse_prefix(Foreign::of(part.prefix))
        .is_some_and(|(offset, _)| STATE.lock().place(part.peer, part.head, offset, part.done..part.bytes, take))
}

fn landed(part: Arriving<'_>) {
    let known = wire::parse_prefix(Foreign::of(part.prefix))
        .is_some_and(|(offset, _)| STATE.lock().landed(part.peer, part.head, offset, part.bytes));
    if !known {
        malformed(part.peer, "fragment");
    }
}

/// Where standard sends belong.
pub const WHOLE: Landing = Landing { prefix_bytes: 0, place: place_whole, landed: landed_whole };

fn place_whole(whole: Arriving<'_>, take: Take<'_>) -> bool {
    STATE.lock().place_whole(whole.peer, whole.head, whole.done..whole.bytes, take)
}

fn landed_whole(whole: Arriving<'_>) {
    if !STATE.lock().landed_whole(whole.peer, whole.head, whole.bytes) {
        malformed(whole.peer, "eager");
    }
}

/// A synchronous send was matched, or a message was copied.
pub fn acknowledge(process: u32, head: u64, _payload: Foreign<'_>) {
    if !STATE.lock().acknowledged(process, head) {
        malformed(process, "acknowledge");
    }
}

/// A note; nothing of this component is locked here.
pub fn note(process: u32, _head: u64, payload: Foreign<'_>) {
    let mut bytes = alloc::vec![0; payload.len()];
    payload.copy_to(&mut bytes);
    if !mail::arrived(process, &bytes) {
        malformed(process, "note");
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
