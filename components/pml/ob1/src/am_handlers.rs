//! The handlers of ob1's active messages, one per kind. A payload comes from a peer: nothing in it is believed unchecked.

pub mod checksum;

use crate::context::{Body, Message, PendingRts};
use crate::state::STATE;
use crate::wire::{self, Control, Envelope, Rts};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::framework::pml;
use ompi_core::oob;
use opal_core::framework::btl::{AmHandler, AmId, Fill, Placement, RxPayload};
use opal_core::mem::Untrusted;
use opal_core::verbose;

/// By kind.
pub const ALL: &[(AmId, AmHandler)] = &[
    (wire::EAGER, eager),
    (wire::SYNC, synchronous),
    (wire::RTS, rts),
    (wire::CONTROL, control),
    (wire::FRAG, fragment),
    (wire::RTS_DATA, rts_data),
    (wire::OOB, oob),
];

/// A standard send, all of it. [`crate::recv::batch`] takes most of those that come through FIFO pairs.
pub fn eager(process: u32, immediate: u64, payload: Untrusted<'_>) {
    STATE.lock().eager(process, immediate, payload, None);
}

/// A synchronous send, all of it.
pub fn synchronous(process: u32, immediate: u64, payload: Untrusted<'_>) {
    match wire::split_prefix(payload) {
        Some((handle, data)) => STATE.lock().eager(process, immediate, data, Some(handle)),
        None => malformed(process, "synchronous"),
    }
}

/// A long send asks to be received.
pub fn rts(process: u32, immediate: u64, payload: Untrusted<'_>) {
    let Some((rts, key)) = Rts::unpack_with_key(payload) else { return malformed(process, "RTS") };
    let mut state = STATE.lock();
    let data = (rts.data_bytes > 0).then(|| state.expect_rts_data(process, rts.handle));
    let body = Body::Rts(PendingRts { rts, key: key.map(Box::new), data });
    state.message(Envelope::of(immediate), Message { process, body });
}

/// The beginning of a long send, after its RTS.
pub fn rts_data(process: u32, immediate: u64, payload: Untrusted<'_>) {
    let known = wire::split_prefix(payload)
        .is_some_and(|(offset, data)| STATE.lock().rts_data(process, immediate, offset, data));
    if !known {
        malformed(process, "RTS data");
    }
}

/// A control message to one of our operations.
pub fn control(process: u32, handle: u64, payload: Untrusted<'_>) {
    let Some(control) = Control::unpack(payload) else { return malformed(process, "control") };
    let mut state = STATE.lock();
    let known = match control {
        Control::Ack => state.ack(process, handle),
        Control::Cts(cts) => state.cts(process, handle, cts, false),
        Control::CtsResend(cts) => state.cts(process, handle, cts, true),
        Control::NoneWanted => state.none_wanted(process, handle),
        Control::PushOffer(offer) => state.push_offered(process, handle, offer),
        Control::PushDone => state.pushed(process, handle, true),
        Control::PushFailed => state.pushed(process, handle, false),
        Control::Fin => state.fin(process, handle),
        Control::Xoff => state.xoff(process, true),
        Control::Xon => state.xoff(process, false),
    };
    if !known {
        malformed(process, "control");
    }
}

/// A fragment of a long send.
pub fn fragment(process: u32, immediate: u64, payload: Untrusted<'_>) {
    let known = wire::split_prefix(payload)
        .is_some_and(|(offset, data)| STATE.lock().fragment(process, immediate, offset, data));
    if !known {
        malformed(process, "fragment");
    }
}

/// Where fragments belong.
pub const FRAGMENTS: Placement = Placement { prefix_bytes: wire::PREFIX_BYTES, place, placed };

fn place(part: RxPayload<'_>, fill: Fill<'_>) -> bool {
    wire::split_prefix(Untrusted::of(part.prefix))
        .is_some_and(|(offset, _)| STATE.lock().place(part.peer, part.immediate, offset, part.done..part.bytes, fill))
}

fn placed(part: RxPayload<'_>) {
    let known = wire::split_prefix(Untrusted::of(part.prefix))
        .is_some_and(|(offset, _)| STATE.lock().placed(part.peer, part.immediate, offset, part.bytes));
    if !known {
        malformed(part.peer, "fragment");
    }
}

/// Where eager messages belong.
pub const EAGER: Placement = Placement { prefix_bytes: 0, place: place_eager, placed: placed_eager };

fn place_eager(whole: RxPayload<'_>, fill: Fill<'_>) -> bool {
    STATE.lock().place_eager(whole.peer, whole.immediate, whole.done..whole.bytes, fill)
}

fn placed_eager(whole: RxPayload<'_>) {
    if !STATE.lock().placed_eager(whole.peer, whole.immediate, whole.bytes) {
        malformed(whole.peer, "eager");
    }
}

/// An out-of-band message; nothing of this component is locked here.
pub fn oob(process: u32, _immediate: u64, payload: Untrusted<'_>) {
    let (mut small, mut long) = ([0; SMALL_OOB_BYTES], Vec::new());
    let bytes = match small.get_mut(..payload.len()) {
        Some(bytes) => bytes,
        None => {
            long.resize(payload.len(), 0);
            &mut long[..]
        }
    };
    payload.copy_to(bytes);
    if !oob::deliver(process, bytes) {
        malformed(process, "out-of-band");
    }
}

/// An out-of-band message up to this length needs no memory: most of those of one-sided communication.
const SMALL_OOB_BYTES: usize = 128;

#[cold]
#[inline(never)]
fn malformed(process: u32, kind: &str) {
    verbose!(
        pml::FRAMEWORK,
        10,
        "dropped a message of kind {kind} from process {process}: malformed, or no operation is waiting for it"
    );
}
