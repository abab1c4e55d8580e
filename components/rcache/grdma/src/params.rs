//! Parameters: `--mca rcache_grdma_…`.

opal_core::params! {
    /// How many registrations are kept with a transport; those that were not used for the longest time end first.
    pub static ENTRIES: Size = Int(1024), "", level 5, change Local;
    /// How much memory is kept registered with a transport. The system limits it, too (`ulimit -l`), where a card does the work.
    pub static BYTES: Size = Int(4294967296), "bytes", level 5, change Local;
}
