//! Parameters. The two sizes were measured with `osu --given` (benches/c) on an Intel Xeon, two cores near each other, least of the medians
//! of several launches.

opal_core::params! {
    /// Smallest message that is copied this way; shorter ones go through cells of shared memory. 17 KiB one way take 0.40 µs like this,
    /// 0.65 through cells.
    pub static MIN_SIZE: Size = Int(16384), "bytes", level 4;
    /// Smallest message of which sender and receiver copy a half each; the receiver copies shorter ones alone. Alone and in halves:
    /// 32 KiB 0.49 and 0.56 µs, 40 KiB 0.57 and 0.58, 48 KiB 0.67 and 0.63, 64 KiB 0.80 and 0.70.
    pub static HALVES_SIZE: Size = Int(49152), "bytes", level 5;
    /// Longest copy that is made at once; longer ones are made of several, with progress in between.
    pub static CHUNK_SIZE: Size = Int(4194304), "bytes", level 6;
}
