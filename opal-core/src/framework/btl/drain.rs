//! Taking what waits in a conduit, with the layer above in the loop.
//!
//! A call through the table of receivers for each message costs as much as matching it: of a window of 64 messages with
//! their receives posted each took 250 instructions, 164 without that call. So the layer above may say what takes a
//! conduit's messages: its function is called once for all of them, and has what nearly every message meets inlined.

use super::deliver;
use crate::queue::conduit::Conduit;
use crate::queue::lines::{Consumer, Malformed, Peeked};
use crate::sync::Once;
use crate::{Error, Result};

/// Takes the messages that wait in the conduit from a peer: [`drain_with`], and what it does itself.
pub type Drain = fn(conduit: &Conduit, peer: u32) -> Drained;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// How many messages were taken.
    pub taken: usize,
    /// The peer wrote what is no message: the transport closes the connection.
    pub malformed: bool,
}

/// What comes next in a conduit.
pub type Next = core::result::Result<Option<Peeked>, Malformed>;

/// So that one busy sender does not starve the others: most messages of one turn.
pub const MESSAGES_PER_TURN: usize = 64;

static DRAIN: Once<Drain> = Once::new();

/// Says what takes the messages of conduits, by who registered their receivers; once. `Err(Exists)` if it was said.
pub fn register_drain(drain: Drain) -> Result<()> {
    let mut mine = false;
    DRAIN.call_once(|| {
        mine = true;
        drain
    });
    if mine { Ok(()) } else { Err(Error::Exists) }
}

/// For modules: takes the messages that wait in the conduit from a peer, a turn's worth at most, and hands them to whom
/// they are for.
#[inline(always)]
pub fn drain(conduit: &Conduit, peer: u32) -> Drained {
    match DRAIN.get() {
        Some(drain) => drain(conduit, peer),
        None => drain_with(conduit, peer, |_, next, _| Ok(Some(next))),
    }
}

/// Takes messages and hands them to their receivers, except those that `quick` takes: it gets the next message, takes it
/// and those behind it as long as it can, counts them, at most [`MESSAGES_PER_TURN`] in all, and returns what comes next.
#[inline(always)]
pub fn drain_with(
    conduit: &Conduit,
    peer: u32,
    mut quick: impl FnMut(&mut Consumer, Peeked, &mut usize) -> Next,
) -> Drained {
    let mut consumer = conduit.consumer();
    let mut taken = 0;
    let mut next = consumer.peek();
    while let Ok(Some(peeked)) = next {
        next = quick(&mut consumer, peeked, &mut taken);
        let Ok(Some(peeked)) = next else { break };
        if taken == MESSAGES_PER_TURN {
            break;
        }
        deliver(peeked.kind, peer, peeked.head, peeked.payload());
        consumer.advance();
        taken += 1;
        if taken > 1 {
            consumer.fetch_ahead();
        }
        next = if taken == MESSAGES_PER_TURN { Ok(None) } else { consumer.peek() };
    }
    if taken > 0 {
        conduit.note_arrival();
    }
    Drained { taken, malformed: next.is_err() }
}
