//! Which protocol a peer took for its last long messages.

use crate::protocol::selection::{self, Memory, Protocol};
use opal_core::sync::{AtomicU32, Ordering};

/// The sizes of messages that a process takes in fragments, as far as this one has seen: bits by
/// [`selection::class`].
pub struct ProtocolHistory(AtomicU32);

impl ProtocolHistory {
    /// Nothing was seen yet.
    pub fn new() -> ProtocolHistory {
        ProtocolHistory(AtomicU32::new(if Protocol::forced() == Some(Protocol::Fragments) { u32::MAX } else { 0 }))
    }

    /// A message of so many bytes of such memory was sent with a protocol. The state's lock is held.
    pub fn record(&self, (bytes, memory): (usize, Memory), protocol: Protocol) {
        let (before, bit) = (self.0.load(Ordering::Relaxed), 1 << selection::class(bytes, memory));
        let after = if protocol == Protocol::Fragments { before | bit } else { before & !bit };
        if after != before {
            self.0.store(after, Ordering::Relaxed);
        }
    }

    /// Whether the last message of that size was sent in fragments.
    pub fn is_fragments(&self, bytes: usize, memory: Memory) -> bool {
        self.0.load(Ordering::Relaxed) & 1 << selection::class(bytes, memory) != 0
    }
}
