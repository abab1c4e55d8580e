//! Parameters.

opal_core::params! {
    /// Largest communicator that is served. Beyond two ranks it was measured only on a loaded machine with more ranks than
    /// cores, and lost there.
    pub static MAX_RANKS: Size = Int(2), "ranks", level 4;
}
