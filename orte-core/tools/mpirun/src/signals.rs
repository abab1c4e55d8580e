//! Signals: which ones are forwarded to the ranks, and their names in messages.

/// End the job, after they were passed on.
pub const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
/// Are passed on to the ranks and change nothing else.
pub const PASSED_ON: [i32; 2] = [libc::SIGUSR1, libc::SIGUSR2];
/// Stop ranks and mpirun, and let them go on.
pub const STOPPING: [i32; 2] = [libc::SIGTSTP, libc::SIGCONT];

/// Those that are passed on, but the ones this process was started with ignored.
pub fn passed_on() -> Vec<i32> {
    PASSED_ON.into_iter().filter(|signal| !crate::raw::is_ignored(*signal)).collect()
}

/// Those that this process handles: all but the ones it was started with ignored.
pub fn handled() -> Vec<i32> {
    ENDING.into_iter().chain(PASSED_ON).chain(STOPPING).filter(|signal| !crate::raw::is_ignored(*signal)).collect()
}

/// `SIGSEGV, invalid memory access`.
pub fn describe(signal: i32) -> String {
    match NAMES.iter().find(|(number, _)| *number == signal) {
        Some((_, text)) => (*text).to_owned(),
        None => format!("signal {signal}"),
    }
}

const NAMES: [(i32, &str); 20] = [
    (libc::SIGHUP, "SIGHUP, hang-up"),
    (libc::SIGINT, "SIGINT, interrupt"),
    (libc::SIGQUIT, "SIGQUIT, quit"),
    (libc::SIGILL, "SIGILL, illegal instruction"),
    (libc::SIGTRAP, "SIGTRAP, trap"),
    (libc::SIGABRT, "SIGABRT, abort"),
    (libc::SIGBUS, "SIGBUS, access beyond memory that exists"),
    (libc::SIGFPE, "SIGFPE, arithmetic error"),
    (libc::SIGKILL, "SIGKILL, killed; perhaps by the system because memory ran out"),
    (libc::SIGSEGV, "SIGSEGV, invalid memory access"),
    (libc::SIGPIPE, "SIGPIPE, nobody reads its output"),
    (libc::SIGALRM, "SIGALRM, alarm clock"),
    (libc::SIGTERM, "SIGTERM, termination"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGXCPU, "SIGXCPU, limit on processor time"),
    (libc::SIGXFSZ, "SIGXFSZ, limit on file size"),
    (libc::SIGSYS, "SIGSYS, forbidden system call"),
    (libc::SIGVTALRM, "SIGVTALRM, virtual alarm clock"),
    (libc::SIGPROF, "SIGPROF, profiling alarm clock"),
];
