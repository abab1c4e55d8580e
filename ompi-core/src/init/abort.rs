//! Ending the job.

use super::configure;
use crate::report::{stats, trace};
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
