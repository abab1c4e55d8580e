//! Parameters.

opal_core::params! {
    /// How long to wait for the other machines of the job at start-up before giving up.
    pub static LOOKUP_TIMEOUT_S: Size = Int(60), "s", level 6;
}
