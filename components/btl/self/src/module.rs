//! The queue.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use opal_core::framework::btl::{AmId, Caps, Full};
use opal_core::sync::{AtomicU32, AtomicUsize, ConditionalLock, Ordering};

/// The one module.
pub static MODULE: Loopback = Loopback::new();

/// Abilities. The numbers are those of a copy within a core's own cache.
pub const CAPS: Caps = Caps {
    immediate_bits: 64,
    inline_bytes: INLINE_BYTES,
    eager_bytes: 8 * 1024,
    send_bytes: 64 * 1024,
    latency_ns: 20,
    bandwidth_mbps: 100_000,
    exclusivity: 65536,
    put: false,
    get: false,
    wire_id: 0,
};

/// A transport to this process.
pub struct Loopback {
    pub(crate) me: AtomicU32,
    waiting: AtomicUsize,
    queue: ConditionalLock<VecDeque<Message>>,
}

/// On its way.
pub struct Message {
    pub am: AmId,
    pub immediate: u64,
    pub payload: Payload,
}

/// Short ones need no memory of their own.
pub enum Payload {
    Short([u8; INLINE_BYTES], usize),
    Long(Box<[u8]>),
}

const INLINE_BYTES: usize = 64;
const MESSAGES: usize = 256;

impl Loopback {
    const fn new() -> Loopback {
        let queue = ConditionalLock::new(VecDeque::new());
        Loopback { me: AtomicU32::new(0), waiting: AtomicUsize::new(0), queue }
    }

    /// Queues a message; the payload is made only if there is room.
    pub fn push(&self, am: AmId, immediate: u64, payload: impl FnOnce() -> Payload) -> Result<(), Full> {
        let mut queue = self.queue.lock();
        if queue.len() == MESSAGES {
            return Err(Full);
        }
        queue.push_back(Message { am, immediate, payload: payload() });
        self.waiting.store(queue.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Takes the next one.
    #[inline(always)]
    pub fn pop(&self) -> Option<Message> {
        // Relaxed: a message that another thread just queued is seen by the next poll.
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut queue = self.queue.lock();
        let message = queue.pop_front();
        self.waiting.store(queue.len(), Ordering::Relaxed);
        message
    }
}

impl Payload {
    /// Room for `bytes`, zeroed.
    pub fn new(bytes: usize) -> Payload {
        if bytes <= INLINE_BYTES {
            return Payload::Short([0; INLINE_BYTES], bytes);
        }
        Payload::Long(alloc::vec![0; bytes].into_boxed_slice())
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Payload::Short(bytes, length) => &bytes[..*length],
            Payload::Long(bytes) => bytes,
        }
    }

    /// The bytes, to be filled.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Payload::Short(bytes, length) => &mut bytes[..*length],
            Payload::Long(bytes) => bytes,
        }
    }
}
