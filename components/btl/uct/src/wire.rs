//! What stands in a message, in the published address, and in a key of memory.
//!
//! The kind of a message is its number among UCT's active messages: an am id, or [`LEAVES`], which has no payload.
//!
//! | offset | bytes | header of a message |
//! |---|---|---|
//! | 0 | 24 | head of all transports over such libraries (`opal-core/fabric/src/head.rs`), with [`WIRE_ID`] |
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
use opal_fabric::head::HEAD_BYTES;

/// What both ends must agree on.
pub const FORMAT: &str =
    "btl/uct 1: header 24 rank token immediate; address 10 longest version transport device interface memory";

/// The name by which tokens are made.
pub const LABEL: &str = "btl/uct";
/// Stands for the format: another number for another one.
pub const WIRE_ID: u32 = 0x0dc7_0001;
/// Bytes before a payload.
pub const HEADER_BYTES: usize = HEAD_BYTES;
/// Instead of an am id: the sender leaves MPI, and what ends afterwards was not lost.
pub const LEAVES: u8 = 8;
/// The longest of UCT's addresses that is believed.
pub const ADDRESS_MAX: usize = 128;

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
        let (head, mut rest) = bytes.split_first_chunk::<ADDRESS_HEAD_BYTES>()?;
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

const ADDRESS_HEAD_BYTES: usize = 10;
