//! Tags of the messages of collective operations.

use crate::error::{Class, Fault, Result};
use opal_core::sync::{AtomicU32, Ordering};

/// The tags of messages in a communicator's collective match context, so that operations under way at the same time never mix.
///
/// Blocking ones use their [`Function`](super::Function)'s number: one follows the other and messages do not overtake. Nonblocking ones
/// are numbered as they begin, which all ranks do in the same order (MPI 5.0 §6.12). A persistent one has its tag from
/// its initialisation on, whose order is the same everywhere, because starts need no common order (§6.13).
#[derive(Default)]
pub struct Tags {
    begun: AtomicU32,
    prepared: AtomicU32,
}

impl Tags {
    /// For a nonblocking collective. Comes again after 2^30 others.
    pub fn begin(&self) -> i32 {
        (NONBLOCKING + self.begun.fetch_add(1, Ordering::Relaxed) % (1 << 30)) as i32
    }

    /// For a persistent collective, which may live for ever: the tag never comes again. `Err(Other)` if there are none.
    pub fn prepare(&self) -> Result<i32> {
        let number = self.prepared.fetch_add(1, Ordering::Relaxed);
        if number < NONBLOCKING - PERSISTENT {
            return Ok((PERSISTENT + number) as i32);
        }
        self.prepared.store(NONBLOCKING - PERSISTENT, Ordering::Relaxed);
        let why = "a communicator has room for a billion persistent collectives in its life; duplicate it";
        Err(Fault::new(Class::Other).because(why))
    }
}

const PERSISTENT: u32 = 1 << 10;
const NONBLOCKING: u32 = 1 << 30;
