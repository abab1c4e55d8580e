//! The choice of a protocol for the long messages of a process of this node. The receiver chooses among three: a single
//! copy by the system, fragments through shared memory, and *streamed* fragments, which it stores around its caches
//! (`opal_core::mem::copy_streaming`).
//!
//! It measures. Now and then, by process, kind of memory ([`Memory`]) and size (powers of two), each protocol gets a few sample windows ([`Autotuner`]).
//! A *sample window* begins with a message when none is under way. It ends when none is under way any more, or after
//! [`MOST_PER_WINDOW`] messages: the time of one message among several says nothing. A protocol that is clearly worse than
//! the one in use loses the rest of its turn ([`Autotuner::ALONE`]), unless ranks share cores: there most windows are disturbed.
//! Where a single copy is impossible, a window in which it would be measured counts as infinitely long.
//!
//! # Why none is always the best
//! A single copy moves each byte once, and both sides work. But each system call has its price. And the core that copies
//! pulls the lines of the peer's buffer into its own cache, so that a sender that writes its buffer again, as programs do,
//! misses the cache for each of them. Through shared memory each core works in its own cache. 64 KiB one way: on an Intel
//! Xeon 3.3 µs in a single copy from buffers that nobody touches, 15 from buffers that are written each time, where Intel's
//! library takes 6.9 and 8.5 through shared memory; on an AMD EPYC, without a library, 4.1 and 6.9 in a single copy against
//! 1.5 and 2.3 through shared memory.
//!
//! Streamed fragments pay where more is received at once than the caches hold. Windows of 32 MiB on an AMD EPYC whose cores
//! share a third cache: 12.9 GB/s through the caches, 18.3 streamed. Below [`LARGE_WINDOW_BYTES`] streaming is not tried: a
//! program soon reads what it received, and would then read it from memory. Nor is it where all goes to the same place again
//! and again.
//!
//! # Both ways at once
//! Each rank decides for what it receives, and sees its own time only. Fragments make the sender work, too, which does the same to this
//! process. So while this process sends long messages, fragments that take it as long as a single copy cost the two of them about twice as
//! much ([`SizeClass::exchange`]). Windows of 256 KiB both ways took 13.9 µs a message when that was not counted, 8.2 in single copies, 8.5 with
//! Open MPI (Intel Xeon).
//!
//! # Programs that compute meanwhile
//! They call MPI_Test now and then. Then the protocol that needs the fewest calls ends first, although a single copy takes
//! its time from the program's computing. Such a sample window is not counted for fragments, and counts as infinitely long
//! for the other protocols. MPI_Iallreduce of 64 KiB around 120 µs of computing took 150 instead of 122 µs when they were
//! counted (AMD EPYC).

use crate::params::LONG_MESSAGES;
use core::fmt;
use ompi_core::framework::pml;
use opal_core::autotune::Autotuner;
use opal_core::framework::{smsc, timer};
use opal_core::progress::outside;
use opal_core::{verbose, wait};

/// How a message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Through the transports.
    Fragments = 0,
    /// By `framework/smsc`.
    SingleCopy = 1,
    /// Through the transports, and around the receiver's caches.
    Streamed = 2,
}

/// Of which memory the sender's buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The program's own: a single copy is one of the system's.
    Private = 0,
    /// Mapped by both sides: a single copy calls nobody.
    Shareable = 1,
}

impl Memory {
    /// By how it is reached.
    pub fn of(mechanism: Option<&smsc::Mechanism>) -> Memory {
        match mechanism {
            Some(mechanism) if !mechanism.module.caps().any_memory => Memory::Shareable,
            _ => Memory::Private,
        }
    }
}

/// What is known of one process.
pub struct Selection {
    process: u32,
    // Its fragments come out of memory that is shared.
    streams: bool,
    classes: [SizeClass; 2 * SIZE_CLASSES],
    window: SampleWindow,
    measures: bool,
}

/// What is known of its messages of one size.
#[derive(Clone, Copy)]
struct SizeClass {
    small_window: Autotuner<2>,
    large_window: Autotuner<3>,
    // While this process sends.
    exchange: Autotuner<2>,
    // What the last window was.
    traffic: Traffic,
}

/// What a window is, as far as it matters to the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traffic {
    Small,
    Large,
    Exchange,
}

impl Protocol {
    const ALL: [Protocol; 3] = [Protocol::Fragments, Protocol::SingleCopy, Protocol::Streamed];

    /// What the user wants; `None`: what is measured to be better.
    pub fn forced() -> Option<Protocol> {
        match LONG_MESSAGES.text() {
            "single" => Some(Protocol::SingleCopy),
            "fragments" => Some(Protocol::Fragments),
            "streamed" => Some(Protocol::Streamed),
            _ => None,
        }
    }
}

impl SizeClass {
    fn new(forced: Option<Protocol>) -> SizeClass {
        let protocol = forced.map(|protocol| protocol as usize);
        SizeClass {
            small_window: protocol.map_or_else(autotuner, Autotuner::forced),
            large_window: protocol.map_or_else(autotuner, Autotuner::forced),
            exchange: protocol.map_or_else(autotuner, Autotuner::forced),
            traffic: Traffic::Small,
        }
    }

