//! The beginning of a long message, which comes along with its announcement: while the receiver's answer is on its way, the
//! sender copies already. If a receive is posted, it goes straight there; if none is, it is kept with the announcement.
//!
//! A lead goes only to peers of the node whose messages share one order with their leads (a transport that gives its queues
//! away), and only if the peer took its last message of that size in fragments: a single copy has no use for it. Where
//! the transport has no room it stays behind and comes with the ordinary fragments.
//!
//! One way, on an AMD EPYC: 32 KiB 1.77 instead of 2.07 µs, 64 KiB 2.97 instead of 3.27, of which 0.44 were the time until the
//! receiver had answered, in which neither side copied. No better: 8 or 32 KiB of lead, and 16 that begin with 4.

use crate::params::LEAD;
use crate::peers::endpoint::Link;
use crate::protocol::rendezvous::Work;
use crate::protocol::selection::{self as ways, Way};
use crate::slab::Slab;
use crate::state::State;
use crate::wire;
use alloc::vec::Vec;
use ompi_core::framework::pml;
use opal_core::mem::Untrusted;
use opal_core::sync::{AtomicBool, AtomicU32, Ordering};
use opal_core::verbose;

/// Which sizes of messages a process takes in fragments, as far as this one has seen: bits by [`ways::class`].
pub struct Habit(AtomicU32);

impl Habit {
    /// Nothing was seen yet.
    pub fn new() -> Habit {
        Habit(AtomicU32::new(if Way::forced() == Some(Way::Fragments) { u32::MAX } else { 0 }))
    }

    /// A message of so many bytes went this way. The state's lock is held.
    pub fn note(&self, bytes: usize, way: Way) {
        let (before, bit) = (self.0.load(Ordering::Relaxed), 1 << ways::class(bytes));
        let after = if way == Way::Fragments { before | bit } else { before & !bit };
        if after != before {
            self.0.store(after, Ordering::Relaxed);
        }
    }

    fn is_fragments(&self, bytes: usize) -> bool {
        self.0.load(Ordering::Relaxed) & 1 << ways::class(bytes) != 0
    }
}

/// Leads of messages that nobody receives yet, by number.
pub struct Leads {
    kept: Slab<Lead>,
    // Of all that are kept.
    bytes: usize,
}

enum Lead {
    Kept(Vec<u8>),
    // Where there are too many, one is not kept: its sender sends it again when it is asked for the message.
    Refused,
}

impl Leads {
    /// None.
    pub const fn new() -> Leads {
        Leads { kept: Slab::new(), bytes: 0 }
    }

    fn append(&mut self, number: u32, offset: usize, data: Untrusted<'_>) -> Result<(), NotKept> {
        let lead = self.kept.get_mut(number);
        let Lead::Kept(kept) = lead else { return Err(NotKept::Refused) };
        if offset != kept.len() || data.len() > MOST - offset {
            return Err(NotKept::Malformed);
        }
        if self.bytes + data.len() > ALL_BYTES {
            self.bytes -= kept.len();
            *lead = Lead::Refused;
            return Err(NotKept::Refused);
        }
        kept.resize(offset + data.len(), 0);
        data.copy_to(&mut kept[offset..]);
        self.bytes += data.len();
        Ok(())
    }

    fn take(&mut self, number: u32) -> Vec<u8> {
        let Lead::Kept(kept) = self.kept.remove(number) else { return Vec::new() };
        self.bytes -= kept.len();
        kept
    }
}

enum NotKept {
    Refused,
    Malformed,
}

/// The message from a process that was announced last, if it has a lead.
#[derive(Clone, Copy)]
pub struct Leading {
    // The sender's cookie.
    theirs: u64,
    to: To,
}

/// Where a lead goes.
#[derive(Clone, Copy)]
enum To {
    // Nobody wants it, or nothing is expected.
    Nobody,
    // With the announcement: number among the kept leads.
    Kept(u32),
    // To the long receive with this cookie.
    Receive(u64),
}

impl Leading {
    const NONE: Leading = Leading { theirs: 0, to: To::Nobody };
}

/// How much of a message goes along with its announcement: no more than is sent without an announcement.
pub fn bytes(link: &Link, bytes: usize) -> usize {
    let leads = link.fifo_pair.is_some() && link.habit.is_fragments(bytes);
    if leads { LEAD.size().min(link.eager_bytes).min(bytes) } else { 0 }
}

