//! Listens to waits and to collective operations for statistics and traces.

use super::stats::{collect, told};
use super::trace::events;
use super::wait::{Wait, WaitSubject};
use crate::comm::Communicator;
use crate::framework::coll::{self, Function};
use crate::framework::pml::watched;
use crate::tool::event;
use alloc::format;
use alloc::string::{String, ToString};
use opal_core::sync::{AtomicBool, Mutex, Ordering};
use opal_core::{sys, wait};

static IS_ON: AtomicBool = AtomicBool::new(false);
// Since when the last wait has been in vain that said what it is for.
static SUBJECT: Mutex<Option<(u64, WaitSubject)>> = Mutex::new(None);

/// Before there are communicators.
pub fn begin() {
    if !IS_ON.swap(true, Ordering::Relaxed) {
        watched::begin();
        coll::keep_last();
        event::listen();
        wait::tell_waits(waited);
    }
}

/// Whether anybody listens.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// A wait said what it is for.
pub fn awaits(since_ns: u64, process: Option<u32>, words: &str) {
    if is_on() {
        *SUBJECT.lock() = Some((since_ns, WaitSubject { process, words: words.to_string() }));
        // It may be its last wait.
        told::now();
    }
}

fn waited(since_ns: u64) {
    let subject = SUBJECT.lock().take_if(|(since, _)| *since == since_ns).map(|(_, subject)| subject);
    let wait = Wait { since_ns, until_ns: sys::monotonic_ns(), subject };
    collect::waited(&wait);
    events::waited(&wait);
    told::at(wait.until_ns);
}

/// Runs a blocking collective operation and notes it.
pub fn collective<R>(comm: &Communicator, function: Function, run: impl FnOnce() -> R) -> R {
    if !is_on() {
        return run();
    }
    let entry = comm.coll().entry(function).map_or("", |(name, _)| *name);
    coll::take_last();
    let since_ns = sys::monotonic_ns();
    let ended = run();
    let until_ns = sys::monotonic_ns();
    let algorithm = coll::take_last().map_or(String::from(entry), |(name, algorithm)| format!("{name}: {algorithm}"));
    collect::collective(function.name(), &algorithm, until_ns.saturating_sub(since_ns));
    events::collective(function.name(), &algorithm, since_ns, until_ns);
    told::at(until_ns);
    ended
}