    // The protocol to take now, and whether its time is measured.
    fn protocol(&self) -> (Protocol, bool) {
        let (protocol, on) = match self.traffic {
            Traffic::Small => (self.small_window.current(), self.small_window.is_on()),
            Traffic::Large => (self.large_window.current(), self.large_window.is_on()),
            Traffic::Exchange => (self.exchange.current(), self.exchange.is_on()),
        };
        (Protocol::ALL[protocol], on)
    }

    // A window is over; returns a new verdict and its costs.
    fn count(&mut self, cost: Option<u64>) -> Option<(Protocol, [u64; 3])> {
        match self.traffic {
            Traffic::Small => count(&mut self.small_window, cost, cheapest),
            Traffic::Large => count(&mut self.large_window, cost, cheapest),
            Traffic::Exchange => count(&mut self.exchange, cost, cheapest_for_both),
        }
    }
}

fn count<const N: usize>(
    tuner: &mut Autotuner<N>,
    cost: Option<u64>,
    choose: fn([u64; 3]) -> Protocol,
) -> Option<(Protocol, [u64; 3])> {
    if !tuner.count(cost) {
        return None;
    }
    let mut costs = [u64::MAX; 3];
    costs.iter_mut().zip(tuner.costs()).for_each(|(to, cost)| *to = cost);
    let verdict = choose(costs);
    tuner.settle(verdict as usize).then_some((verdict, costs))
}

// Of which nothing is known. Where ranks share cores a measurement that was disturbed must not end a turn.
fn autotuner<const N: usize>() -> Autotuner<N> {
    if wait::may_spin() { Autotuner::ALONE } else { Autotuner::UNKNOWN }
}

impl Selection {
    /// Nothing yet; with `forced` there is nothing to find out. `streams`: it makes a difference how fragments are stored.
    pub fn new(process: u32, forced: Option<Protocol>, streams: bool) -> Selection {
        Selection {
            process,
            streams,
            classes: [SizeClass::new(forced); 2 * SIZE_CLASSES],
            window: SampleWindow::EMPTY,
            measures: false,
        }
    }

    /// The protocol of a message of so many bytes to this address (0: not one run), which from now on is under way; never a
    /// single copy unless it can be one, of `from`. `sends`: this process sends long messages meanwhile.
    pub fn begin(&mut self, bytes: usize, to: u64, from: Option<Memory>, sends: bool) -> Protocol {
        self.begin_at((bytes, to, from), sends, timer::ticks)
    }

    /// A message for which [`Selection::begin`] was asked is complete.
    pub fn end(&mut self, bytes: usize) {
        self.end_at(bytes, timer::ticks);
    }

    // One window, one protocol: messages of several sizes at once are judged together.
    fn begin_at(
        &mut self,
        (bytes, to, from): (usize, u64, Option<Memory>),
        sends: bool,
        now: impl FnOnce() -> u64,
    ) -> Protocol {
        if self.window.in_progress == 0 {
            self.window.span = (u64::MAX, 0);
            self.start(class(bytes, from.unwrap_or(Memory::Private)), now);
            self.measure(self.window.since.is_some());
        }
        self.window.in_progress += 1;
        self.window.begun += 1;
        self.window.exchanged += u32::from(sends);
        let (low, high) = self.window.span;
        self.window.span = (low.min(to), high.max(to.saturating_add(bytes as u64)));
        match self.window.protocol {
            Protocol::SingleCopy if from.is_none() => {
                self.window.is_refused = true;
                Protocol::Fragments
            }
            protocol => protocol,
        }
    }

    fn end_at(&mut self, bytes: usize, now: impl Fn() -> u64) {
        let window = &mut self.window;
        window.in_progress = window.in_progress.saturating_sub(1);
        window.done += 1;
        window.bytes += bytes as u64;
        if window.in_progress > 0 && window.done < MOST_PER_WINDOW {
            return;
        }
        let cost =
            window.since.and_then(|since| window.cost(now() - since, timer::ticks_in(outside::ns() - window.away_ns)));
        let number = window.class;
        let class = &mut self.classes[number];
        let traffic = window.traffic(self.streams, class.traffic);
        if let Some((verdict, costs)) = class.count(cost) {
            report(self.process, number, verdict, costs);
        }
        class.traffic = traffic;
        // Those that are still under way finish as they began.
        self.start(number, now);
        self.measure(self.window.since.is_some() && self.window.in_progress > 0);
    }

    fn start(&mut self, class: usize, now: impl FnOnce() -> u64) {
        let (protocol, on) = self.classes[class].protocol();
        let since = on.then(now);
        let away_ns = outside::ns();
        let SampleWindow { span, in_progress, .. } = self.window;
        self.window = SampleWindow { class, protocol, since, away_ns, span, in_progress, ..SampleWindow::EMPTY };
    }

    // Whether progress is to tell how long nobody looked.
    fn measure(&mut self, on: bool) {
        match (core::mem::replace(&mut self.measures, on), on) {
            (false, true) => outside::begin_measuring(),
            (true, false) => outside::end_measuring(),
            _ => {}
        }
    }
}

