//! What transports call: one function per kind of message. Payloads are a peer's and hostile.

use crate::context::{Announced, Body, Message};
use crate::protocol::smsc::Share;
use crate::state::STATE;
use crate::wire::{self, Envelope};
use ompi_core::framework::pml;
use ompi_core::oob;
use opal_core::framework::btl::{Fill, Placement, RxPayload};
use opal_core::mem::Untrusted;
use opal_core::verbose;

/// A standard send, all of it. Those that come through FIFO pairs and meet a receive are taken in [`crate::recv::batch`].
pub fn eager(process: u32, immediate: u64, payload: Untrusted<'_>) {
    STATE.lock().whole(process, immediate, payload, None);
}

/// A synchronous send, all of it.
pub fn synchronous(process: u32, immediate: u64, payload: Untrusted<'_>) {
    match wire::parse_prefix(payload) {
        Some((cookie, data)) => STATE.lock().whole(process, immediate, data, Some(cookie)),
        None => malformed(process, "synchronous"),
    }
}

/// A long send is announced.
pub fn ask(process: u32, immediate: u64, payload: Untrusted<'_>) {
    let Some([bytes, cookie, address, lead]) = wire::parse(payload) else { return malformed(process, "ask") };
    let address = (address != 0).then_some(address);
    let mut state = STATE.lock();
    let lead = (lead > 0).then(|| state.expect_lead(process, cookie));
    let body = Body::Announced(Announced { bytes, cookie, address, lead });
    state.message(Envelope::of(immediate), Message { process, body });
}

/// The receiver of a long send is ready.
pub fn clear(process: u32, immediate: u64, payload: Untrusted<'_>) {
    let mut state = STATE.lock();
    let known = if let Some([cookie, wanted]) = wire::parse(payload) {
        state.cleared(process, immediate, (cookie, wanted), false)
    } else if let Some([cookie, wanted, 0]) = wire::parse(payload) {
        state.cleared(process, immediate, (cookie, wanted), true)
    } else if let Some([cookie, wanted, address, begin, word]) = wire::parse(payload) {
        state.asked_to_share(process, immediate, Share { cookie, wanted, address, begin, word })
    } else {
        false
    };
    if !known {
        malformed(process, "clear");
    }
}

/// A part of a long send.
pub fn fragment(process: u32, immediate: u64, payload: Untrusted<'_>) {
    let known = wire::parse_prefix(payload).is_some_and(|(offset, data)| {
        let mut state = STATE.lock();
        match immediate & wire::LEAD {
            0 => state.fragment(process, immediate, offset, data),
            _ => state.lead(process, immediate & !wire::LEAD, offset, data),
        }
    });
    if !known {
        malformed(process, "fragment");
    }
}

/// The sender has written its part.
pub fn shared(process: u32, immediate: u64, payload: Untrusted<'_>) {
    if !wire::parse(payload).is_some_and(|[written]| STATE.lock().shared(process, immediate, written == 1)) {
        malformed(process, "shared");
    }
}

/// Where parts of long sends belong.
pub const FRAGMENTS: Placement = Placement { prefix_bytes: wire::PREFIX_BYTES, place, landed };

fn place(part: RxPayload<'_>, take: Fill<'_>) -> bool {
    wire::parse_prefix(Untrusted::of(part.prefix))
        .is_some_and(|(offset, _)| STATE.lock().place(part.peer, part.immediate, offset, part.done..part.bytes, take))
}

fn landed(part: RxPayload<'_>) {
    let known = wire::parse_prefix(Untrusted::of(part.prefix))
        .is_some_and(|(offset, _)| STATE.lock().landed(part.peer, part.immediate, offset, part.bytes));
    if !known {
        malformed(part.peer, "fragment");
    }
}

/// Where standard sends belong.
pub const WHOLE: Placement = Placement { prefix_bytes: 0, place: place_whole, landed: landed_whole };

fn place_whole(whole: RxPayload<'_>, take: Fill<'_>) -> bool {
    STATE.lock().place_whole(whole.peer, whole.immediate, whole.done..whole.bytes, take)
}

fn landed_whole(whole: RxPayload<'_>) {
    if !STATE.lock().landed_whole(whole.peer, whole.immediate, whole.bytes) {
        malformed(whole.peer, "eager");
    }
}

/// A synchronous send was matched, or a message was copied.
pub fn acknowledge(process: u32, immediate: u64, _payload: Untrusted<'_>) {
    if !STATE.lock().acknowledged(process, immediate) {
        malformed(process, "acknowledge");
    }
}

/// A note; nothing of this component is locked here.
pub fn note(process: u32, _head: u64, payload: Untrusted<'_>) {
    let mut bytes = alloc::vec![0; payload.len()];
    payload.copy_to(&mut bytes);
    if !oob::deliver(process, &bytes) {
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
