//! The handlers where messages carry checksums: they check what arrived, and call the others for what is whole and next.

use crate::checksum::Arrived;
use crate::checksum::frame::{self, Frame, Kind};
use crate::checksum::links::LINKS;
use crate::counters::DAMAGED;
use crate::protocol::failure;
use crate::wire;
use ompi_core::framework::pml;
use opal_core::framework::btl::{AmHandler, AmId};
use opal_core::framework::timer::now_ns;
use opal_core::mem::Untrusted;
use opal_core::{message, verbose};

/// By kind.
pub fn all() -> impl Iterator<Item = (AmId, AmHandler)> {
    let bare = super::ALL.iter().map(|(am, _)| (*am, unchecked as AmHandler));
    bare.chain([(wire::CHECKED, arrived as AmHandler)])
}

/// Something arrived.
fn arrived(process: u32, immediate: u64, payload: Untrusted<'_>) {
    let mut own = LINKS.lock().take_buffer();
    own.resize(payload.len(), 0);
    payload.copy_to(&mut own);
    match Frame::check(immediate, &own) {
        None => damaged(process),
        Some(head) if head.kind == Kind::Piece => {
            let whole = LINKS.lock().piece(process, head, &own[frame::BYTES..]);
            match whole.as_deref().map(|whole| (whole, Frame::check(immediate, whole))) {
                Some((whole, Some(frame))) if frame.kind != Kind::Piece => take(process, immediate, frame, whole),
                Some(_) => damaged(process),
                None => {}
            }
        }
        Some(frame) => take(process, immediate, frame, &own),
    }
    LINKS.lock().give_buffer(own);
}

/// A frame is whole.
fn take(process: u32, immediate: u64, frame: Frame, bytes: &[u8]) {
    let arrived = LINKS.lock().arrived(process, frame, bytes.len(), now_ns());
    if arrived == Arrived::Next
        && let Some((_, handler)) = super::ALL.iter().find(|(am, _)| *am == frame.am)
    {
        handler(process, immediate, Untrusted::of(&bytes[frame::BYTES..]));
    }
}

/// Something without a checksum arrived: its kind was damaged, or the sender has no checksums, which it will say.
fn unchecked(process: u32, _immediate: u64, _payload: Untrusted<'_>) {
    damaged(process);
}

#[cold]
fn damaged(process: u32) {
    DAMAGED.count();
    verbose!(pml::FRAMEWORK, 20, "a message of process {process} arrived damaged; it must come again");
    LINKS.lock().damaged(process, now_ns());
}

/// In a process without checksums: a message with one arrived.
pub fn refuse(process: u32, _immediate: u64, _payload: Untrusted<'_>) {
    message!(
        "process {process} sends messages with checksums (pml_ob1_checksum 1) and this one does not; all processes that \
         communicate need the same value"
    );
    failure::peer_failed(process);
}
