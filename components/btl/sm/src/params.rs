//! Parameters.

opal_core::params! {
    /// Largest message that is sent before the receiver asks for it.
    pub static EAGER_LIMIT: Size = Int(16384), "bytes", level 4;
    /// Largest piece of a long message that is copied at once, with its number: 16 KiB and a line. One side copies a piece
    /// while the other side copies the next one: 64 KiB take 1.78 µs in such pieces, 1.87 in pieces of 28 KiB, 1.93 of 8.
    pub static FRAGMENT_SIZE: Size = Int(16448), "bytes", level 5;
    /// Push a message out of the sender's cache when its receiver probably waits for it; where the core can.
    pub static CLDEMOTE: Bool = Bool(true), "", level 7;
}
