//! Activity of a rank of this host, in words: from its state, its stack, and the times that it left in the segment before it slept.

use crate::calls::{self, Calls};
use crate::here::Here;
use crate::{threads, tree};
use orte_core::framework::ess::Needed;
use orte_core::segment::RankState;

/// What a rank does.
#[derive(Clone, Debug)]
pub struct Doing {
    /// `in MPI_Recv, where nothing has happened for 3 s`.
    pub text: String,
    /// Without whom its wait does not end, if it has waited for a second and no other thread of it may do something else.
    pub needed: Needed,
    /// The functions that its threads are in, as lines, the innermost one first; `None` if the system does not let this process look.
    pub functions: Option<Vec<String>>,
}

/// Looks at a rank that runs as this process.
pub fn of_rank(here: &Here, rank: u32, pid: Option<u32>) -> Doing {
    let state = here.state(rank);
    // Before `calls` stops it for a moment.
    let held = pid.and_then(held);
    let is_whole = pid.is_some_and(threads::all_wait);
    let calls = pid.and_then(calls::of_rank);
    let waits = here.slept(rank).and_then(|slept| waited_ns(slept, ASLEEP_NS)).map(|waited| waited / 1_000_000_000);
    let is_outside = calls.as_ref().is_some_and(Calls::is_outside);
    // What it said last is what it waits for now, if it waits.
    let (needed, subject) = waits.map(|_| here.awaited(rank)).unwrap_or_default();
    let call = calls.as_ref().and_then(|calls| calls.mpi.clone().or_else(|| calls.rust()));
    let subject = printable(&subject);
    // The call is that of the first thread, and the wait may be another one's.
    let text = match (call, state, waits.filter(|_| is_whole)) {
        (Some(call), _, Some(seconds)) => format!("in {call}, where nothing has happened for {seconds} s"),
        (Some(call), _, None) => format!("in {call}"),
        (None, RankState::Initialized, _) if is_outside => "not in a call of MPI".to_owned(),
        (_, RankState::Initialized, Some(seconds)) => format!("in MPI, where nothing has happened for {seconds} s"),
        (_, state, _) => state.words().to_owned(),
    };
    let text = match calls.as_ref().map(Calls::of_others).unwrap_or_default() {
        names if names.is_empty() => text,
        names => format!("{text}, another thread in {}", names.join(" and ")),
    };
    // A message may be on its way for a moment.
    let is_long = is_whole && waits.is_some_and(|seconds| seconds > 0);
    let needed = if is_long { needed } else { Needed::default() };
    let text = match is_whole {
        _ if subject.is_empty() => text,
        true => format!("{text}: waits for {subject}"),
        false => format!("{text}: a thread of rank {rank} waits for {subject}"),
    };
    let text = if let Some(held) = held { format!("{held}, {text}") } else { text };
    Doing { text, needed, functions: calls.map(|calls| calls.lines()) }
}

/// What a rank wrote, names of its communicators among it, on one line and without commands for a terminal.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "?")
}

/// What keeps a rank, or what the shell in its place started, from running.
fn held(pid: u32) -> Option<&'static str> {
    let family = tree::family(pid as i32);
    if family.iter().any(|pid| tree::is_stopped(*pid)) {
        return Some("stopped (SIGCONT lets it go on)");
    }
    family.iter().any(|pid| tree::is_traced(*pid)).then_some("held by a debugger")
}

/// Since when a rank has waited in vain, and for how long when it last went to sleep, in ns of the monotonic clock: what it does since
/// then may be something else. `None` if it does not wait, or if another thread of it may do something else.
pub fn waits(here: &Here, rank: u32, pid: Option<u32>) -> Option<(u64, u64)> {
    let slept = here.slept(rank)?;
    waited_ns(slept, LONG_ASLEEP_NS)?;
    pid.is_some_and(threads::all_wait).then(|| (slept.0, slept.1.saturating_sub(slept.0)))
}

/// How long a rank has waited that says since when it does and when it last went to sleep; `None` if that was too long ago: it has
/// woken since.
fn waited_ns((since_ns, last_ns): (u64, u64), asleep_ns: u64) -> Option<u64> {
    let now_ns = opal_core::sys::monotonic_ns();
    (now_ns.saturating_sub(last_ns) < asleep_ns).then(|| now_ns.saturating_sub(since_ns))
}

/// A rank that waits sleeps again after a fraction of this.
const ASLEEP_NS: u64 = 200_000_000;
/// The same where one look decides about the whole job.
const LONG_ASLEEP_NS: u64 = 2_000_000_000;

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(printable("a message on é\u{1b}[2J\nring\u{9b}"), "a message on é?[2J?ring?");
    }
}
