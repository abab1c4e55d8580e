//! Frames and addresses as they travel. All numbers are little-endian.
//!
//! Frame: 0 magic u16 · 2 kind u8 · 3 pad u8 · 4 payload length u32 · 8 immediate u64 · 16 pad zeros · 16 + pad payload.
//!
//! Kind 8 is no message but an acknowledgement: its immediate says how many bytes of the stream have come. It has no payload,
//! and is part of the stream that it travels in. A frame of kind 255 without payload says that its sender leaves a process of
//! another job, and is the last one.
//!
//! Frames follow each other in a stream. Where a connection is protected the stream is cut into records: `record`.
//!
//! Published per address of an interface: 0 wire id u32 · 4 interface u8 · 5 family u8 (4 or 6) · 6 prefix length u8 ·
//! 7 flags u8 (bit 0 loopback) · 8 port u16 · 10 zero u16 · 12 Mb/s u32 · 16 job u64 · 24 network u64 · 32 address (16
//! bytes).

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;
use memoffset::span_of;
use opal_core::framework::btl::{AM_IDS, PREFIX_BYTES_MAX};

/// What both ends must agree on; the number changes whenever anything in this file, in the handshake or in `record` does.
pub const FORMAT: &str = "btl/tcp 7: frame 16 magic kind pad length immediate, kind 8 ack, leave 255; hello 80 mac, answer 80, proof 32, verdict 1; record 4 length and check, tag 16";

/// Hash (FNV-1a) of the format.
pub const WIRE_ID: u32 = fnv(FORMAT.as_bytes()) as u32;

/// Bytes of a frame before its payload and what pads it.
pub const HEADER_BYTES: usize = size_of::<HeaderFields>();
/// The most zeros before a payload.
pub const PAD_MAX: usize = LONG_AT - HEADER_BYTES;
/// Where in its frame a long payload begins, behind its prefix. The system copies it to about that place in a page: 16 bytes
/// behind, it copies the page-aligned buffers of most programs at 3 GB/s on AMD's Zen 3 (`opal_core::mem::is_aliased_4k`), and
/// 64 KiB one way take 52 instead of 27 µs.
pub const LONG_AT: usize = 64;
const _: () = assert!(PREFIX_BYTES_MAX <= PAD_MAX);
/// Largest payload of a frame, whatever a peer is configured for.
pub const PAYLOAD_MAX: usize = 1 << 20;
/// The kind of an acknowledgement.
pub const ACK: u8 = AM_IDS as u8;
const MAGIC: u16 = 0x6f74;
const LEAVE: u8 = 0xff;
const _: () = assert!(AM_IDS <= LEAVE as usize);

/// The last frame of a process that leaves one of another job: a header of a kind that no message has.
pub fn leave() -> [u8; HEADER_BYTES] {
    Header { kind: LEAVE, pad: 0, bytes: 0, immediate: 0 }.encode()
}

/// A frame's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub kind: u8,
    /// Zeros before the payload.
    pub pad: usize,
    pub bytes: usize,
    pub immediate: u64,
}

/// The bytes follow no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl Header {
    /// As bytes.
    #[inline(always)]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        debug_assert!(self.bytes <= PAYLOAD_MAX && self.pad <= PAD_MAX);
        let mut bytes = [0; HEADER_BYTES];
        bytes[span_of!(HeaderFields, magic)].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[span_of!(HeaderFields, kind)].copy_from_slice(&[self.kind]);
        bytes[span_of!(HeaderFields, pad)].copy_from_slice(&[self.pad as u8]);
        bytes[span_of!(HeaderFields, length)].copy_from_slice(&(self.bytes as u32).to_le_bytes());
        bytes[span_of!(HeaderFields, immediate)].copy_from_slice(&self.immediate.to_le_bytes());
        bytes
    }

    /// From a peer's bytes.
    #[inline(always)]
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Header, Malformed> {
        let length = u32_in(bytes, span_of!(HeaderFields, length)) as usize;
        let [kind] = bytes_in(bytes, span_of!(HeaderFields, kind));
        let [pad] = bytes_in(bytes, span_of!(HeaderFields, pad)).map(usize::from);
        let is_ours = u16_in(bytes, span_of!(HeaderFields, magic)) == MAGIC;
        let sound = is_ours && (kind < ACK || kind == ACK && length == 0) && pad <= PAD_MAX && length <= PAYLOAD_MAX;
        let immediate = u64_in(bytes, span_of!(HeaderFields, immediate));
        if sound { Ok(Header { kind, pad, bytes: length, immediate }) } else { Err(Malformed) }
    }
}

/// One address of an interface, as a process publishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRecord {
    /// The interface's number at its owner: that of its module.
    pub interface: u8,
    pub address: IpAddr,
    /// Bits of the address that its network has in common.
    pub prefix: u8,
    pub loopback: bool,
    pub port: u16,
    pub mbps: u32,
    /// The job.
    pub job: u64,
    /// Equal for processes that share all interfaces.
    pub network: u64,
}

/// Bytes of a record.
pub const RECORD_BYTES: usize = size_of::<RecordFields>();

