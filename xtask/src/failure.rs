//! Why a command ended: a sentence and an exit status.

use std::fmt;

/// A sentence for the user and the status that goes with it.
#[derive(Debug)]
pub struct Failure {
    /// 2 for what the user can put right on the command line, 1 for the rest.
    pub status: u8,
    /// What was wrong and what to do.
    pub text: String,
}

/// What every subcommand returns.
pub type Result<T> = std::result::Result<T, Failure>;

/// The command line asks for something that cannot be.
pub fn refuse(text: impl Into<String>) -> Failure {
    Failure { status: 2, text: text.into() }
}

/// Something failed on the way.
pub fn fail(text: impl Into<String>) -> Failure {
    Failure { status: 1, text: text.into() }
}

/// Says which file an error of the system belongs to.
pub trait At<T> {
    /// `what` completes the sentence "cannot …".
    fn at(self, what: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> At<T> for std::result::Result<T, E> {
    fn at(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| fail(format!("cannot {what}: {error}")))
    }
}
