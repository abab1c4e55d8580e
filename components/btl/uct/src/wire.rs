//! What stands in a message, in the published address, and in a key of memory.
//!
//! The kind of a message is its number among UCT's active messages: an am id, or [`LEAVES`], which has no payload.
//!
//! | offset | bytes | header of a message |
//! |---|---|---|
//! | 0 | 4 | [`WIRE_ID`] |
//! | 4 | 4 | rank of the sender |
//! | 8 | 8 | token of the pair, see [`token`] |
//! | 16 | 8 | immediate |
//! | 24 | | payload |
//!
//! | offset | bytes | address |
//! |---|---|---|
//! | 0 | 4 | [`WIRE_ID`] |
//! | 4 | 4 | bytes of the longest message that is received |
//! | 8 | 2 | version of UCX: the major number, then the minor one |
//! | 10 | | the transport that carries messages: its name, its device and its interface as UCT writes them, each behind a byte with its length |
//! | | | the same of the transport that moves memory, or nothing |
//!
//! | offset | bytes | key of memory |
//! |---|---|---|
//! | 0 | 1 | length of UCT's key |
//! | 1 | | UCT's key |
//!
//! Little-endian.

use alloc::vec::Vec;
use core::ops::Range;
use hmac::{Hmac, KeyInit, Mac};
use memoffset::span_of;
use opal_core::framework::btl::Job;
use sha2::Sha256;

/// What both ends must agree on.
pub const FORMAT: &str =
    "btl/uct 1: header 24 rank token immediate; address 10 longest version transport device interface memory";

/// Stands for the format: another number for another one.
pub const WIRE_ID: u32 = 0x0dc7_0001;
/// Bytes before a payload.
pub const HEADER_BYTES: usize = size_of::<Layout>();
/// Instead of an am id: the sender leaves MPI, and what ends afterwards was not lost.
pub const LEAVES: u8 = 8;
/// The longest of UCT's addresses that is believed.
pub const ADDRESS_MAX: usize = 128;

/// A header in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Rank of the sender.
    pub from: u32,
    /// The pair's token.
    pub token: u64,
    /// The immediate.
    pub immediate: u64,
}

impl Header {
    /// As bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[span_of!(Layout, wire_id)].copy_from_slice(&WIRE_ID.to_le_bytes());
        bytes[span_of!(Layout, from)].copy_from_slice(&self.from.to_le_bytes());
        bytes[span_of!(Layout, token)].copy_from_slice(&self.token.to_le_bytes());
        bytes[span_of!(Layout, immediate)].copy_from_slice(&self.immediate.to_le_bytes());
        bytes
    }

    /// From bytes; `None` for those of another format.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
        let word = |range| u32::from_le_bytes(part(bytes, range));
        let long = |range| u64::from_le_bytes(part(bytes, range));
        (word(span_of!(Layout, wire_id)) == WIRE_ID).then(|| Header {
            from: word(span_of!(Layout, from)),
            token: long(span_of!(Layout, token)),
            immediate: long(span_of!(Layout, immediate)),
        })
    }
}

/// What only processes of the job can write into a message of `from` to `to`.
pub fn token(job: &Job, from: u32, to: u32) -> u64 {
    let mut mac = Hmac::<Sha256>::new_from_slice(&job.secret).expect("HMAC takes keys of any length");
    mac.update(b"btl/uct");
    mac.update(&job.number.to_le_bytes());
    mac.update(&from.to_le_bytes());
    mac.update(&to.to_le_bytes());
    let hash = mac.finalize().into_bytes();
    u64::from_le_bytes(*hash.first_chunk().expect("the hash has 32 bytes"))
}

/// Where an interface of UCT's is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Name of the transport.
    pub transport: &'a [u8],
    /// Its device, as UCT writes it.
    pub device: &'a [u8],
    /// The interface, as UCT writes it.
    pub interface: &'a [u8],
}

/// What a process publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// Bytes of the longest message that is received, with its header.
    pub longest: u32,
    /// Version of UCX: the major number, then the minor one.
    pub version: [u8; 2],
    /// Where messages go.
    pub messages: Place<'a>,
    /// Where memory is moved.
    pub memory: Option<Place<'a>>,
}

impl<'a> Address<'a> {
    /// As bytes; `None` where UCT's part is too long.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let places = [Some(&self.messages), self.memory.as_ref()];
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&WIRE_ID.to_le_bytes());
        bytes.extend_from_slice(&self.longest.to_le_bytes());
        bytes.extend_from_slice(&self.version);
        for place in places.into_iter().flatten() {
            for part in [place.transport, place.device, place.interface] {
                bytes.push(u8::try_from(part.len()).ok().filter(|bytes| usize::from(*bytes) <= ADDRESS_MAX)?);
                bytes.extend_from_slice(part);
            }
        }
        Some(bytes)
    }

    /// From bytes; `None` if it cannot be one.
    pub fn parse(bytes: &'a [u8]) -> Option<Address<'a>> {
        let (head, mut rest) = bytes.split_first_chunk::<HEAD_BYTES>()?;
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let version = [head[8], head[9]];
        let longest = word(4);
        let messages = place(&mut rest)?;
        let memory = if rest.is_empty() { None } else { Some(place(&mut rest)?) };
        (word(0) == WIRE_ID && rest.is_empty()).then_some(Address { longest, version, messages, memory })
    }
}

/// Takes what stands before the rest.
fn place<'a>(rest: &mut &'a [u8]) -> Option<Place<'a>> {
    let mut next = || {
        let (bytes, after) = rest.split_first()?;
        let (part, after) =
            after.split_at_checked(usize::from(*bytes)).filter(|(part, _)| part.len() <= ADDRESS_MAX)?;
        *rest = after;
        Some(part)
    };
    let place = Place { transport: next()?, device: next()?, interface: next()? };
    (!place.transport.is_empty()).then_some(place)
}

/// The wire id of a published address, whatever else there is in it.
pub fn wire_id_of(address: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*address.first_chunk()?))
}

/// A key of UCT's as peers import it; `None` if it is too long to travel.
pub fn key(packed: &[u8]) -> Option<Vec<u8>> {
    let bytes = u8::try_from(packed.len()).ok()?;
    Some(core::iter::once(bytes).chain(packed.iter().copied()).collect())
}

/// UCT's key, which has so many bytes; `None` if it cannot be one.
pub fn packed_key(key: &[u8], bytes: usize) -> Option<&[u8]> {
    let (said, packed) = key.split_first()?;
    (usize::from(*said) == bytes && packed.len() == bytes).then_some(packed)
}

fn part<const N: usize>(bytes: &[u8; HEADER_BYTES], range: Range<usize>) -> [u8; N] {
    bytes[range].try_into().expect("a field is as long as its type")
}

/// No value of it ever exists: it says where fields lie.
#[repr(C)]
struct Layout {
    wire_id: u32,
    from: u32,
    token: u64,
    immediate: u64,
}

const HEAD_BYTES: usize = 10;
