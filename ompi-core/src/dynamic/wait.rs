//! Waiting for another process over a connection, while everything else goes on, and saying for what.

use crate::report::waits;
use alloc::string::String;
use opal_core::sync::Mutex;
use opal_core::{progress, sys};
use orte_core::framework::ess::Needed;
use orte_core::port::{Channel, Listener};

/// One wait, from its first rest on.
pub struct Rests<W> {
    words: W,
    needed: Needed,
    since_ns: u64,
    is_told: bool,
}

impl<W: Fn() -> String> Rests<W> {
    /// A wait for what goes on after `waits for`; it is asked once, and only if the wait is long.
    pub fn waiting_for(words: W) -> Rests<W> {
        Rests { words, needed: Needed::SomeOfOtherJobs, since_ns: 0, is_told: false }
    }

    /// Likewise for whoever calls.
    pub fn waiting_for_caller(words: W) -> Rests<W> {
        Rests { needed: Needed::Caller, ..Rests::waiting_for(words) }
    }

    /// Lets everything else go on, and the other side.
    pub fn on(&mut self, channel: &Channel) {
        self.pass();
        channel.pause(REST_MS);
    }

    /// The same until somebody calls.
    pub fn beside(&mut self, listener: &Mutex<Listener>) {
        self.pass();
        listener.lock().pause(REST_MS);
    }

    fn pass(&mut self) {
        progress::pass();
        progress::flush();
        let now_ns = sys::monotonic_ns();
        match self.since_ns {
            0 => self.since_ns = now_ns,
            since_ns if now_ns - since_ns < TOLD_NS => {}
            since_ns => {
                let words = (!self.is_told).then(|| (self.words)());
                self.is_told = true;
                waits::tell_beyond_job(since_ns, now_ns, self.needed, words.as_deref());
            }
        }
    }
}

/// How late progress may come beside a connection.
const REST_MS: u32 = 1;
/// As waits for messages, which are told before they sleep.
const TOLD_NS: u64 = 2_000_000;
