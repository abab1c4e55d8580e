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
    channels: AtomicU32,
}

/// The tag of the messages by which partitioned sends say how they are numbered. No function of collectives has this number.
pub const PART_SETUP: i32 = PERSISTENT as i32 - 1;
/// How many tags a partitioned send has: of whole messages, of heads of pieces, of data of pieces, and of
/// the answer to its setup.
pub const PIECES: i32 = 4;

impl Tags {
    /// For a nonblocking collective. Comes again after 2^30 others.
    pub fn begin(&self) -> i32 {
        (NONBLOCKING + self.begun.fetch_add(1, Ordering::Relaxed) % (1 << 30)) as i32
    }

    /// For a persistent collective, which may live for ever: the tag never comes again. `Err(Other)` if there are none.
    pub fn prepare(&self) -> Result<i32> {
        let number = self.prepared.fetch_add(1, Ordering::Relaxed);
        if number < PARTITIONED - PERSISTENT {
            return Ok((PERSISTENT + number) as i32);
        }
        self.prepared.store(PARTITIONED - PERSISTENT, Ordering::Relaxed);
        let why = "a communicator has room for half a billion persistent collectives in its life; duplicate it";
        Err(Fault::new(Class::Other).because(why))
    }

    /// For a partitioned send, which may live for ever: the first of its [`PIECES`] tags, which never come again. Its peer learns of
    /// it by a message with tag [`PART_SETUP`].
    pub fn channel(&self) -> Result<i32> {
        let number = self.channels.fetch_add(1, Ordering::Relaxed);
        if number < CHANNELS {
            return Ok(PARTITIONED as i32 + PIECES * number as i32);
        }
        self.channels.store(CHANNELS, Ordering::Relaxed);
        let why = "a communicator has room for 134 million partitioned sends in its life; duplicate it";
        Err(Fault::new(Class::Other).because(why))
    }
}

const PERSISTENT: u32 = 1 << 10;
const PARTITIONED: u32 = 1 << 29;
const NONBLOCKING: u32 = 1 << 30;
const CHANNELS: u32 = (NONBLOCKING - PARTITIONED) / PIECES as u32;
