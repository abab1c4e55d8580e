//! Parameters.

opal_core::params! {
    /// Nonblocking accesses that are shorter are done at once.
    pub static MIN_SIZE: Size = Int(65536), "bytes", level 5;
}
