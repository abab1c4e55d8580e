//! Ending the job.

use super::configure;
use crate::report::{stats, trace};
use crate::{dynamic, process};
use opal_core::{message, sys};
use orte_core::framework::ess;

/// Ends the job with a status and a message. What the program printed without ending the line is written first.
pub fn abort(status: i32, text: &str) -> ! {
    sys::flush_output();
    // What this process has counted and seen would be lost.
    stats::told::now();
    trace::at_abort();
    match ess::selected() {
        Some(environment) => environment.abort(status, text),
        None => give_up(text),
    }
}

/// Ends these processes, this one among them, and leaves all others alone, where the launcher can do that; else the job.
pub fn abort_some(members: &[u32], status: i32, text: &str) -> ! {
    let is_all = (0..process::count() as u32).all(|rank| members.contains(&rank));
    let is_own = members.iter().all(|member| (*member as usize) < process::count());
    if (is_all && is_own) || dynamic::end(members, status, text).is_err() {
        abort(status, text)
    }
    sys::flush_output();
    stats::told::now();
    trace::at_abort();
    // The system keeps eight bits; a failure must stay one.
    sys::exit(if status & 0xff == 0 { 1 } else { status })
}

/// As [`abort`] before MPI was started: the launcher is asked all the same if there is one.
pub fn abort_unstarted(status: i32, text: &str) -> ! {
    if ess::selected().is_none() && configure().is_ok() {
        // What is wrong with the environment was said; the end comes either way.
        let _ = ess::select();
    }
    abort(status, text)
}

/// Ends this process where the job cannot be asked.
pub(super) fn give_up(text: &str) -> ! {
    message!("{text}");
    sys::exit(1)
}
