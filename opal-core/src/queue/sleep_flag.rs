//! What the sleep flag of a process says beside how it is to be woken, for the queues to it and from it.

/// The sleeper has something to send for which a peer had no room. Its other bits tell how it is to be woken; 0: it does not sleep.
pub const AWAITS_ROOM: u32 = 4;

/// Whether a process with this sleep flag is to be woken when there is room for its messages.
#[inline(always)]
pub const fn awaits_room(flag: u32) -> bool {
    flag & AWAITS_ROOM != 0
}
