//! What waits for room in the transports to one process.

use crate::peers::endpoint::Endpoint;
use crate::raw::{UserBuffer, send_bytes};
use crate::wire::{self, PackedControl, REMOTE_KEY_BYTES_MAX, RTS_BYTES, RemoteKey};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use ompi_core::request::Id;
use opal_core::framework::btl::{AmId, Full};

/// Of one process.
#[derive(Default)]
pub struct Backlog {
    /// In the order in which they must leave.
    pub packets: VecDeque<Packet>,
    /// Long sends with fragments to send: their numbers among the operations.
    pub active_sends: VecDeque<u32>,
    /// Whether the process is in the list of pending peers.
    pub is_listed: bool,
}

/// A message that found no room.
pub enum Packet {
    /// A control message: to this operation of the peer.
    Control(u64, PackedControl),
    /// An RTS with its envelope, and the memory that its receiver may read.
    Rts(u64, [u8; RTS_BYTES], Option<Box<RemoteKey>>),
    /// An out-of-band message.
    Oob(Box<[u8]>),
    /// An eager send whose data is still in the user's buffer.
    Eager(QueuedSend),
}

/// An eager send that found no room. Its request completes when it is sent, unless it is synchronous.
pub struct QueuedSend {
    /// Its envelope.
    pub envelope: u64,
    /// The data.
    pub buffer: UserBuffer,
    /// The operation's handle if the send is synchronous.
    pub sync: Option<u64>,
    /// The request.
    pub request: Id,
}

impl Backlog {
    /// The envelope of the queued send with this request.
    pub fn envelope_of(&self, request: Id) -> Option<u64> {
        self.packets.iter().find_map(|packet| match packet {
            Packet::Eager(send) if send.request == request => Some(send.envelope),
            _ => None,
        })
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.active_sends.is_empty()
    }
}

impl Packet {
    /// Tries to send it.
    pub fn send(&mut self, endpoint: &Endpoint) -> Result<(), Full> {
        match self {
            Packet::Control(handle, control) => send_bytes(endpoint, wire::CONTROL, *handle, control.bytes()),
            Packet::Rts(envelope, rts, None) => send_bytes(endpoint, wire::RTS, *envelope, rts),
            Packet::Rts(envelope, rts, Some(key)) => send_with_key(endpoint, *envelope, rts, key),
            Packet::Oob(message) => send_bytes(endpoint, wire::OOB, 0, message),
            Packet::Eager(send) => send.send(endpoint),
        }
    }
}

fn send_with_key(endpoint: &Endpoint, envelope: u64, rts: &[u8; RTS_BYTES], key: &RemoteKey) -> Result<(), Full> {
    let mut payload = [0; RTS_BYTES + REMOTE_KEY_BYTES_MAX];
    let (numbers, place) = payload.split_first_chunk_mut().expect("the numbers come first");
    *numbers = *rts;
    let bytes = key.pack(place.first_chunk_mut().expect("the key's room"));
    send_bytes(endpoint, wire::RTS, envelope, &payload[..RTS_BYTES + bytes])
}

impl QueuedSend {
    /// Tries to send it.
    pub fn send(&mut self, endpoint: &Endpoint) -> Result<(), Full> {
        let QueuedSend { envelope, buffer, sync, .. } = self;
        let (am, bytes): (AmId, usize) = (wire::SYNC, buffer.bytes());
        match sync {
            None => buffer.send_whole(endpoint, wire::EAGER, *envelope),
            Some(handle) => buffer.send_part(endpoint.path(), am, *envelope, *handle, 0, bytes),
        }
    }
}
