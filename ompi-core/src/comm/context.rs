//! Context numbers: each process numbers its communicators for itself and tells its peers, so that making one needs no
//! global agreement.

use crate::oob;
use alloc::vec::Vec;
use opal_core::sync::ConditionalLock;

/// Bits of a context number in a message's head; one more distinguishes the collective match context.
pub const BITS: u32 = 22;

/// MPI_COMM_WORLD's, everywhere.
pub const WORLD: u32 = 0;
/// MPI_COMM_SELF's, everywhere.
pub const SELF: u32 = 1;

struct Numbers {
    next: u32,
    free: Vec<u32>,
}

static NUMBERS: ConditionalLock<Numbers> = ConditionalLock::new(Numbers { next: 2, free: Vec::new() });

/// A number that no communicator of this process has; `None` if all are in use.
pub fn allocate() -> Option<u32> {
    let mut numbers = NUMBERS.lock();
    numbers.free.pop().or_else(|| {
        let number = numbers.next;
        (number >> BITS == 0).then(|| {
            numbers.next += 1;
            number
        })
    })
}

/// Gives a number back.
pub fn release(number: u32) {
    // Nobody has heard of it yet in its next life.
    oob::forget(number);
    NUMBERS.lock().free.push(number);
}
