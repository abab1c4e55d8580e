//! Ending the job.

use opal_core::{message, sys};
use orte_core::framework::ess;

/// Ends the job with a status and a message.
pub fn abort(status: i32, text: &str) -> ! {
    match ess::selected() {
        Some(environment) => environment.abort(status, text),
        None => give_up(text),
    }
}

/// Ends this process where the job cannot be asked.
pub(super) fn give_up(text: &str) -> ! {
    message!("{text}");
    sys::exit(1)
}
