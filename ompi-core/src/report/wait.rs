//! A wait that is over.

use alloc::string::String;

/// How long it was, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Since when nothing had happened, in ns of the monotonic clock.
    pub since_ns: u64,
    /// When something did.
    pub until_ns: u64,
    /// What it was for; `None` if it was too short to be asked.
    pub subject: Option<WaitSubject>,
}

/// What a wait was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitSubject {
    /// The process that was to do something, if there was one.
    pub process: Option<u32>,
    /// The same for people.
    pub words: String,
}
