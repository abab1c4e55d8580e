//! Bytes on the medium. All numbers are little-endian.
//!
//! Frame: 0 magic u16 · 2 kind u8 · 3 pad u8 · 4 payload length u32 · 8 immediate u64 · 16 pad zeros · 16 + pad payload.
//!
//! Published per address of an interface: 0 wire id u32 · 4 interface u8 · 5 family u8 (4 or 6) · 6 prefix length u8 · 7
//! flags u8 (bit 0 loopback) · 8 port u16 · 10 zero u16 · 12 Mb/s u32 · 16 job u64 · 24 network u64 · 32 address [16].

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use opal_core::framework::btl::{AM_IDS, PREFIX_BYTES_MAX};

/// What both ends must agree on; the number changes whenever anything in this file or in the handshake does.
pub const FORMAT: &str =
    "btl/tcp 2: frame 16 magic kind pad length immediate; hello 64, answer 64, proof 32, verdict 1";

/// Hash (FNV-1a) of the format.
pub const WIRE_ID: u32 = fnv(FORMAT.as_bytes()) as u32;

/// Bytes of a frame before its payload and what pads it.
pub const HEADER_BYTES: usize = 16;
/// The most zeros before a payload.
pub const PAD_MAX: usize = LONG_AT - HEADER_BYTES;
/// Where in its frame a long payload begins, behind its prefix. The system copies it to about that place in a page: 16 bytes
/// behind, it copies the page-aligned buffers of most programs at 3 GB/s on AMD's Zen 3 (`opal_core::mem::is_aliased_4k`), and
/// 64 KiB one way take 52 instead of 27 µs.
pub const LONG_AT: usize = 64;
const _: () = assert!(PREFIX_BYTES_MAX <= PAD_MAX);
/// Largest payload of a frame, whatever a peer is configured for.
pub const PAYLOAD_MAX: usize = 1 << 20;
const MAGIC: u16 = 0x6f74;

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
        bytes[..2].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[2] = self.kind;
        bytes[3] = self.pad as u8;
        bytes[4..8].copy_from_slice(&(self.bytes as u32).to_le_bytes());
        bytes[8..].copy_from_slice(&self.immediate.to_le_bytes());
        bytes
    }

    /// From a peer's bytes.
    #[inline(always)]
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Header, Malformed> {
        let length = u32_at(bytes, 4) as usize;
        let (kind, pad) = (bytes[2], bytes[3] as usize);
        let sound = u16_at(bytes, 0) == MAGIC && (kind as usize) < AM_IDS && pad <= PAD_MAX && length <= PAYLOAD_MAX;
        if sound { Ok(Header { kind, pad, bytes: length, immediate: u64_at(bytes, 8) }) } else { Err(Malformed) }
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

/// Bytes of an entry.
pub const RECORD_BYTES: usize = 48;

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
        to.extend(WIRE_ID.to_le_bytes());
        to.extend([self.interface, family, self.prefix, u8::from(self.loopback)]);
        to.extend(self.port.to_le_bytes());
        to.extend([0; 2]);
        to.extend(self.mbps.to_le_bytes());
        to.extend(self.job.to_le_bytes());
        to.extend(self.network.to_le_bytes());
        to.extend(address);
    }

    fn parse(bytes: &[u8; RECORD_BYTES]) -> Option<AddressRecord> {
        let address = match bytes[5] {
            4 if bytes[6] <= 32 => IpAddr::V4(Ipv4Addr::new(bytes[32], bytes[33], bytes[34], bytes[35])),
            6 if bytes[6] <= 128 => {
                let mut octets = [0; 16];
                octets.copy_from_slice(&bytes[32..]);
                IpAddr::V6(Ipv6Addr::from(octets))
            }
            _ => return None,
        };
        Some(AddressRecord {
            interface: bytes[4],
            address,
            prefix: bytes[6],
            loopback: bytes[7] & 1 != 0,
            port: u16_at(bytes, 8),
            mbps: u32_at(bytes, 12),
            job: u64_at(bytes, 16),
            network: u64_at(bytes, 24),
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

/// Little-endian number at an offset.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Little-endian number at an offset.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Little-endian number at an offset.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Most addresses that a process publishes.
pub const RECORDS_MAX: usize = 32;
