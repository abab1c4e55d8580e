//! Whole messages that a transport receives straight to where they belong: who began to read one asks with its envelope, and
//! if that meets a receive, the rest needs no copy. It is then a long receive of which nothing was asked.
//!
//! 64 KiB over TCP otherwise lie in the transport's buffer first, as large as the message, and are copied from there.

use crate::context::Receive;
use crate::protocol::rendezvous::Work;
use crate::state::State;
use crate::wire::Envelope;
use core::ops::Range;
use ompi_core::framework::pml;
use ompi_core::status::Status;
use opal_core::framework::btl::Fill;
use opal_core::sync::{AtomicBool, Ordering};
use opal_core::verbose;

/// A whole message of which a part has come and met its receive.
#[derive(Clone, Copy)]
pub struct Placement {
    process: u32,
    immediate: u64,
    bytes: usize,
    // Of the long receive.
    cookie: u64,
}

impl State {
    /// Calls `take` with the place for `part` of a whole message, up to its end. `false` if nobody waits for it yet, or
    /// where it belongs is no single run, or too short.
    pub fn place_whole(&mut self, process: u32, immediate: u64, part: Range<usize>, take: Fill<'_>) -> bool {
        let known = self.landing(process).map(|index| self.landings[index]);
        let cookie = match known {
            Some(landing) if (landing.immediate, landing.bytes) == (immediate, part.end) => landing.cookie,
            // Two at once from one process: whoever does that has the second one copied.
            Some(_) => return false,
            None if part.start > 0 => return false,
            None => match self.meet(process, immediate, part.end) {
                Some(cookie) => cookie,
                None => return false,
            },
        };
        self.place(process, cookie, 0, part, take)
    }

    /// All of a whole message is in its place. `false` if it belongs to nothing any more.
    pub fn landed_whole(&mut self, process: u32, immediate: u64, bytes: usize) -> bool {
        let Some(index) = self.landing(process) else { return false };
        let landing = self.landings[index];
        if (landing.immediate, landing.bytes) != (immediate, bytes) {
            return false;
        }
        self.landings.swap_remove(index);
        self.landed(process, landing.cookie, 0, bytes)
    }

    /// What is under way from a process. What failed meanwhile is forgotten.
    fn landing(&mut self, process: u32) -> Option<usize> {
        let index = self.landings.iter().position(|landing| landing.process == process)?;
        let cookie = self.landings[index].cookie;
        if self.find(process, cookie).is_some() {
            return Some(index);
        }
        self.landings.swap_remove(index);
        None
    }

    /// Takes the first receive posted for a message's source, if it matches and has room in one run.
    fn meet(&mut self, process: u32, immediate: u64, bytes: usize) -> Option<u64> {
        let Envelope { context, collective, tag } = Envelope::of(immediate);
        let context = self.context(context).filter(|context| !context.closing)?;
        let source = context.rank_of(process)?;
        let mut line = context.lane(collective).line(source)?;
        let mut first = line.first(tag)?;
        let receive = first.receive();
        if receive.place.run().is_none() || receive.place.bytes() < bytes {
            return None;
        }
        let Receive { place, request, .. } = core::mem::take(receive);
        first.settle();
        if !SAID.swap(true, Ordering::Relaxed) {
            verbose!(pml::FRAMEWORK, 20, "{bytes} bytes from process {process} are read straight to their receive");
        }
        let status = Status::new(source as i32, tag, bytes as u64);
        let work = Work::Receiving { place, status, wanted: bytes, got: 0, chosen: None };
        let cookie = self.begin(process, request, work).1;
        self.landings.push(Placement { process, immediate, bytes, cookie });
        Some(cookie)
    }
}

/// Once is enough for who wants to know.
static SAID: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
mod tests;
