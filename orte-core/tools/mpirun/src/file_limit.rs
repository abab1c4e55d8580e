//! The user's limit on the size of files, which is none on memory.

use rustix::process::{Resource, Rlimit};

/// Does something without the user's soft limit on the size of files, which counts for files in memory as well: those are
/// as long as the addresses in them, however little of them is ever touched. Behind the limit of the administrator a call
/// fails, instead of ending mpirun with SIGXFSZ.
pub fn without_file_limit<T>(make: impl FnOnce() -> T) -> T {
    let limit = rustix::process::getrlimit(Resource::Fsize);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let _ = rustix::process::setrlimit(Resource::Fsize, raised);
    let made = make();
    // It was this before, so it is never refused.
    let _ = rustix::process::setrlimit(Resource::Fsize, limit);
    made
}
