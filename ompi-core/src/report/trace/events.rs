//! The events of this rank: the last ones, as many as there is room for, and of those before them their number and their time.

use crate::framework::pml::{MessageEvent, Observer, observe_messages};
use crate::process;
use crate::report::params::TRACE_EVENTS;
use crate::report::rank_of;
use crate::report::wait::Wait;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use opal_core::sync::{AtomicBool, Mutex, Ordering};
use opal_core::sys;

static IS_ON: AtomicBool = AtomicBool::new(false);
static KEPT: Mutex<Kept> =
    Mutex::new(Kept { lines: VecDeque::new(), has_ended: false, dropped: 0, dropped_until_ns: 0, from_ns: 0 });

// A line each: kind, begin and end in ns, name, and what belongs to it, between tabs.
struct Kept {
    lines: VecDeque<(u64, String)>,
    has_ended: bool,
    // The first ones: how many, and when the last of them ended.
    dropped: u64,
    dropped_until_ns: u64,
    // When the first event could be kept.
    from_ns: u64,
}

/// Keeps events from now on.
pub fn begin() {
    KEPT.lock().from_ns = sys::monotonic_ns();
    IS_ON.store(true, Ordering::Relaxed);
    observe_messages(Observer::Trace, message);
}

/// A wait is over.
pub fn waited(wait: &Wait) {
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let (process, words) = match &wait.subject {
        Some(subject) => (subject.process.map_or(-1, i64::from), subject.words.as_str()),
        None => (-1, ""),
    };
    keep(
        "wait",
        (wait.since_ns, wait.until_ns),
        "wait",
        format_args!("{process}\t{}", words.replace(['\t', '\n'], " ")),
    );
}

/// A blocking collective operation.
pub fn collective(function: &str, algorithm: &str, since_ns: u64, until_ns: u64) {
    if IS_ON.load(Ordering::Relaxed) {
        keep("collective", (since_ns, until_ns), function, format_args!("{algorithm}"));
    }
}

fn message(event: &MessageEvent) {
    let now = sys::monotonic_ns();
    let MessageEvent { what, process, tag, bytes, .. } = event;
    let rank = rank_of(*process).map_or(-1, i64::from);
    keep("message", (now, now), what.name(), format_args!("{rank}\t{tag}\t{bytes}"));
}

fn keep(kind: &str, (since_ns, until_ns): (u64, u64), name: &str, rest: core::fmt::Arguments<'_>) {
    use core::fmt::Write;
    let (mut kept, room) = (KEPT.lock(), TRACE_EVENTS.size());
    // What the gathering of the events would add is none of the program's.
    if kept.has_ended {
        return;
    }
    let mut line = String::new();
    while kept.lines.len() >= room.max(1) {
        kept.dropped += 1;
        let Some((end_ns, oldest)) = kept.lines.pop_front() else { break };
        kept.dropped_until_ns = end_ns;
        line = oldest;
    }
    line.clear();
    let _ = writeln!(line, "{kind}\t{since_ns}\t{until_ns}\t{name}\t{rest}");
    kept.lines.push_back((until_ns, line));
}

/// Whether events are kept.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// As [`end`], where this thread may be amid an event.
pub fn try_end() -> Option<String> {
    KEPT.try_lock().map(|mut kept| end_of(&mut kept))
}

/// All that was kept, and no more from now on.
pub fn end() -> String {
    end_of(&mut KEPT.lock())
}

/// What is kept by now.
pub fn so_far() -> String {
    KEPT.lock().text()
}

fn end_of(kept: &mut Kept) -> String {
    IS_ON.store(false, Ordering::Relaxed);
    kept.has_ended = true;
    let text = kept.text();
    kept.lines = VecDeque::new();
    text
}

impl Kept {
    fn text(&self) -> String {
        let (rank, host) = (process::me().index, sys::hostname());
        let mut text = format!("rank\t{rank}\t{host}\t{}\n", self.dropped);
        if self.dropped > 0 {
            text += &format!("dropped\t{}\t{}\t{}\n", self.from_ns, self.dropped_until_ns, self.dropped);
        }
        self.lines.iter().for_each(|(_, line)| text.push_str(line));
        text
    }
}
