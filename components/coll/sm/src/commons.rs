//! Giving away lines in this process's commons, for the communicators whose rank 0 it is.

use crate::raw::Shared;
use crate::wire;
use alloc::vec::Vec;
use opal_core::framework::shmem::Segment;
use opal_core::sync::{Guarded, Ordering};

struct Given {
    offset: usize,
    bytes: usize,
    ranks: usize,
    // Nobody needs the lines any more once all ranks have departed, too.
    returned: bool,
}

static GIVEN: Guarded<Vec<Given>> = Guarded::new(Vec::new());

/// Lines for as many ranks in `commons`, this process's own: their offset; `None` if there is no room.
pub fn take(commons: Segment, ranks: usize) -> Option<usize> {
    let mut given = GIVEN.lock();
    let bytes = wire::bytes(ranks);
    let again = given.iter_mut().find(|one| {
        // Acquire pairs with the Release of each rank's departure: it reads nothing of the former communicator's any more.
        one.returned
            && one.bytes >= bytes
            && Shared::of(commons, one.offset, one.bytes)
                .is_some_and(|lines| lines.word(wire::DEPARTED).load(Ordering::Acquire) == one.ranks as u64)
    });
    if let Some(one) = again {
        Shared::of(commons, one.offset, one.bytes)?.clear_head();
        (one.ranks, one.returned) = (ranks, false);
        return Some(one.offset);
    }
    let offset = given.last().map_or(0, |last| last.offset + last.bytes);
    let end = offset.checked_add(bytes)?;
    if end > commons.bytes {
        return None;
    }
    given.push(Given { offset, bytes, ranks, returned: false });
    Some(offset)
}

/// The communicator with the lines at this offset is gone here.
pub fn give_back(offset: usize) {
    if let Some(one) = GIVEN.lock().iter_mut().find(|one| one.offset == offset) {
        one.returned = true;
    }
}
