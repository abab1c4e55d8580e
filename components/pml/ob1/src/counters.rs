//! What is counted for [`crate::pvars`], with the state's lock held and on no fast path.

use opal_core::mca::pvar::{Counter, Level};

/// Messages and RTS that no receive has matched yet, those of collectives included.
pub static UNEXPECTED: Level = Level::new();
/// Memory of eager messages that no receive has matched yet.
pub static UNEXPECTED_MEMORY: Level = Level::new();
/// How often a message was unexpected.
pub static WERE_UNEXPECTED: Counter = Counter::new();
/// RTS that were sent.
pub static RTS_SENT: Counter = Counter::new();
/// Receives of long messages, by protocol.
pub static SINGLE_COPIES: Counter = Counter::new();
/// As fragments.
pub static FRAGMENTED: Counter = Counter::new();
/// As fragments that are stored around the cache.
pub static STREAMED: Counter = Counter::new();
