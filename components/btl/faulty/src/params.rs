//! Parameters.

opal_core::params! {
    /// The transport that gets faults; empty: none does, and this one does not run.
    pub static WRAPS: Text = Text(""), "", level 9;
    /// Where the faults of all processes begin; each process adds its rank.
    pub static SEED: Size = Int(1), "", level 9;
    /// How many of a million messages have one bit changed, in their payload, their immediate or their kind.
    pub static CORRUPT: Size = Int(0), "", level 9;
    /// How many of a million messages vanish.
    pub static DROP: Size = Int(0), "", level 9;
    /// How many of a million messages arrive twice.
    pub static DUPLICATE: Size = Int(0), "", level 9;
    /// How many of a million messages are overtaken by up to four that are sent after them.
    pub static REORDER: Size = Int(0), "", level 9;
    /// How many of a million messages are delayed, by up to delay_us; those to the same process behind them are, too.
    pub static DELAY: Size = Int(0), "", level 9;
    /// The longest delay.
    pub static DELAY_US: Size = Int(1000), "µs", level 9;
    /// How many of a million sends are refused as if there were no room.
    pub static REFUSE: Size = Int(0), "", level 9;
}
