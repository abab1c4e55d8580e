//! The events of this rank: as many as there is room for, then only their number.

use crate::framework::pml::{MessageEvent, Observer, observe_messages};
use crate::process;
use crate::report::params::TRACE_EVENTS;
use crate::report::wait::Wait;
use alloc::format;
use alloc::string::String;
use opal_core::sync::{AtomicBool, Mutex, Ordering};
use opal_core::sys;

static IS_ON: AtomicBool = AtomicBool::new(false);
static KEPT: Mutex<Kept> = Mutex::new(Kept { lines: String::new(), count: 0, dropped: 0 });

// A line each: kind, begin and end in ns, name, and what belongs to it, between tabs.
struct Kept {
    lines: String,
    count: usize,
    dropped: u64,
}

/// Keeps events from now on.
pub fn begin() {
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
    keep("message", (now, now), what.name(), format_args!("{process}\t{tag}\t{bytes}"));
}

fn keep(kind: &str, (since_ns, until_ns): (u64, u64), name: &str, rest: core::fmt::Arguments<'_>) {
    use core::fmt::Write;
    let mut kept = KEPT.lock();
    if kept.count >= TRACE_EVENTS.size() {
        kept.dropped += 1;
        return;
    }
    kept.count += 1;
    let _ = writeln!(kept.lines, "{kind}\t{since_ns}\t{until_ns}\t{name}\t{rest}");
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

fn end_of(kept: &mut Kept) -> String {
    IS_ON.store(false, Ordering::Relaxed);
    // What the gathering of the events would add is none of the program's.
    kept.count = usize::MAX;
    let (rank, host) = (process::me().index, sys::hostname());
    let lines = core::mem::take(&mut kept.lines);
    format!("rank\t{rank}\t{host}\t{}\n{lines}", kept.dropped)
}
