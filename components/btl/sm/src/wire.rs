//! Layout of a receive segment, and of the address that a process publishes.
//!
//! Segment, offsets in bytes, `n` ranks on the node; all zeros at first:
//!
//! | offset | bytes | content | written by |
//! |---|---|---|---|
//! | 0 | 4 | sleep flag: the owner wants to be woken, by its futex (1) or its wake-up socket (2) | owner; a sender that wakes it |
//! | 4 | 4 | futex that the owner sleeps on | senders |
//! | 64 | n / 8 | sender bitmap: bit s says that rank s has sent something; the owner's own bit, that the next row has news | each sender once |
//! | 2048 | n / 8 | closed bitmap: bit s says that rank s has given up its queues with the owner | each sender once |
//! | 4096 | 64 · n | how many slots the owner has consumed, a line per sender | owner |
//! | W | 1024 · n | words for the layer above, 64 per sender, 16 bytes apart | both |
//! | A | 8192 · n | slots, per sender | the sender |
//! | B | P · n | byte ring, per sender: P is 1 MiB for up to 8 ranks, 512 KiB for up to 32, else 256 KiB | the sender |
//! | C | 8388608 + 196608 · n | shared pool, for the layer above | anybody |
//!
//! W, A, B and C are each the end of the row before, rounded up to a page. No page is touched before it is used.
//!
//! Address, little-endian: 0 wire id u32 · 4 registered for membarrier u8, 3 bytes zero · 8 local rank u32 · 12 local size
//! u32 · 16 shmem address (24 bytes) · 40 wake-up socket's name (8 bytes) · 48 network namespace u64.

use alloc::vec::Vec;
use core::ops::Range;
use memoffset::span_of;
use opal_core::framework::shmem;
use opal_core::queue::fifo::{MIN_PAYLOAD_RING_BYTES, SLOT_RING_BYTES, SLOTS, payload_ring_bytes};
use opal_core::sys::WakeSocketName;

/// The owner says here that it sleeps.
pub const SLEEP_FLAG: usize = 0;
/// The owner sleeps on this word.
pub const FUTEX: usize = 4;
/// The bitmap of senders.
pub const SENDER_BITMAP: usize = 64;
/// The bitmap of senders that have given up.
pub const CLOSED_BITMAP: usize = 2048;
/// The published counts.
pub const CONSUMED: usize = PAGE;
/// The most ranks of a node: the first bitmap ends where the second begins.
pub const MAX_RANKS: u32 = ((CLOSED_BITMAP - SENDER_BITMAP) * 8) as u32;
const _: () = assert!(CLOSED_BITMAP + MAX_RANKS as usize / 8 <= CONSUMED);
const LINE: usize = 64;
const PAGE: usize = 4096;

/// What both ends must agree on; the number changes whenever anything in this file or in the queue does.
pub const FORMAT: &str = "btl/sm 8: 64-byte slots, parity 1, kind 3, length 6, immediate 54; 56 inline; pool offset length; \
     words; sleep_flag futex wake_socket; closed_bitmap; shared_pool";

