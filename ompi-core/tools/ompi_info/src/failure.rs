//! Why the program ends early, and how it says so.

use std::io;

/// Why it ends early.
pub enum Failure {
    /// Standard output cannot be written.
    Write(io::Error),
    /// The command line asks for something that is not there.
    Refused(String),
    /// The library is not in order.
    Failed(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Write(error)
    }
}

/// Says why on standard error; the exit status comes back.
pub fn say(status: u8, text: &str) -> u8 {
    eprintln!("ompi_info: {text}");
    status
}