impl AddressRecord {
    /// Appends it.
    pub fn push(&self, to: &mut Vec<u8>) {
        let (family, address) = match self.address {
            IpAddr::V4(address) => {
                let mut wide = [0; 16];
                wide[..4].copy_from_slice(&address.octets());
                (4, wide)
            }
            IpAddr::V6(address) => (6, address.octets()),
        };
        let mut bytes = [0; RECORD_BYTES];
        bytes[span_of!(RecordFields, wire_id)].copy_from_slice(&WIRE_ID.to_le_bytes());
        bytes[span_of!(RecordFields, interface)].copy_from_slice(&[self.interface]);
        bytes[span_of!(RecordFields, family)].copy_from_slice(&[family]);
        bytes[span_of!(RecordFields, prefix)].copy_from_slice(&[self.prefix]);
        bytes[span_of!(RecordFields, flags)].copy_from_slice(&[u8::from(self.loopback)]);
        bytes[span_of!(RecordFields, port)].copy_from_slice(&self.port.to_le_bytes());
        bytes[span_of!(RecordFields, mbps)].copy_from_slice(&self.mbps.to_le_bytes());
        bytes[span_of!(RecordFields, job)].copy_from_slice(&self.job.to_le_bytes());
        bytes[span_of!(RecordFields, network)].copy_from_slice(&self.network.to_le_bytes());
        bytes[span_of!(RecordFields, address)].copy_from_slice(&address);
        to.extend(bytes);
    }

    fn parse(bytes: &[u8; RECORD_BYTES]) -> Option<AddressRecord> {
        let [interface] = bytes_in(bytes, span_of!(RecordFields, interface));
        let [family] = bytes_in(bytes, span_of!(RecordFields, family));
        let [prefix] = bytes_in(bytes, span_of!(RecordFields, prefix));
        let [flags] = bytes_in(bytes, span_of!(RecordFields, flags));
        let octets: [u8; 16] = bytes_in(bytes, span_of!(RecordFields, address));
        let address = match family {
            4 if prefix <= 32 => IpAddr::V4(Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3])),
            6 if prefix <= 128 => IpAddr::V6(Ipv6Addr::from(octets)),
            _ => return None,
        };
        Some(AddressRecord {
            interface,
            address,
            prefix,
            loopback: flags & 1 != 0,
            port: u16_in(bytes, span_of!(RecordFields, port)),
            mbps: u32_in(bytes, span_of!(RecordFields, mbps)),
            job: u64_in(bytes, span_of!(RecordFields, job)),
            network: u64_in(bytes, span_of!(RecordFields, network)),
        })
    }
}

/// The wire id of what somebody published; that much is certain of another format, too.
pub fn wire_id_of(published: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*published.first_chunk()?))
}

/// All records that somebody published; `None` if the bytes follow no format.
pub fn records(published: &[u8]) -> Option<Vec<AddressRecord>> {
    let (chunks, rest) = published.as_chunks::<RECORD_BYTES>();
    if !rest.is_empty() || chunks.len() > RECORDS_MAX {
        return None;
    }
    chunks.iter().map(AddressRecord::parse).collect()
}

/// Hash of bytes: FNV-1a.
pub const fn fnv(bytes: &[u8]) -> u64 {
    let (mut hash, mut index) = (0xcbf2_9ce4_8422_2325u64, 0);
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}

/// The bytes of a field, which must be as long as it is.
#[inline(always)]
pub fn bytes_in<const N: usize>(bytes: &[u8], span: Range<usize>) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[span]);
    field
}

/// Little-endian number that is a field.
#[inline(always)]
pub fn u16_in(bytes: &[u8], span: Range<usize>) -> u16 {
    u16::from_le_bytes(bytes_in(bytes, span))
}

/// Little-endian number that is a field.
#[inline(always)]
pub fn u32_in(bytes: &[u8], span: Range<usize>) -> u32 {
    u32::from_le_bytes(bytes_in(bytes, span))
}

/// Little-endian number that is a field.
#[inline(always)]
pub fn u64_in(bytes: &[u8], span: Range<usize>) -> u64 {
    u64::from_le_bytes(bytes_in(bytes, span))
}

/// A frame's beginning. No value of it ever exists: it says where fields lie, as the next type does.
#[repr(C)]
struct HeaderFields {
    magic: u16,
    kind: u8,
    pad: u8,
    length: u32,
    immediate: u64,
}

#[repr(C)]
struct RecordFields {
    wire_id: u32,
    interface: u8,
    family: u8,
    prefix: u8,
    flags: u8,
    port: u16,
    zero: u16,
    mbps: u32,
    job: u64,
    network: u64,
    address: [u8; 16],
}

/// Most addresses that a process publishes.
pub const RECORDS_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_first_lines_say() {
        let frame = [span_of!(HeaderFields, magic), span_of!(HeaderFields, kind), span_of!(HeaderFields, pad)];
        assert_eq!(frame, [0..2, 2..3, 3..4]);
        assert_eq!((span_of!(HeaderFields, length), span_of!(HeaderFields, immediate)), (4..8, 8..16));
        let entry = [
            span_of!(RecordFields, wire_id),
            span_of!(RecordFields, interface),
            span_of!(RecordFields, family),
            span_of!(RecordFields, prefix),
            span_of!(RecordFields, flags),
            span_of!(RecordFields, port),
            span_of!(RecordFields, zero),
            span_of!(RecordFields, mbps),
            span_of!(RecordFields, job),
            span_of!(RecordFields, network),
            span_of!(RecordFields, address),
        ];
        assert_eq!(entry, [0..4, 4..5, 5..6, 6..7, 7..8, 8..10, 10..12, 12..16, 16..24, 24..32, 32..48]);
    }
}
