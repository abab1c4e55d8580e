//! Parameters.

opal_core::params! {
    /// Smallest message that is copied this way; shorter ones go through shared memory.
    pub static MIN_SIZE: Size = Int(16384), "bytes", level 4;
    /// Longest copy in one system call; longer ones are made of several, with progress in between.
    pub static CHUNK_SIZE: Size = Int(16777216), "bytes", level 6;
    /// Let processes that descend from the launcher reach into this one where Yama restricts it (ptrace_scope 1).
    pub static ALLOW_JOB: Bool = Bool(true), "", level 6;
}
