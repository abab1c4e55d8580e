//! The barrier machine's report at its end, and the outcome of a test that needs other programs.

use crate::failure::Failure;
use crate::fpga;
use crate::test::{Verdict, deadline};

/// What the machine says of its life.
pub fn said(ended: &deadline::Ended) -> &str {
    let lines = ended.err.lines().filter_map(|line| line.strip_prefix("tuc-fpga: "));
    let mut lines = lines.filter(|line| line.ends_with(" machines"));
    lines.next_back().unwrap_or("the barrier machine printed nothing")
}

/// Skipped if a program is not installed.
pub fn missing_or_failed(failure: Failure) -> Verdict {
    match failure.status {
        fpga::MISSING => Verdict::Skipped(failure.text),
        _ => failure.into(),
    }
}
