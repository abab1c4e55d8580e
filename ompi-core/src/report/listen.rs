//! Listens to waits and to collective operations for statistics and traces.

use super::stats::{collect, told};
use super::trace::events;
use super::wait::{Wait, WaitSubject};
use crate::comm::Communicator;
use crate::framework::coll::{self, Function, Ran};
use crate::framework::pml::watched;
use crate::tool::{collectives, event};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, Mutex, Ordering};
use opal_core::{sys, wait};

static IS_ON: AtomicBool = AtomicBool::new(false);
// Since when the last wait has been in vain that said what it is for.
static SUBJECT: Mutex<Option<(u64, WaitSubject)>> = Mutex::new(None);
// Threads that are in a collective operation, and how long each has waited there.
static INSIDE: Mutex<Vec<(u32, u64)>> = Mutex::new(Vec::new());

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
    let until_ns = sys::monotonic_ns();
    add_inside(until_ns.saturating_sub(since_ns));
    if !is_on() {
        return;
    }
    let subject = SUBJECT.lock().take_if(|(since, _)| *since == since_ns).map(|(_, subject)| subject);
    let wait = Wait { since_ns, until_ns, subject };
    collect::waited(&wait);
    events::waited(&wait);
    told::at(wait.until_ns);
}

fn add_inside(ns: u64) {
    let mut inside = INSIDE.lock();
    if !inside.is_empty() {
        let me = sys::thread_id();
        if let Some((_, sum)) = inside.iter_mut().rfind(|(thread, _)| *thread == me) {
            *sum += ns;
        }
    }
}

/// Runs it, and says how long this thread waited in it.
fn waits_of<R>(run: impl FnOnce() -> R) -> (R, u64) {
    wait::tell_waits(waited);
    let me = sys::thread_id();
    INSIDE.lock().push((me, 0));
    let ended = run();
    let mut inside = INSIDE.lock();
    let place = inside.iter().rposition(|(thread, _)| *thread == me);
    (ended, place.map_or(0, |place| inside.swap_remove(place).1))
}

/// Runs a blocking collective operation and notes it; with what came of it, component and algorithm, the latter empty if none was
/// named.
pub fn collective<R>(comm: &Communicator, function: Function, run: impl FnOnce() -> R) -> (R, Ran) {
    let entry = comm.coll().entry(function).map_or("", |(name, _)| *name);
    coll::take_last();
    let since_ns = sys::monotonic_ns();
    let (ended, waited_ns) = waits_of(run);
    let until_ns = sys::monotonic_ns();
    let (ns, ran) = (until_ns.saturating_sub(since_ns), coll::take_last().unwrap_or((entry, "")));
    collectives::ended(function, ran, ns, waited_ns);
    if is_on() {
        let algorithm = match ran {
            (name, "") => String::from(name),
            (name, algorithm) => format!("{name}: {algorithm}"),
        };
        collect::collective(function.name(), &algorithm, ns, waited_ns);
        events::collective(function.name(), &algorithm, since_ns, until_ns);
        told::at(until_ns);
    }
    (ended, ran)
}
