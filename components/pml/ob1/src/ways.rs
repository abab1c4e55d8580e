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
//! So the receiver, which decides, measures: by process and size (powers of two) both ways have a *trial* of a few periods,
//! and what was cheaper is used until the next trial, which comes the later the oftener the verdict stayed the same. A
//! *period* begins with a message when none is under way and ends when none is any more, or after [`LONGEST`] messages: of
//! several at once the time of one says nothing. The least cost of a trial counts, because whatever disturbs makes
//! times longer only.

use crate::component::LONG_MESSAGES;
use ompi_core::framework::pml;
use opal_core::framework::timer;
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
    classes: [Class; CLASSES],
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
        let class = forced.map_or(Class::UNKNOWN, Class::forced);
        Ways { process, classes: [class; CLASSES], period: Period::EMPTY }
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
        let class = &mut self.classes[period.class];
        let before = class.settled;
        class.count(period.since.map(|since| (now() - since).saturating_mul(1 << 20) / period.bytes.max(1)));
        if class.settled != before {
            tell(self.process, period.class, class);
        }
        // Those that are still under way finish as they began.
        self.start(self.period.class, now);
    }

    fn start(&mut self, class: usize, now: impl FnOnce() -> u64) {
        let known = &self.classes[class];
        let since = (known.trial > 0).then(now);
        self.period = Period { class, way: known.way(), since, done: 0, bytes: 0, ..self.period };
    }
}

/// Messages of about the same size.
#[derive(Clone, Copy)]
struct Class {
    // `None` before the first trial is over.
    settled: Option<Way>,
    // Ticks per MiB in this trial, by way.
    costs: [u64; 2],
    // Periods until this trial ends; 0 between trials.
    trial: u32,
    // Periods until the next one begins, 0 if none does, and how many there were between the last two.
    rest: u32,
    interval: u32,
}

impl Class {
    const UNKNOWN: Class =
        Class { settled: None, costs: [u64::MAX; 2], trial: 2 * RUN, rest: 0, interval: FIRST_INTERVAL };

    fn forced(way: Way) -> Class {
        Class { settled: Some(way), trial: 0, ..Class::UNKNOWN }
    }

    fn way(&self) -> Way {
        match self.trial {
            0 => self.settled.unwrap_or(Way::Fragments),
            left if left > RUN => Way::Fragments,
            _ => Way::Single,
        }
    }

    // A period is over; its cost, if it was measured.
    fn count(&mut self, cost: Option<u64>) {
        if self.trial == 0 {
            if self.rest == 1 {
                (self.trial, self.costs) = (2 * RUN, [u64::MAX; 2]);
            }
            self.rest = self.rest.saturating_sub(1);
            return;
        }
        // A trial that began while messages were under way is not timed yet.
        let Some(cost) = cost else { return };
        let least = &mut self.costs[self.way() as usize];
        *least = cost.min(*least);
        self.trial -= 1;
        if self.trial == 0 {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let [fragments, single] = self.costs;
        // What a single copy costs the sender later is not measured here: it must be clearly cheaper.
        let verdict = if single / SINGLE_PARTS < fragments / FRAGMENT_PARTS { Way::Single } else { Way::Fragments };
        let same = self.settled == Some(verdict);
        self.interval = if same { (self.interval * 2).min(LAST_INTERVAL) } else { FIRST_INTERVAL };
        (self.settled, self.rest) = (Some(verdict), self.interval);
    }
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

fn class(bytes: usize) -> usize {
    (bytes.max(1).ilog2().saturating_sub(FIRST_SHIFT) as usize).min(CLASSES - 1)
}

#[cold]
#[inline(never)]
fn tell(process: u32, class: usize, verdict: &Class) {
    let mbps = |way: Way| timer::frequency() / verdict.costs[way as usize].max(1) * 1_048_576 / 1_000_000;
    let way = if verdict.settled == Some(Way::Single) { "in a single copy" } else { "in fragments" };
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
/// Periods of each way in a trial: the first ones find caches as the other way left them.
const RUN: u32 = 4;
/// Messages in a period.
const LONGEST: u32 = 64;
/// Periods between trials. The first one comes soon: the very first messages in fragments wait for the pages of the byte ring.
const FIRST_INTERVAL: u32 = 16;
const LAST_INTERVAL: u32 = 2048;
/// A single copy is used if it takes less than 4/5 of the time.
const SINGLE_PARTS: u64 = 4;
const FRAGMENT_PARTS: u64 = 5;

#[cfg(test)]
#[path = "ways/tests.rs"]
mod tests;
