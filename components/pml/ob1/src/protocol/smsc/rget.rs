//! How far a single copy is: on the receiver's side, which reads (RGET), and on the sender's, which may write a part (push).

use crate::checksum;
use crate::peers::endpoint::Endpoint;
use crate::raw::{Contiguous, UserBuffer};
use ompi_core::status::Status;
use opal_core::sync::Ordering;

/// The receiver's side.
pub struct Rget {
    /// The user's buffer.
    pub buffer: UserBuffer,
    /// The same as one run.
    pub target: Contiguous,
    /// The receive's status at the end.
    pub status: Status,
    /// The sender's handle.
    pub sender: u64,
    /// Where the data lies at the sender.
    pub remote: u64,
    /// Bytes wanted.
    pub wanted: usize,
    /// How much was read.
    pub read: usize,
    /// The end of what this side reads.
    pub end: usize,
    /// How the part from `end` on stands.
    pub offer: Offer,
    /// The claim word of the offer.
    pub claim_word: Option<u32>,
    /// A read failed.
    pub failed: bool,
    /// CRC32C of the sender's data, if messages have checksums.
    pub checksum: u32,
    /// The sender computes: this side copies all, and the selection of protocols does not hear of it.
    pub alone: bool,
}

/// The part of a message that its receiver offers to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// There is none: the receiver reads everything.
    None,
    /// The side that changes the claim word first copies it.
    Open,
    /// The sender has written it.
    Pushed,
    /// The sender claimed it and could not write it.
    PushFailed,
}

/// The sender's side.
#[derive(Clone, Copy)]
pub enum PushState {
    /// The RTS had no address: the data cannot be copied once.
    NoAddress,
    /// The RTS named the address of the data.
    AddressSent,
    /// The receiver offered a part.
    Offered(PushRange),
    /// The part is written, or somebody else's to copy.
    Done,
}

/// What the sender may write, or already does.
#[derive(Clone, Copy)]
pub struct PushRange {
    /// The receiver's handle.
    pub to: u64,
    /// Where its buffer begins.
    pub remote: u64,
    /// How far it is written.
    pub at: usize,
    /// Its end.
    pub end: usize,
    /// The receiver's claim word.
    pub claim_word: u32,
    /// The sender has claimed it.
    pub claimed: bool,
}

impl Rget {
    /// Of `wanted` bytes at `remote`, which the sender's operation `sender` announced.
    pub fn new(
        buffer: UserBuffer,
        target: Contiguous,
        status: Status,
        wanted: usize,
        sender: u64,
        remote: u64,
    ) -> Rget {
        Rget {
            buffer,
            target,
            status,
            sender,
            remote,
            wanted,
            read: 0,
            end: wanted,
            offer: Offer::None,
            claim_word: None,
            failed: false,
            checksum: 0,
            alone: false,
        }
    }

    /// Offers the part from `begin` on.
    pub fn offer(&mut self, begin: usize, claim_word: u32) {
        (self.end, self.offer, self.claim_word) = (begin, Offer::Open, Some(claim_word));
    }

    /// This side reads the rest itself.
    pub fn keep_rest(&mut self) {
        (self.end, self.offer) = (self.wanted, Offer::None);
    }

    /// Whether this side has read its part.
    pub fn is_read(&self) -> bool {
        self.read == self.end
    }

    /// Whether what was copied is not what the sender has.
    pub fn is_damaged(&self) -> bool {
        checksum::is_on() && self.target.checksum(self.wanted) != self.checksum
    }

    /// Where to divide the message: near the middle, `head_start` bytes later, and so that no page of the receiver's buffer
    /// is written by both sides.
    pub fn middle(&self, head_start: u64) -> usize {
        let begins = self.target.address();
        let middle = begins.saturating_add(self.wanted as u64 / 2 + head_start).next_multiple_of(PAGE);
        (middle.saturating_sub(begins) as usize).min(self.wanted)
    }
}

/// Which side claims.
#[derive(Clone, Copy)]
pub enum Side {
    /// The owner of the claim word.
    Receiver = 2,
    /// Its peer.
    Sender = 3,
}

/// Opens one of our claim words for the receive with this handle.
pub fn open(endpoint: &Endpoint, index: u32, handle: u64) {
    if let Some(word) = endpoint.claim_word(true, index) {
        // Release pairs with the Acquire in `claim`.
        word.store(handle << STATE_BITS | OPEN, Ordering::Release);
    }
}

/// Claims an open word for a side; `handle` is the receiver's. The word may hold anything: the other side writes it, too.
pub fn claim(endpoint: &Endpoint, side: Side, index: u32, handle: u64) -> bool {
    let own = matches!(side, Side::Receiver);
    let Some(word) = endpoint.claim_word(own, index) else { return false };
    let (open, claimed) = (handle << STATE_BITS | OPEN, handle << STATE_BITS | side as u64);
    // One of both sides succeeds. Acquire pairs with the Release in `open`.
    word.compare_exchange(open, claimed, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

const STATE_BITS: u32 = 2;
const OPEN: u64 = 1;
/// The granularity of the division.
pub const PAGE: u64 = 4096;
