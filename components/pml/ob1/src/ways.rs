//! Which way long messages of a process of this node come: in a single copy by the system, or in fragments through shared
//! memory.
//!
//! Neither is always the better one. A single copy moves each byte once, and both sides work; but each system call has its
//! price, and the copier takes the lines of the other's buffer away, so that a sender that writes its buffer again, as
//! programs do, waits for each of them. Through shared memory everyone works out of its own cache. 64 KiB one way: on an
//! Intel Xeon 3.3 µs in a single copy from buffers that nobody touches, 15 from buffers that are written each time, where
//! Intel's library takes 6.9 and 8.5 through shared memory; on an AMD EPYC, without a library, 4.1 and 6.9 in a single copy
//! against 1.5 and 2.3 through shared memory.
//!
//! So the receiver, which decides, measures: by process and size (powers of two) both ways have a trial of a few periods
//! now and then ([`Trial`]). A *period* begins with a message when none is under way and ends when none is any more, or after
//! [`LONGEST`] messages: of several at once the time of one says nothing.

use crate::component::LONG_MESSAGES;
use ompi_core::framework::pml;
use opal_core::framework::timer;
use opal_core::trial::Trial;
use opal_core::verbose;

/// How a message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through the transports.
    Fragments = 0,
    /// By `framework/smsc`.
    Single = 1,
}

/// What is known of one process.
pub struct Ways {
    process: u32,
    classes: [Trial; CLASSES],
    period: Period,
}

impl Way {
    /// What the user wants; `None`: what is measured to be better.
    pub fn forced() -> Option<Way> {
        match LONG_MESSAGES.text() {
            "single" => Some(Way::Single),
            "fragments" => Some(Way::Fragments),
            _ => None,
        }
    }
}

impl Ways {
    /// Nothing yet; with `forced` there is nothing to find out.
    pub fn new(process: u32, forced: Option<Way>) -> Ways {
        let trial = forced.map_or(Trial::UNKNOWN, |way| Trial::forced(way as usize));
        Ways { process, classes: [trial; CLASSES], period: Period::EMPTY }
    }

    /// The way of a message of so many bytes, which from now on is under way.
    pub fn begin(&mut self, bytes: usize) -> Way {
        self.begin_at(bytes, timer::ticks)
    }

    /// A message for which [`Ways::begin`] was asked is complete.
    pub fn end(&mut self, bytes: usize) {
        self.end_at(bytes, timer::ticks);
    }

    // One period, one way: messages of several sizes at once are judged together.
    fn begin_at(&mut self, bytes: usize, now: impl FnOnce() -> u64) -> Way {
        if self.period.under_way == 0 {
            self.start(class(bytes), now);
        }
        self.period.under_way += 1;
        self.period.way
    }

    fn end_at(&mut self, bytes: usize, now: impl Fn() -> u64) {
        let period = &mut self.period;
        period.under_way = period.under_way.saturating_sub(1);
        period.done += 1;
        period.bytes += bytes as u64;
        if period.under_way > 0 && period.done < LONGEST {
            return;
        }
        let trial = &mut self.classes[period.class];
        // Ticks per MiB.
        let cost = period.since.map(|since| (now() - since).saturating_mul(1 << 20) / period.bytes.max(1));
        if trial.count(cost) {
            let verdict = cheaper(trial.costs());
            if trial.settle(verdict as usize) {
                tell(self.process, period.class, verdict, trial.costs());
            }
        }
        // Those that are still under way finish as they began.
        self.start(self.period.class, now);
    }

    fn start(&mut self, class: usize, now: impl FnOnce() -> u64) {
        let trial = &self.classes[class];
        let way = if trial.way() == Way::Single as usize { Way::Single } else { Way::Fragments };
        self.period = Period { class, way, since: trial.is_on().then(now), done: 0, bytes: 0, ..self.period };
    }
}

// What a single copy costs the sender later is not measured here: it must be clearly cheaper.
fn cheaper([fragments, single]: [u64; 2]) -> Way {
    if single / SINGLE_PARTS < fragments / FRAGMENT_PARTS { Way::Single } else { Way::Fragments }
}

#[derive(Clone, Copy)]
struct Period {
    // Of its first message.
    class: usize,
    way: Way,
    // `None`: nobody wants to know how long it takes.
    since: Option<u64>,
    under_way: u32,
    done: u32,
    bytes: u64,
}

impl Period {
    const EMPTY: Period = Period { class: 0, way: Way::Fragments, since: None, under_way: 0, done: 0, bytes: 0 };
}

/// What is known of messages of so many bytes is known together.
pub fn class(bytes: usize) -> usize {
    (bytes.max(1).ilog2().saturating_sub(FIRST_SHIFT) as usize).min(CLASSES - 1)
}

#[cold]
#[inline(never)]
fn tell(process: u32, class: usize, verdict: Way, costs: [u64; 2]) {
    let mbps = |way: Way| timer::frequency() / costs[way as usize].max(1) * 1_048_576 / 1_000_000;
    let way = if verdict == Way::Single { "in a single copy" } else { "in fragments" };
    verbose!(
        pml::FRAMEWORK,
        20,
        "messages of {} KiB and more from process {process} come {way}: {} MB/s in a single copy, {} in fragments",
        1 << (class as u32 + FIRST_SHIFT - 10),
        mbps(Way::Single),
        mbps(Way::Fragments)
    );
}

/// From 16 KiB to 4 MiB, and what is shorter or longer.
const FIRST_SHIFT: u32 = 14;
const CLASSES: usize = 9;
/// Messages in a period.
const LONGEST: u32 = 64;
/// A single copy is used if it takes less than 4/5 of the time.
const SINGLE_PARTS: u64 = 4;
const FRAGMENT_PARTS: u64 = 5;

#[cfg(test)]
#[path = "ways/tests.rs"]
mod tests;
