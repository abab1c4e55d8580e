//! Parameters.

opal_core::params! {
    /// Largest message that is sent before the receiver asks for it.
    pub static EAGER_LIMIT: Size = Int(8192), "bytes", level 4;
    /// Largest piece of a long message that is copied at once.
    pub static FRAGMENT_SIZE: Size = Int(32768), "bytes", level 5;
    /// Push a message out of the sender's cache when its receiver probably waits for it; where the core can.
    pub static CLDEMOTE: Bool = Bool(true), "", level 7;
}