impl State {
    /// Sends the lead of a message that has just been announced, if there is room.
    pub fn send_lead(&mut self, link: &Link, cookie: u64, bytes: usize) {
        let Some((_, operation)) = self.find_own(cookie) else { return };
        let Work::Announced { place, sent, .. } = &mut operation.work else { return };
        if place.send_part(link.path(), wire::FRAGMENT, wire::LEAD | cookie, 0, 0, bytes).is_ok() {
            *sent = bytes;
        }
    }

    /// A message with a lead is announced; returns the number under which what comes of it is kept.
    pub fn expect_lead(&mut self, process: u32, theirs: u64) -> u32 {
        let kept = self.leads.kept.insert(Lead::Kept(Vec::new()));
        *self.leading(process) = Leading { theirs, to: To::Kept(kept) };
        kept
    }

    /// A part of a lead arrived. `false` if it fits nothing.
    pub fn lead(&mut self, process: u32, theirs: u64, offset: u64, data: Untrusted<'_>) -> bool {
        let leading = *self.leading(process);
        let Ok(offset) = usize::try_from(offset) else { return false };
        if leading.theirs != theirs {
            return false;
        }
        match leading.to {
            To::Nobody => true,
            To::Kept(number) => match self.leads.append(number, offset, data) {
                Ok(()) => {
                    say(&SAID_KEPT, process, "is kept: nobody waits for it");
                    true
                }
                Err(NotKept::Refused) => {
                    say(&SAID_REFUSED, process, "will come again: enough are kept");
                    true
                }
                Err(NotKept::Malformed) => false,
            },
            To::Receive(ours) => {
                say(&SAID, process, "goes straight to its receive");
                self.lead_to(process, ours, offset, data)
            }
        }
    }

    /// Whether what came of a message's lead was not kept.
    pub fn is_lead_refused(&self, kept: u32) -> bool {
        matches!(self.leads.kept.get(kept), Lead::Refused)
    }

    /// The receive of an announced message begins: what was kept of its lead goes there, and what is still on its way.
    pub fn receive_lead(&mut self, process: u32, theirs: u64, kept: u32, ours: u64) {
        self.redirect_lead(process, theirs, To::Receive(ours));
        let kept = self.leads.take(kept);
        if !kept.is_empty() {
            self.lead_to(process, ours, 0, Untrusted::of(&kept));
        }
    }

    /// Nobody wants an announced message's lead.
    pub fn drop_lead(&mut self, process: u32, theirs: u64, kept: u32) {
        self.redirect_lead(process, theirs, To::Nobody);
        self.leads.take(kept);
    }

    /// The process is gone: what was kept of its messages stays with them.
    pub fn end_leads(&mut self, process: u32) {
        *self.leading(process) = Leading::NONE;
    }

    fn redirect_lead(&mut self, process: u32, theirs: u64, to: To) {
        let leading = self.leading(process);
        if leading.theirs == theirs {
            leading.to = to;
        }
    }

    // What is beyond the end of a shorter receive is left out.
    fn lead_to(&mut self, process: u32, ours: u64, offset: usize, data: Untrusted<'_>) -> bool {
        let Some((_, operation)) = self.find(process, ours) else { return true };
        let Work::Receiving { wanted, .. } = operation.work else { return false };
        let part = data.first(wanted.saturating_sub(offset));
        part.is_empty() || self.fragment(process, ours, offset as u64, part)
    }

    fn leading(&mut self, process: u32) -> &mut Leading {
        let index = process as usize;
        if self.leading.len() <= index {
            self.leading.resize(index + 1, Leading::NONE);
        }
        &mut self.leading[index]
    }
}

// Once is enough for who wants to know.
#[inline(always)]
fn say(said: &AtomicBool, process: u32, what: &str) {
    if !said.load(Ordering::Relaxed) && !said.swap(true, Ordering::Relaxed) {
        verbose!(pml::FRAMEWORK, 20, "the lead of a message from process {process} {what}");
    }
}

static SAID: AtomicBool = AtomicBool::new(false);
static SAID_KEPT: AtomicBool = AtomicBool::new(false);
static SAID_REFUSED: AtomicBool = AtomicBool::new(false);

/// The longest lead that is kept.
const MOST: usize = 64 << 10;
/// The most bytes of leads that are kept: who announces many long messages before anybody receives them does not fill the
/// receiver's memory.
const ALL_BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests;
