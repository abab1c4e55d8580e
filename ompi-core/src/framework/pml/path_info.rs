//! How messages reach a process, for people.

use alloc::string::String;

/// The path to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathInfo {
    /// The transports, with what is to be known of them.
    pub transport: String,
    /// Most bytes of a message that goes into a slot of a queue, by the fast path.
    pub slot_bytes: usize,
    /// Most bytes of a message that is sent before the receiver asks for it.
    pub eager_bytes: usize,
    /// How longer messages come.
    pub long: String,
}
