//! Parameters. They are read before `main`: from the environment and from mpirun's command line, not from files.

opal_core::params! {
    /// Shortest allocation that lies in shareable memory; 0: none does. Read before main: a file that says so has no effect.
    pub static THRESHOLD: Size = Int(65536), "bytes", level 4, change Never;
    /// How much of what the program has freed is kept for its next allocations, with its pages; what is beyond goes back to the
    /// system. Read before main: a file that says so has no effect.
    pub static KEPT: Size = Int(67108864), "bytes", level 5, change Never;
    /// What children of fork have of their parent's long allocations: a copy, or nothing, which is for programs that fork only to
    /// start others. Read before main: a file that says so has no effect.
    pub static CHILDREN: Choice(&["copy", "nothing"]) = Text("copy"), "", level 5, change Never;
}
