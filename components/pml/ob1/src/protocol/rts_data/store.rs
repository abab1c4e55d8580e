//! RTS data of messages that no receive has matched yet, and the destination of RTS data that has not arrived yet.

use crate::slab::Slab;
use alloc::vec::Vec;
use opal_core::mem::Untrusted;

/// What is kept, by number.
pub struct RtsDataStore {
    kept: Slab<RtsData>,
    // Of all that is kept.
    bytes: usize,
}

enum RtsData {
    Kept(Vec<u8>),
    // Too much is kept already: the sender sends it again after CTS_RESEND.
    Refused,
}

/// Why RTS data was not kept.
#[derive(Debug, PartialEq, Eq)]
pub enum NotKept {
    /// Too much is kept already.
    Refused,
    /// It does not continue what is kept of the message.
    Malformed,
}

/// The last RTS of a process that RTS data follows.
#[derive(Clone, Copy)]
pub struct LastRts {
    /// The sender's handle.
    pub sender: u64,
    /// Where its RTS data goes.
    pub destination: Destination,
}

/// Where RTS data goes.
#[derive(Clone, Copy)]
pub enum Destination {
    /// Nowhere: nobody wants it, or none is expected.
    Dropped,
    /// Into the store, under this number.
    Kept(u32),
    /// To the long receive with this handle.
    Receive(u64),
}

impl LastRts {
    /// No RTS.
    pub const NONE: LastRts = LastRts { sender: 0, destination: Destination::Dropped };
}

impl RtsDataStore {
    /// Empty.
    pub const fn new() -> RtsDataStore {
        RtsDataStore { kept: Slab::new(), bytes: 0 }
    }

    /// A message of which nothing has arrived yet; returns its number.
    pub fn insert(&mut self) -> u32 {
        self.kept.insert(RtsData::Kept(Vec::new()))
    }

    /// Keeps the next part of a message.
    pub fn append(&mut self, number: u32, offset: usize, data: Untrusted<'_>) -> Result<(), NotKept> {
        let entry = self.kept.get_mut(number);
        let RtsData::Kept(kept) = entry else { return Err(NotKept::Refused) };
        if offset != kept.len() || data.len() > MOST - offset {
            return Err(NotKept::Malformed);
        }
        if self.bytes + data.len() > ALL_BYTES {
            self.bytes -= kept.len();
            *entry = RtsData::Refused;
            return Err(NotKept::Refused);
        }
        kept.resize(offset + data.len(), 0);
        data.copy_to(&mut kept[offset..]);
        self.bytes += data.len();
        Ok(())
    }

    /// Takes what was kept of a message; empty if nothing was.
    pub fn take(&mut self, number: u32) -> Vec<u8> {
        let RtsData::Kept(kept) = self.kept.remove(number) else { return Vec::new() };
        self.bytes -= kept.len();
        kept
    }

    /// Whether what arrived of a message was not kept.
    pub fn is_refused(&self, number: u32) -> bool {
        matches!(self.kept.get(number), RtsData::Refused)
    }

    /// How many bytes are kept in all.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing is kept, and no message has a number.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        (0..self.kept.numbers()).all(|number| self.kept.find(number).is_none()) && self.bytes == 0
    }
}

/// The most that is kept of a message.
pub const MOST: usize = 64 << 10;
/// The most that is kept in all: a peer that announces many long messages before anybody receives them does not fill this
/// process's memory.
pub const ALL_BYTES: usize = 4 << 20;
