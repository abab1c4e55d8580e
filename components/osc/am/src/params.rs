//! Parameters.

opal_core::params! {
    /// How long an access of another process may wait for this one while it computes outside MPI: a thread of the library's looks
    /// after so many microseconds, and more often while an access is under way. 0: no thread; whoever computes serves nobody. With it every call locks as with
    /// MPI_THREAD_MULTIPLE. Functions of MPI_Op_create run in the program's threads only.
    pub static PROGRESS: Size = Int(0), "us", level 4;
}