/// Hash (FNV-1a) of the format and its sizes.
pub const WIRE_ID: u32 = {
    let mut hash = 0x811c_9dc5u32;
    let (text, mut index) = (FORMAT.as_bytes(), 0);
    while index < text.len() {
        hash = (hash ^ text[index] as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    hash = (hash ^ SLOTS).wrapping_mul(0x0100_0193);
    (hash ^ MIN_PAYLOAD_RING_BYTES as u32).wrapping_mul(0x0100_0193)
};

/// Offset of a sender's published count.
pub const fn consumed(sender: u32) -> usize {
    CONSUMED + sender as usize * LINE
}

/// Offset of a word shared with a sender.
pub const fn word(sender: u32, index: u32, ranks: u32) -> usize {
    let words = (CONSUMED + ranks as usize * LINE).next_multiple_of(PAGE);
    words + (sender * WORDS + index) as usize * WORD_BYTES
}

/// Words per sender.
pub const WORDS: u32 = 64;
const WORD_BYTES: usize = 16;

/// Offset of a sender's slots.
pub const fn slots(sender: u32, ranks: u32) -> usize {
    word(ranks, 0, ranks).next_multiple_of(PAGE) + sender as usize * SLOT_RING_BYTES
}

/// Offset of a sender's byte ring.
pub const fn pool(sender: u32, ranks: u32) -> usize {
    slots(ranks, ranks).next_multiple_of(PAGE) + sender as usize * payload_ring_bytes(ranks)
}

/// Bytes of the slots and the byte ring of one sender.
pub const fn queue_bytes(ranks: u32) -> usize {
    SLOT_RING_BYTES + payload_ring_bytes(ranks)
}

/// Offset of the shared pool.
pub const fn shared_pool(ranks: u32) -> usize {
    pool(ranks, ranks).next_multiple_of(PAGE)
}

/// Bytes of the shared pool.
pub const fn shared_pool_bytes(ranks: u32) -> usize {
    (8 << 20) + ranks as usize * (192 << 10)
}

/// Bytes of a segment.
pub const fn segment_bytes(ranks: u32) -> usize {
    shared_pool(ranks) + shared_pool_bytes(ranks)
}

/// What a process publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// [`WIRE_ID`] there.
    pub wire_id: u32,
    /// Its membarrier registration worked.
    pub registered: bool,
    /// Its place on the node.
    pub local_rank: u32,
    /// Number of ranks on the node.
    pub local_size: u32,
    /// Its receive segment.
    pub segment: shmem::Address,
    /// Its peers send to this socket when it sleeps on descriptors.
    pub wake_socket: WakeSocketName,
    /// The network namespace in which that name is valid; 0 if not known.
    pub network: u64,
}

impl Address {
    /// As bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = [0; ADDRESS_BYTES];
        bytes[span_of!(Fields, wire_id)].copy_from_slice(&self.wire_id.to_le_bytes());
        bytes[span_of!(Fields, registered)].copy_from_slice(&[u8::from(self.registered)]);
        bytes[span_of!(Fields, local_rank)].copy_from_slice(&self.local_rank.to_le_bytes());
        bytes[span_of!(Fields, local_size)].copy_from_slice(&self.local_size.to_le_bytes());
        bytes[span_of!(Fields, segment)].copy_from_slice(&self.segment);
        bytes[span_of!(Fields, wake_socket)].copy_from_slice(&self.wake_socket);
        bytes[span_of!(Fields, network)].copy_from_slice(&self.network.to_le_bytes());
        bytes.to_vec()
    }

    /// Whether one process can send to the wake-up socket of the other: both have one, in the same namespace.
    pub fn can_wake(&self, other: &Address) -> bool {
        self.wake_socket[0] != 0 && other.wake_socket[0] != 0 && self.network != 0 && self.network == other.network
    }

    /// From bytes; `None` if too short for even a wire id, which is all that is certain of another format.
    pub fn wire_id_of(bytes: &[u8]) -> Option<u32> {
        Some(u32::from_le_bytes(*bytes.first_chunk()?))
    }

    /// From bytes of our format.
    pub fn parse(bytes: &[u8]) -> Option<Address> {
        let bytes: &[u8; ADDRESS_BYTES] = bytes.try_into().ok()?;
        let word = |span| u32::from_le_bytes(field(bytes, span));
        Some(Address {
            wire_id: word(span_of!(Fields, wire_id)),
            registered: bytes[span_of!(Fields, registered)] == [1],
            local_rank: word(span_of!(Fields, local_rank)),
            local_size: word(span_of!(Fields, local_size)),
            segment: field(bytes, span_of!(Fields, segment)),
            wake_socket: field(bytes, span_of!(Fields, wake_socket)),
            network: u64::from_le_bytes(field(bytes, span_of!(Fields, network))),
        })
    }
}

fn field<const N: usize>(bytes: &[u8], span: Range<usize>) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[span]);
    field
}

/// An address as bytes. No value of it ever exists: it says where fields lie.
#[repr(C)]
struct Fields {
    wire_id: u32,
    registered: u8,
    zero: [u8; 3],
    local_rank: u32,
    local_size: u32,
    segment: shmem::Address,
    wake_socket: WakeSocketName,
    network: u64,
}

const ADDRESS_BYTES: usize = size_of::<Fields>();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_do_not_overlap_and_fit_the_launcher_slice() {
        for ranks in [1, 2, 3, 8, 9, 32, 33, 128, 1000] {
            assert!(SENDER_BITMAP + ranks as usize / 8 < CLOSED_BITMAP);
            assert!(consumed(ranks) <= word(0, 0, ranks));
            assert!(word(0, WORDS - 1, ranks) < word(1, 0, ranks));
            assert!(word(ranks, 0, ranks) <= slots(0, ranks));
            assert!(word(1, 1, ranks).is_multiple_of(8));
            assert!(slots(ranks, ranks) <= pool(0, ranks));
            assert!(pool(ranks, ranks) <= shared_pool(ranks) && shared_pool(ranks).is_multiple_of(PAGE));
            assert_eq!((slots(1, ranks) % 64, pool(1, ranks) % 64), (0, 0));
            // What orte-core's segment has for each rank.
            let room = (9 << 20) + ranks as usize * ((256 << 10) + payload_ring_bytes(ranks));
            assert!(segment_bytes(ranks) <= room, "{ranks} ranks");
        }
    }

    #[test]
    fn fields_of_an_address_lie_where_the_first_lines_say() {
        let places = [
            span_of!(Fields, wire_id),
            span_of!(Fields, registered),
            span_of!(Fields, zero),
            span_of!(Fields, local_rank),
            span_of!(Fields, local_size),
            span_of!(Fields, segment),
            span_of!(Fields, wake_socket),
            span_of!(Fields, network),
        ];
        assert_eq!(places, [0..4, 4..5, 5..8, 8..12, 12..16, 16..40, 40..48, 48..56]);
    }

    #[test]
    fn addresses() {
        let address = Address {
            wire_id: WIRE_ID,
            registered: true,
            local_rank: 3,
            local_size: 9,
            segment: [7; 24],
            wake_socket: *b"0a1b2\0\0\0",
            network: 77,
        };
        assert!(address.can_wake(&address));
        assert!(!address.can_wake(&Address { network: 78, ..address }));
        assert!(!address.can_wake(&Address { wake_socket: [0; 8], ..address }));
        let bytes = address.to_bytes();
        assert_eq!(Address::parse(&bytes), Some(address));
        assert_eq!(Address::parse(&bytes[1..]), None);
        assert_eq!(Address::wire_id_of(&bytes), Some(WIRE_ID));
        assert_eq!(Address::wire_id_of(&bytes[..3]), None);
    }
}
