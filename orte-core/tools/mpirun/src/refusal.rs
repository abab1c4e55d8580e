//! Messages on standard error, and the reasons why a job was not started.

/// Says one sentence on standard error, in one write; unlike `eprintln!` it survives that nobody listens.
pub fn say(sentence: &str) {
    opal_core::sys::write_stderr(format!("mpirun: {sentence}\n").as_bytes());
}

/// Writes to standard output, for what was asked of mpirun itself. Nobody who reads it is no failure, a full disk is.
pub fn print(text: &str) -> Result<(), Refusal> {
    use std::io::Write;
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Refusal::system("writing standard output", error))
        }
        _ => Ok(()),
    }
}

/// What no other sentence was found for, also where the standard library did not expect the system to refuse a call. Ends
/// this process; the other one of mpirun and keeper ends the job.
pub fn panicked(panic: &std::panic::PanicHookInfo<'_>) {
    let payload = panic.payload_as_str().unwrap_or("no reason is given");
    let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    let words: Vec<&str> = payload.split_whitespace().collect();
    say(&format!(
        "{}{place}; the system refuses a call that mpirun needs (filters of a container?), or this is a defect of mpirun",
        words.join(" ")
    ));
    opal_core::sys::exit(i32::from(OWN));
}

/// mpirun's exit status when it could not do its part: as with env and nohup no error of MPI and few programs end so.
pub const OWN: u8 = 125;

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
        Refusal { status: OWN, sentence: sentence.into() }
    }

    /// All is well, and there is nothing to start.
    pub fn nothing_to_do() -> Refusal {
        Refusal { status: 0, sentence: String::new() }
    }

    /// The system refused something that mpirun itself needs.
    pub fn system(what: &str, error: impl std::fmt::Display) -> Refusal {
        let error = error.to_string();
        // EMFILE.
        let hint = if error.contains("(os error 24)") { "; raise the limit with ulimit -n" } else { "" };
        Refusal { status: OWN, sentence: format!("{what} failed: {error}{hint}") }
    }
}