impl Drop for Selection {
    fn drop(&mut self) {
        self.measure(false);
    }
}

// What a single copy costs the sender later, or reading what was streamed, is not measured here: both must be clearly cheaper.
fn cheapest([fragments, single, streamed]: [u64; 3]) -> Protocol {
    let (protocol, least) =
        if single / 4 < fragments / 5 { (Protocol::SingleCopy, single) } else { (Protocol::Fragments, fragments) };
    if streamed / 8 < least / 9 { Protocol::Streamed } else { protocol }
}

// Where fragments make this process work for its peer as well.
fn cheapest_for_both([fragments, single, _]: [u64; 3]) -> Protocol {
    if single / 3 < fragments / 2 { Protocol::SingleCopy } else { Protocol::Fragments }
}

#[derive(Clone, Copy)]
struct SampleWindow {
    // Of its first message.
    class: usize,
    protocol: Protocol,
    // `None`: nobody wants to know how long it takes.
    since: Option<u64>,
    // For how long nobody had looked until then.
    away_ns: u64,
    // A single copy was to be tried and could not be.
    is_refused: bool,
    in_progress: u32,
    begun: u32,
    // Of these, how many while this process sent.
    exchanged: u32,
    done: u32,
    bytes: u64,
    // The lowest and the highest address that its messages, and those that were under way when it began, go to.
    span: (u64, u64),
}

impl SampleWindow {
    const EMPTY: SampleWindow = SampleWindow {
        class: 0,
        protocol: Protocol::Fragments,
        since: None,
        away_ns: 0,
        is_refused: false,
        in_progress: 0,
        begun: 0,
        exchanged: 0,
        done: 0,
        bytes: 0,
        span: (u64::MAX, 0),
    };

    fn traffic(&self, streams: bool, before: Traffic) -> Traffic {
        match (streams && self.fills_caches(), self.begun) {
            (true, _) => Traffic::Large,
            // All of them had begun in the window before.
            (false, 0) if before == Traffic::Exchange => before,
            (false, begun) if begun > 0 && self.exchanged >= begun.div_ceil(2) => Traffic::Exchange,
            _ => Traffic::Small,
        }
    }

    // More is received than the caches hold: many bytes, and not to the same place again and again.
    fn fills_caches(&self) -> bool {
        let (low, high) = self.span;
        self.bytes.min(high.saturating_sub(low)) >= LARGE_WINDOW_BYTES
    }

    // Ticks per MiB after so many ticks, of which nobody looked for so many, if they say anything.
    fn cost(&self, ticks: u64, away: u64) -> Option<u64> {
        let computes = away > ticks / 4;
        match (self.is_refused, computes, self.protocol) {
            (true, _, _) | (_, true, Protocol::SingleCopy | Protocol::Streamed) => Some(u64::MAX),
            (_, true, Protocol::Fragments) => None,
            _ => Some(ticks.saturating_mul(1 << 20) / self.bytes.max(1)),
        }
    }
}

/// What is known of messages of so many bytes of such memory is known together.
pub fn class(bytes: usize, memory: Memory) -> usize {
    let size_class = (bytes.max(1).ilog2().saturating_sub(FIRST_SHIFT) as usize).min(SIZE_CLASSES - 1);
    memory as usize * SIZE_CLASSES + size_class
}

#[cold]
#[inline(never)]
fn report(process: u32, class: usize, verdict: Protocol, costs: [u64; 3]) {
    let kib = 1 << ((class % SIZE_CLASSES) as u32 + FIRST_SHIFT - 10);
    let (speeds, of) = (Speeds(costs), if class < SIZE_CLASSES { "" } else { " of shareable memory" });
    verbose!(pml::FRAMEWORK, 20, "messages of {kib} KiB and more{of} from process {process} come {verdict}: {speeds}");
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Fragments => "in fragments",
            Protocol::SingleCopy => "in a single copy",
            Protocol::Streamed => "in fragments around the cache",
        })
    }
}

/// Of the protocols that were tried.
struct Speeds([u64; 3]);

impl fmt::Display for Speeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tried = Protocol::ALL.into_iter().zip(self.0).filter(|(_, cost)| *cost != u64::MAX);
        for (index, (protocol, cost)) in tried.enumerate() {
            let mbps = timer::frequency() / cost.max(1) * 1_048_576 / 1_000_000;
            write!(f, "{}{mbps} MB/s {protocol}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// From 16 KiB to 4 MiB; the first and the last hold shorter and longer messages, too.
const FIRST_SHIFT: u32 = 14;
const SIZE_CLASSES: usize = 9;
/// Messages in a window.
const MOST_PER_WINDOW: u32 = 64;
/// Bytes of a window from which on fragments may be streamed: with windows of 16 MiB that are read once more both stores are even
/// (8.7 and 10.7 GB/s), with 8 MiB ordinary stores are clearly better (18.1 and 10.3).
const LARGE_WINDOW_BYTES: u64 = 16 << 20;

#[cfg(test)]
mod tests;
