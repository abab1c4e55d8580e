//! Parameters.

opal_core::params! {
    /// Nonblocking accesses that are shorter are done at once, and so are those shorter than four times as much where the ranks of
    /// the node leave no core to the threads of the system that would do them.
    pub static MIN_SIZE: Size = Int(1048576), "bytes", level 5;
}
