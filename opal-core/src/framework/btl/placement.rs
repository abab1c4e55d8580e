//! Placement: where a long payload belongs, for transports that can receive it straight into the user's buffer.

use super::{AM_IDS, AmId};
use crate::sync::Once;
use crate::{Error, Result};

/// The most bytes of a payload that may say where the rest of it belongs.
pub const PREFIX_BYTES_MAX: usize = 16;

/// How the payloads of an am id are received without a copy in between. A transport that cannot, or a payload for which
/// there is no place, goes to the [`AmHandler`](super::AmHandler) as always.
#[derive(Clone, Copy)]
pub struct Placement {
    /// Bytes at the beginning of each payload that say where the rest belongs; at most [`PREFIX_BYTES_MAX`].
    pub prefix_bytes: usize,
    /// Calls `take` once, during this call, with the place for what is still missing of a payload; `false`, without the
    /// call, if there is none or none any more. Nobody else touches the place during the call.
    pub place: fn(RxPayload<'_>, take: Fill<'_>) -> bool,
    /// Called once when all of a payload is in its place. Not called if the place was withdrawn or the peer failed.
    pub placed: fn(RxPayload<'_>),
}

/// What is done with a place.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [u8]);

/// A payload that arrives piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct RxPayload<'a> {
    /// The sender.
    pub peer: u32,
    /// Its immediate.
    pub immediate: u64,
    /// Its first bytes; a peer's, and hostile.
    pub prefix: &'a [u8],
    /// Bytes behind the prefix; as the peer says.
    pub bytes: usize,
    /// How many of them have come.
    pub done: usize,
}

static PLACEMENTS: [Once<Placement>; AM_IDS] = [const { Once::new() }; AM_IDS];

/// Registers the placement of an am id; once per id, before any peer is added. `Err(Exists)` if it has one.
pub fn register_placement(am: AmId, placement: Placement) -> Result<()> {
    let place = PLACEMENTS.get(am as usize).ok_or(Error::Invalid)?;
    if placement.prefix_bytes > PREFIX_BYTES_MAX {
        return Err(Error::Invalid);
    }
    let mut mine = false;
    place.call_once(|| {
        mine = true;
        placement
    });
    if mine { Ok(()) } else { Err(Error::Exists) }
}

/// For modules: the placement that was registered.
pub fn placement(am: AmId) -> Option<&'static Placement> {
    PLACEMENTS.get(am as usize)?.get()
}
