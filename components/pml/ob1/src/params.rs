//! Parameters: `--mca pml_ob1_…`.

opal_core::params! {
    /// Largest message that is sent before the receiver asks for it; a transport's own limit may be lower.
    pub static EAGER_LIMIT: Size = Int(65536), "bytes", level 4;
    /// How many eager messages of one process may be unexpected. From then on that process announces its messages, and their data
    /// stays in its own memory until they are received, until half of them are.
    pub static UNEXPECTED_MESSAGES: Size = Int(32768), "", level 5, change Local;
    /// As unexpected_messages for the memory that they take.
    pub static UNEXPECTED_BYTES: Size = Int(8388608), "bytes", level 5, change Local;
    /// How much of a long message goes along with its RTS to a process of the node that took the last one of its size in
    /// fragments; 0: nothing.
    pub static RNDV_EAGER_LIMIT: Size = Int(16384), "bytes", level 6, change Local;
    /// How long messages between processes of a node come: measured tries all protocols now and then and uses the best one;
    /// single has the system copy them once, where it can; fragments goes through shared memory; streamed does, too, and stores
    /// around the receiver's caches.
    pub static LONG_MESSAGES: Choice(&["measured", "single", "fragments", "streamed"]) = Text("measured"), "", level 5;
    /// Shortest message that its receiver reads from the sender's memory, where a transport can do that (btl/ofi); shorter ones, and data that
    /// does not lie together, are sent in fragments.
    pub static GET_BYTES_MIN: Size = Int(32768), "bytes", level 5, change Local;
    /// Whether messages carry checksums (CRC32C), so that what was damaged on the way, in a memory or by a device, is noticed and
    /// sent again. All processes that communicate need the same. Short messages take several times as long.
    pub static CHECKSUM: Bool = Bool(false), "", level 3;
}
