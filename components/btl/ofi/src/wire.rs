//! What stands in a message, and in the published address.
//!
//! | offset | bytes | header of a message |
//! |---|---|---|
//! | 0 | 24 | head of all transports over such libraries (`opal-core/fabric/src/head.rs`), with [`WIRE_ID`] |
//! | 24 | 4 | number of the message among those from this sender to this receiver |
//! | 28 | 1 | am id, or [`CREDITS`] in a message that only returns credits: it has no number and no payload |
//! | 29 | 1 | zero |
//! | 30 | 2 | credits that are returned: messages of the receiver's which the sender has handed out since it last said so |
//! | 32 | | payload |
//!
//! | offset | bytes | address |
//! |---|---|---|
//! | 0 | 4 | [`WIRE_ID`] |
//! | 4 | 4 | format of the fabric's address |
//! | 8 | 4 | protocol of the provider |
//! | 12 | 4 | version of that protocol |
//! | 16 | 4 | bytes of a buffer that receives |
//! | 20 | 1 | length of the provider's name |
//! | 21 | 1 | length of the fabric's address |
//! | 22 | 2 | credits: how many messages each other process may send before some of them are returned |
//! | 24 | | the provider's name, then the fabric's address |
//!
//! | offset | bytes | key of memory |
//! |---|---|---|
//! | 0 | 8 | the fabric's key |
//! | 8 | 8 | what is subtracted from addresses |
//!
//! Little-endian.

use alloc::vec::Vec;
use core::ops::Range;
use memoffset::span_of;
use opal_core::framework::btl::Job;
use opal_fabric::head::{self, HEAD_BYTES, Head};

/// What both ends must agree on.
pub const FORMAT: &str = "btl/ofi 2: header 32 rank token immediate number am returned; address 24 format protocol version buffer credits provider";

/// The name by which tokens are made.
pub const LABEL: &str = "btl/ofi";
/// Stands for the format: another number for another one.
pub const WIRE_ID: u32 = 0x0f1b_0002;
/// Bytes before a payload.
pub const HEADER_BYTES: usize = size_of::<Layout>();
/// Instead of an am id: the message only returns credits.
pub const CREDITS: u8 = 0xff;
/// The least: one is returned while the other one is under way.
pub const WINDOW_MIN: u16 = 2;
/// The most messages that a process may have on their way to another one.
pub const WINDOW_MAX: u16 = 1 << 14;
/// The longest address of a fabric that is believed.
pub const FABRIC_ADDRESS_MAX: usize = 128;

/// A header in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Sender, token and immediate.
    pub head: Head,
    /// Number of the message.
    pub number: u32,
    /// Kind of the message, as the sender says.
    pub am: u8,
    /// Credits that it returns.
    pub returned: u16,
}

impl Header {
    /// As bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[span_of!(Layout, head)].copy_from_slice(&self.head.encode(WIRE_ID));
        bytes[span_of!(Layout, number)].copy_from_slice(&self.number.to_le_bytes());
        bytes[span_of!(Layout, am)].copy_from_slice(&[self.am]);
        bytes[span_of!(Layout, returned)].copy_from_slice(&self.returned.to_le_bytes());
        bytes
    }

    /// From bytes; `None` for those of another format.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
        let head = Head::parse(&part(bytes, span_of!(Layout, head)), WIRE_ID)?;
        if bytes[span_of!(Layout, zero)] != [0] {
            return None;
        }
        let [am] = part(bytes, span_of!(Layout, am));
        Some(Header {
            head,
            number: u32::from_le_bytes(part(bytes, span_of!(Layout, number))),
            am,
            returned: u16::from_le_bytes(part(bytes, span_of!(Layout, returned))),
        })
    }
}

/// A key for memory of this process that others cannot guess: the one with this number.
pub fn secret_key(job: &Job, number: u64) -> u64 {
    head::secret("btl/ofi memory", job, [&job.index.to_le_bytes(), &number.to_le_bytes()])
}

/// What a peer needs to know to reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The fabric's key.
    pub key: u64,
    /// What is subtracted from an address there.
    pub origin: u64,
}

/// Length of a [`Key`].
pub const KEY_BYTES: usize = 16;

impl Key {
    /// As bytes.
    pub fn encode(&self) -> [u8; KEY_BYTES] {
        let mut bytes = [0; KEY_BYTES];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..].copy_from_slice(&self.origin.to_le_bytes());
        bytes
    }

    /// From bytes: any that are as many.
    pub fn parse(bytes: &[u8; KEY_BYTES]) -> Key {
        let half = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        Key { key: half(0), origin: half(8) }
    }
}

/// A published address in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// libfabric's number for the format of `address`.
    pub format: u32,
    /// What the provider speaks.
    pub protocol: u32,
    /// The version of that.
    pub protocol_version: u32,
    /// The longest message that it takes, with its header.
    pub receive_bytes: u32,
    /// How many messages of each other process may be on their way to it.
    pub window: u16,
    /// The provider's name.
    pub provider: &'a [u8],
    /// The endpoint's address in the fabric.
    pub address: &'a [u8],
}

impl<'a> Address<'a> {
    /// As bytes; `None` where a part is too long.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let provider = u8::try_from(self.provider.len()).ok()?;
        let address =
            u8::try_from(self.address.len()).ok().filter(|bytes| usize::from(*bytes) <= FABRIC_ADDRESS_MAX)?;
        let mut bytes = Vec::with_capacity(ADDRESS_HEAD_BYTES + self.provider.len() + self.address.len());
        for word in [WIRE_ID, self.format, self.protocol, self.protocol_version, self.receive_bytes] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&[provider, address]);
        bytes.extend_from_slice(&self.window.to_le_bytes());
        bytes.extend_from_slice(self.provider);
        bytes.extend_from_slice(self.address);
        Some(bytes)
    }

    /// From bytes; `None` if it cannot be one.
    pub fn parse(bytes: &'a [u8]) -> Option<Address<'a>> {
        let (head, rest) = bytes.split_first_chunk::<ADDRESS_HEAD_BYTES>()?;
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let [provider, address] = [head[20], head[21]].map(usize::from);
        let window = u16::from_le_bytes([head[22], head[23]]);
        let is_sound = word(0) == WIRE_ID
            && (1..=FABRIC_ADDRESS_MAX).contains(&address)
            && (WINDOW_MIN..=WINDOW_MAX).contains(&window);
        if !is_sound || rest.len() != provider + address {
            return None;
        }
        Some(Address {
            format: word(4),
            protocol: word(8),
            protocol_version: word(12),
            receive_bytes: word(16),
            window,
            provider: &rest[..provider],
            address: &rest[provider..],
        })
    }
}

fn part<const N: usize>(bytes: &[u8; HEADER_BYTES], range: Range<usize>) -> [u8; N] {
    bytes[range].try_into().expect("a field is as long as its type")
}

/// No value of it ever exists: it says where fields lie.
#[repr(C)]
struct Layout {
    head: [u8; HEAD_BYTES],
    number: u32,
    am: u8,
    zero: u8,
    returned: u16,
}

const ADDRESS_HEAD_BYTES: usize = 24;
