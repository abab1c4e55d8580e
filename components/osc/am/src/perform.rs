//! What a target does with its memory for one access.

use crate::raw::{self, Buffer, Copied};
use crate::window::Window;
use crate::wire::{Head, Kind, push_reads};
use ompi_core::datatype;
use ompi_core::error::{Class, Result};

/// Works on the memory; what was there, if it is wanted.
#[inline]
pub fn perform(place: &Buffer<'_>, head: &Head, data: &[u8]) -> Result<Option<Copied>> {
    match head.kind {
        Kind::Put if data.len() == place.bytes() => {
            place.write(data);
            Ok(None)
        }
        Kind::Get => place.read().map(Some),
        Kind::Accumulate => combine(place, head, data).map(|()| None),
        Kind::GetAccumulate => {
            let old = place.read()?;
            if !data.is_empty() {
                combine(place, head, data)?;
            }
            Ok(Some(old))
        }
        Kind::CompareAndSwap if data.len() == 2 * place.bytes() => {
            let (compare, new) = data.split_at(place.bytes());
            let old = place.read()?;
            if old.bytes() == compare {
                place.write(new);
            }
            Ok(Some(old))
        }
        _ => Err(Class::Truncate.into()),
    }
}

/// Combines the memory with data that came.
pub fn combine(place: &Buffer<'_>, head: &Head, data: &[u8]) -> Result<()> {
    let basic = datatype::borrow(usize::from(head.basic)).filter(|basic| basic.is_predefined()).ok_or(Class::Type)?;
    place.combine(head.operation, basic, data)
}

/// Says to an origin that this process can copy, if it can.
pub fn answer_offer(window: &Window, origin: usize, address: u64) {
    if origin == window.me() || !raw::can_copy(window.route(origin, 0), address, size_of::<u64>()) {
        return;
    }
    let base = own_base(window, origin);
    window.with_peer(origin, |peer| {
        // A process that is gone needs no answer.
        if let Ok(packet) = peer.outbox.for_record(2 * size_of::<u64>()) {
            push_reads(packet, base);
        }
    });
}

/// What this process says of its own memory to an origin: 0 if that may not copy.
fn own_base(window: &Window, origin: usize) -> u64 {
    let lent = window.memory.whole().map(Buffer::in_window).filter(|whole| whole.may_be_lent(window.route(origin, 0)));
    lent.and_then(|whole| whole.address()).unwrap_or(0)
}

/// Does an access of an origin that lends its data: `data` is the address.
pub fn copy_lent(window: &Window, origin: usize, head: &Head, place: &Buffer<'_>, data: &[u8]) -> Result<()> {
    let address = u64::from_le_bytes(*data.as_array().ok_or(Class::Truncate)?);
    let (route, bytes) = (window.route(origin, 0), place.bytes());
    if !place.is_run() || bytes > most_lent(head.kind) || address.checked_add(bytes as u64).is_none() {
        return Err(Class::Truncate.into());
    }
    match head.kind {
        Kind::Put => place.copy_lent(route, address),
        Kind::Accumulate => {
            for from in (0..bytes).step_by(BLOCK_BYTES) {
                let block = place.part(from, BLOCK_BYTES.min(bytes - from));
                raw::with_lent(block.bytes(), route, address + from as u64, |data| combine(&block, head, data))?;
            }
            Ok(())
        }
        _ => Err(Class::Truncate.into()),
    }
}

/// The longest data that is lent, by what is done with it: longer data is a message of the PML, of which both sides copy a half at the same time.
/// 48 KiB to be written take 0.85 of the time as a message, 64 KiB 1.05; 64 KiB to be combined 0.73.
pub fn most_lent(kind: Kind) -> usize {
    match kind {
        Kind::Put => 48 << 10,
        Kind::Accumulate => 1 << 20,
        _ => 0,
    }
}

/// Accumulates copy so much at once: a multiple of every element, so that none is cut.
pub const BLOCK_BYTES: usize = 32 << 10;
