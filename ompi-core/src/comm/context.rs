//! Context numbers: each process numbers its communicators for itself and tells its peers, so that making one needs no
//! global agreement.

use super::{Communicator, RELEASE};
use crate::framework::pml::{self, watched};
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
    // What was said about it belongs to the communicator that ends.
    oob::forget(number);
    NUMBERS.lock().free.push(number);
}

/// From now on a communicator that is dropped gives back its context number: when MPI starts.
pub(super) fn release_dropped() {
    RELEASE.call_once(|| release_of);
}

fn release_of(comm: &Communicator) {
    match comm.pml_data().is_null() {
        // The PML releases the context number when the last request on it is done.
        false => {
            watched::remove(comm);
            pml::selected().remove_comm(comm);
        }
        true if comm.context > SELF => {
            pml::selected().close_context(comm.context);
            release(comm.context);
        }
        true => {}
    }
}
