//! Messages between processes outside all communicators: what is said to make a communicator, and what one-sided communication
//! sends ([`window`]).
//!
//! A message is found by its sender and its [`Key`]. Context numbers are local to their process, so a key names
//! the *receiver's* number, as messages do. Messages of one sender with one key keep their order. A message waits here
//! until it is asked for, however early it came.
//!
//! **Invariant:** nothing is locked while the PML runs.

use crate::error::{Class, Fault, Result};
use crate::framework::pml;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use opal_core::sync::ConditionalLock;

pub mod allgather;
pub mod window;

pub use window::WindowPacket;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u64; 3]);

/// What messages belong to. Those of different conversations never match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Conversation {
    /// All of a communicator; the number counts its collective constructors.
    Collective = 1,
    /// The same, and what they agree on afterwards.
    Broadcast = 2,
    /// All of a new communicator: its collectives.
    Activation = 3,
    /// The members of a group inside a communicator; the number is the user's tag.
    Subgroup = 4,
    /// Two leaders over a communicator that both are in; the number is the user's tag.
    Leaders = 5,
    /// The members of a group without a communicator; the number is a hash.
    Group = 6,
    /// The leaders of two groups without a communicator.
    GroupLeaders = 7,
    /// As `Broadcast`, without a communicator.
    GroupBroadcast = 8,
    /// Two processes of a communicator that is disconnected: whether each would forget the other.
    Parting = 9,
}

impl Key {
    /// About the communicator that the receiver knows by its context number `context`.
    pub fn of(conversation: Conversation, context: u32, number: u64) -> Key {
        Key([conversation as u64, u64::from(context), number])
    }

    /// About what has no communicator.
    pub fn named(conversation: Conversation, name: [u64; 2]) -> Key {
        Key([conversation as u64 | NAMED, name[0], name[1]])
    }

    /// The same conversation as a process knows it by its own context number.
    pub fn at(self, context: u32) -> Key {
        let Key([kind, _, number]) = self;
        if kind & NAMED != 0 { self } else { Key([kind, u64::from(context), number]) }
    }
}

const NAMED: u64 = 1 << 32;
/// Three words of key, and the message's length in words.
const HEAD_WORDS: usize = 4;

#[derive(Default)]
struct Message {
    words: Vec<u64>,
    length: usize,
}

struct Store {
    messages: BTreeMap<(u32, Key), VecDeque<Message>>,
}

static STORE: ConditionalLock<Store> = ConditionalLock::new(Store { messages: BTreeMap::new() });

/// Makes sure that what a process writes arrives; `Err` if it was lost.
pub fn connect(process: u32) -> Result<()> {
    pml::selected().reach(process).map(drop)
}

/// Sends a message.
pub fn send(process: u32, key: Key, words: &[u64]) -> Result<()> {
    let room = (pml::selected().reach(process)? / 8).saturating_sub(HEAD_WORDS);
    if room == 0 {
        return Err(Fault::new(Class::Intern).because("the transport carries no out-of-band messages"));
    }
    let Key(key) = key;
    let mut packet = Vec::new();
    // An empty message is one packet, too.
    let mut rest = words;
    loop {
        let (now, later) = rest.split_at(rest.len().min(room));
        packet.clear();
        for word in key.iter().chain([&(words.len() as u64)]).chain(now) {
            packet.extend_from_slice(&word.to_le_bytes());
        }
        pml::selected().send_oob(process, &packet)?;
        rest = later;
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// The first message of a sender with a key, if all of it is here.
pub fn take(process: u32, key: Key) -> Option<Vec<u64>> {
    let mut store = STORE.lock();
    let queue = store.messages.get_mut(&(process, key))?;
    let first = queue.pop_front_if(|message| message.words.len() == message.length)?;
    if queue.is_empty() {
        store.messages.remove(&(process, key));
    }
    Some(first.words)
}

/// As [`take`], for code that waits: `Err` if the sender can no longer be reached and its message is not here.
pub fn take_or_fail(process: u32, key: Key) -> Result<Option<Vec<u64>>> {
    match take(process, key) {
        None => connect(process).map(|()| None),
        message => Ok(message),
    }
}

/// For the PML: a packet arrived; its bytes may be anything. `false` if it is malformed.
pub fn deliver(process: u32, packet: &[u8]) -> bool {
    if let Some((head, records)) = WindowPacket::split(packet) {
        return head.deliver(process, records);
    }
    let mut words = packet.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
    let (Some(kind), Some(context), Some(number), Some(length)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    let mut store = STORE.lock();
    let queue = store.messages.entry((process, Key([kind, context, number]))).or_default();
    if queue.back().is_none_or(|last| last.words.len() == last.length) {
        queue.push_back(Message { words: Vec::new(), length: length as usize });
    }
    let Some(message) = queue.back_mut() else { return false };
    let missing = message.length - message.words.len();
    message.words.extend(words.take(missing));
    true
}

/// Throws away what was said about a context number of this process, which will be another communicator's.
pub fn forget(context: u32) {
    let about = |Key([kind, number, _]): &Key| kind & NAMED == 0 && *number == u64::from(context);
    let mut store = STORE.lock();
    if !store.messages.is_empty() {
        store.messages.retain(|(_, key), _| !about(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn packet(key: Key, length: u64, words: &[u64]) -> Vec<u8> {
        let Key(head) = key;
        head.iter().chain([&length]).chain(words).flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn packets_become_messages_in_order() {
        opal_core::sync::raise_threads();
        let key = Key::of(Conversation::Subgroup, 77, 5);
        for (length, words) in [(3, &[1, 2][..]), (3, &[3]), (0, &[]), (1, &[9])] {
            assert!(deliver(4, &packet(key, length, words)));
        }
        assert_eq!(take(5, key), None);
        assert_eq!(take(4, key.at(78)), None);
        assert_eq!(take(4, key), Some(vec![1, 2, 3]));
        assert_eq!(take(4, key), Some(vec![]));
        assert_eq!(take(4, key), Some(vec![9]));
        assert_eq!(take(4, key), None);
    }

    #[test]
    fn what_makes_no_sense_disturbs_nobody() {
        opal_core::sync::raise_threads();
        assert!(!deliver(4, &[1; 31]));
        let key = Key::of(Conversation::Subgroup, 78, 5);
        assert!(deliver(4, &packet(key, 1, &[1, 2, 3])));
        assert_eq!(take(4, key), Some(vec![1]));
        assert!(deliver(4, &packet(key, u64::MAX, &[1, 2, 3])));
        assert_eq!(take(4, key), None);
        forget(78);
        assert!(deliver(4, &packet(key, 1, &[8])));
        assert_eq!(take(4, key), Some(vec![8]));
    }
}
