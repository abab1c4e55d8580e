//! Verdict on one test.

use crate::failure::Failure;

/// What became of one test.
pub enum Verdict {
    /// It holds; a word on it, or nothing.
    Passed(String),
    /// It does not: why.
    Failed(String),
    /// It cannot run here: why, and what to do about it.
    Skipped(String),
}

impl Verdict {
    /// What it says beside what it is.
    pub fn why(&self) -> &str {
        match self {
            Verdict::Passed(text) | Verdict::Failed(text) | Verdict::Skipped(text) => text,
        }
    }
}

impl From<Failure> for Verdict {
    fn from(failure: Failure) -> Verdict {
        Verdict::Failed(failure.text)
    }
}
