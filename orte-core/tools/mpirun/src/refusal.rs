//! Sentences on standard error, and why a job was not started.

/// Says one sentence on standard error, in one write; unlike `eprintln!` it survives that nobody listens.
pub fn say(sentence: &str) {
    opal_core::sys::write_stderr(format!("mpirun: {sentence}\n").as_bytes());
}

/// Why nothing was started, or not all of it.
#[derive(Debug)]
pub struct Refusal {
    /// mpirun's exit status.
    pub status: u8,
    /// What was wrong, where it came from and what to do; empty if everything was said.
    pub sentence: String,
}

impl Refusal {
    /// The command line is wrong.
    pub fn usage(sentence: impl Into<String>) -> Refusal {
        Refusal { status: 2, sentence: sentence.into() }
    }

    /// The system refused something that mpirun itself needs.
    pub fn system(what: &str, error: impl std::fmt::Display) -> Refusal {
        Refusal { status: 1, sentence: format!("{what} failed: {error}") }
    }
}
