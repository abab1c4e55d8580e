//! Parameters.

opal_core::params! {
    /// The component whose copies get faults; empty: none does, and this one does not run.
    pub static WRAPS: Text = Text(""), "", level 9;
    /// Where the faults of all processes begin; each process adds its rank.
    pub static SEED: Size = Int(1), "", level 9;
    /// How many of a million copies have one bit changed.
    pub static CORRUPT: Size = Int(0), "", level 9;
}
