//! Statistics so far, for the launcher: what people see of a rank that dies. A sentence, as often as a wait or a collective
//! operation ends, but not more often than it costs nothing.

use super::collect;
use crate::framework::pml::watched;
use alloc::format;
use alloc::string::String;
use opal_core::sync::{AtomicBool, AtomicU64, Ordering};
use opal_core::{sys, wait};
use orte_core::framework::ess;

static IS_ON: AtomicBool = AtomicBool::new(false);
static LAST_NS: AtomicU64 = AtomicU64::new(0);

/// Tells from now on.
pub fn begin() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Rank 0 has it all: nothing is to be shown if this process dies now.
pub fn end() {
    if IS_ON.swap(false, Ordering::Relaxed) {
        tell(sys::monotonic_ns(), "");
    }
}

/// MPI is not in use until a session begins: nothing is to be shown if this process dies meanwhile.
pub fn pause() {
    if IS_ON.load(Ordering::Relaxed) {
        tell(sys::monotonic_ns(), "");
    }
}

/// Something has taken its time until now.
pub fn at(now_ns: u64) {
    // Relaxed: where several threads come at once, each may tell.
    if IS_ON.load(Ordering::Relaxed) && now_ns.saturating_sub(LAST_NS.load(Ordering::Relaxed)) >= PAUSE_NS {
        tell_all(now_ns);
    }
}

/// This process is about to sleep, or to end the job.
pub fn now() {
    if IS_ON.load(Ordering::Relaxed) {
        tell_all(sys::monotonic_ns());
    }
}

fn tell_all(now_ns: u64) {
    LAST_NS.store(now_ns, Ordering::Relaxed);
    // A thread that holds what is asked for here may be the one that aborts.
    if let (Some(messages), Some(waits)) = (watched::totals(), collect::waits()) {
        tell(now_ns, &words(messages, waits, wait::asleep_ns()));
    }
}

fn tell(now_ns: u64, words: &str) {
    if let Some(environment) = ess::selected() {
        environment.tells(now_ns, words);
    }
}

fn words(messages: [u64; 4], (waits, waited_ns): (u64, u64), asleep_ns: u64) -> String {
    let [sent, sent_bytes, received, received_bytes] = messages;
    let seconds = |ns: u64| ns as f64 / 1e9;
    format!(
        "{sent} messages with {sent_bytes} bytes sent, {received} with {received_bytes} received; {waits} waits of {:.3} s, \
         {:.3} s of that asleep",
        seconds(waited_ns),
        seconds(asleep_ns)
    )
}

/// A sentence takes some microseconds.
const PAUSE_NS: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_fits() {
        // A longer one would be cut: bytes of years.
        let longest = words([u64::MAX / 10; 4], (u64::MAX / 10, u64::MAX / 10), u64::MAX / 10);
        assert!(longest.len() <= orte_core::segment::record::TOLD_TEXT_BYTES, "{longest}");
        let words = words([3, 1024, 1, 8], (2, 1_500_000_000), 250_000_000);
        assert_eq!(
            words,
            "3 messages with 1024 bytes sent, 1 with 8 received; 2 waits of 1.500 s, 0.250 s of that asleep"
        );
    }
}
