//! The queue: messages that were sent and are not delivered yet.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use opal_core::framework::btl::{AmId, Full};
use opal_core::sync::{AtomicUsize, ConditionalLock, Ordering};

/// Messages in the order in which they were sent.
pub struct Queue {
    // How many there are, to look at without the lock.
    length: AtomicUsize,
    messages: ConditionalLock<VecDeque<Message>>,
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

/// What a short payload has at most.
pub const INLINE_BYTES: usize = 64;
const MOST_MESSAGES: usize = 256;

impl Queue {
    /// Empty.
    pub const fn new() -> Queue {
        Queue { length: AtomicUsize::new(0), messages: ConditionalLock::new(VecDeque::new()) }
    }

    /// Queues a message; the payload is made only if there is room.
    pub fn push(&self, am: AmId, immediate: u64, payload: impl FnOnce() -> Payload) -> Result<(), Full> {
        let mut messages = self.messages.lock();
        if messages.len() == MOST_MESSAGES {
            return Err(Full);
        }
        messages.push_back(Message { am, immediate, payload: payload() });
        self.length.store(messages.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Takes the next message.
    #[inline(always)]
    pub fn pop(&self) -> Option<Message> {
        // Relaxed: a message that another thread just queued is seen by the next poll.
        if self.length.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut messages = self.messages.lock();
        let message = messages.pop_front();
        self.length.store(messages.len(), Ordering::Relaxed);
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
