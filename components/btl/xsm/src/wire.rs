//! Layout of a board, and of the address that a process gives to those of other jobs.
//!
//! Board, offsets in bytes; all zeros at first:
//!
//! | offset | bytes | content | written by |
//! |---|---|---|---|
//! | 0 | 4 | sleep flag: the owner wants to be woken by its futex | owner; a sender that wakes it |
//! | 4 | 4 | futex that the owner sleeps on | senders |
//! | 8 | 4 | how many cells were claimed so far | who claims one |
//! | 4096 | 32 · 256 | an entry per cell: 0 state u32 · 4 who has left, and who has left MPI u32 · 8 number of the claim u32 · 12 zero · 16 job of the guest u64 · 24 its rank u64 | who claims the cell; who leaves it |
//! | 12288 | 2117632 · 256 | cells | both |
//!
//! A cell is shared by the owner of the board (side 0) and a guest (side 1); `s` is the side that sends:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 64 · s | 4 | how many slots the receiver has consumed |
//! | 1024 + 1024 · s | 1024 | words of side s for the layer above, 64 of them, 16 bytes apart |
//! | 4096 + 8192 · s | 8192 | slots |
//! | 20480 + 1 MiB · s | 1 MiB | byte ring |
//!
//! Address, little-endian: 0 wire id u32 · 4 registered for membarrier u8, 3 bytes zero · 8 process u32 · 12 descriptor u32 · 16 device
//! u64 · 24 inode u64 · 32 job u64 · 40 rank u64.

use alloc::vec::Vec;
use core::ops::Range;
use memoffset::span_of;
use opal_core::framework::btl::ProcessName;
use opal_core::queue::fifo::{SLOT_RING_BYTES, SLOTS, payload_ring_bytes};

/// The owner says here that it sleeps.
pub const SLEEP_FLAG: usize = 0;
/// The owner sleeps on this word.
pub const FUTEX: usize = 4;
/// Counts claims.
pub const CLAIMS: usize = 8;
/// Cells of a board: the most processes of other jobs that meet the owner there at the same time.
pub const CELLS: usize = 256;
/// Bytes before the cells.
pub const HEADER_BYTES: usize = PAGE + CELLS * ENTRY_BYTES;
/// Bytes of a cell.
pub const CELL_BYTES: usize = RINGS + 2 * RING_BYTES;
/// Bytes of a board.
pub const BOARD_BYTES: usize = HEADER_BYTES + CELLS * CELL_BYTES;
/// Bytes of a byte ring.
pub const RING_BYTES: usize = payload_ring_bytes(2);
/// Words of each side for the layer above.
pub const WORDS: u32 = 64;

const PAGE: usize = 4096;
const ENTRY_BYTES: usize = 32;
const LINE: usize = 64;
const WORD_BYTES: usize = 16;
const WORD_AREA: usize = 1024;
const SLOT_RINGS: usize = PAGE;
const RINGS: usize = SLOT_RINGS + 2 * SLOT_RING_BYTES;
const _: () =
    assert!(HEADER_BYTES.is_multiple_of(PAGE) && CELL_BYTES.is_multiple_of(PAGE) && RINGS.is_multiple_of(LINE));
const _: () = assert!(WORD_AREA + 2 * WORDS as usize * WORD_BYTES <= SLOT_RINGS);

/// What both ends must agree on; the number changes whenever anything in this file or in the queue does.
pub const FORMAT: &str =
    "btl/xsm 2: sleep_flag futex claims; entry state left claim job rank; cell consumed words slots ring";

/// Hash (FNV-1a) of the format and its sizes.
pub const WIRE_ID: u32 = {
    let mut hash = 0x811c_9dc5u32;
    let (text, mut index) = (FORMAT.as_bytes(), 0);
    while index < text.len() {
        hash = (hash ^ text[index] as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    hash = (hash ^ SLOTS).wrapping_mul(0x0100_0193);
    (hash ^ CELL_BYTES as u32).wrapping_mul(0x0100_0193)
};

/// Fields of the entry of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// [`FREE`], [`CLAIMING`] or [`CLAIMED`].
    State = 0,
    /// Bit s: side s has left; [`FINISHED`] shifted by s: side s has left MPI and still has the cell.
    Left = 4,
    /// The number of the claim.
    Claim = 8,
    /// The guest's job.
    Job = 16,
    /// The guest's rank there.
    Rank = 24,
}

/// In [`Entry::Left`], of side 0: it has left MPI.
pub const FINISHED: u32 = 0b100;
/// Nobody has the cell.
pub const FREE: u32 = 0;
/// Somebody is writing the entry.
pub const CLAIMING: u32 = 1;
/// The cell is in use.
pub const CLAIMED: u32 = 2;

/// Offset of a field of a cell's entry.
pub const fn entry(cell: usize, field: Entry) -> usize {
    PAGE + cell * ENTRY_BYTES + field as usize
}

/// Offset of a cell on its board.
pub const fn cell(cell: usize) -> usize {
    HEADER_BYTES + cell * CELL_BYTES
}

/// Offset in a cell of the published count of what a side sent.
pub const fn consumed(side: usize) -> usize {
    side * LINE
}

/// Offset in a cell of a word of a side.
pub const fn word(side: usize, index: u32) -> usize {
    WORD_AREA + side * WORDS as usize * WORD_BYTES + index as usize * WORD_BYTES
}

/// Offset in a cell of what a side sends.
pub const fn slots(side: usize) -> usize {
    SLOT_RINGS + side * SLOT_RING_BYTES
}

/// Offset in a cell of the byte ring that a side sends through.
pub const fn ring(side: usize) -> usize {
    RINGS + side * RING_BYTES
}

/// What a process says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its membarrier registration worked.
    pub registered: bool,
    /// Where its board is.
    pub place: Place,
    /// Its name.
    pub name: ProcessName,
}

/// Where a board is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The process that has it open.
    pub pid: u32,
    /// Its descriptor there.
    pub descriptor: u32,
    /// The file's device.
    pub device: u64,
    /// The file's inode.
    pub inode: u64,
}

impl Address {
    /// As bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = [0; ADDRESS_BYTES];
        bytes[span_of!(Fields, wire_id)].copy_from_slice(&WIRE_ID.to_le_bytes());
        bytes[span_of!(Fields, registered)].copy_from_slice(&[u8::from(self.registered)]);
        bytes[span_of!(Fields, pid)].copy_from_slice(&self.place.pid.to_le_bytes());
        bytes[span_of!(Fields, descriptor)].copy_from_slice(&self.place.descriptor.to_le_bytes());
        bytes[span_of!(Fields, device)].copy_from_slice(&self.place.device.to_le_bytes());
        bytes[span_of!(Fields, inode)].copy_from_slice(&self.place.inode.to_le_bytes());
        bytes[span_of!(Fields, job)].copy_from_slice(&self.name.job.to_le_bytes());
        bytes[span_of!(Fields, rank)].copy_from_slice(&u64::from(self.name.rank).to_le_bytes());
        bytes.to_vec()
    }

    /// The wire id, which is all that is certain of another format.
    pub fn wire_id_of(bytes: &[u8]) -> Option<u32> {
        Some(u32::from_le_bytes(*bytes.first_chunk()?))
    }

    /// From bytes of our format.
    pub fn parse(bytes: &[u8]) -> Option<Address> {
        let bytes: &[u8; ADDRESS_BYTES] = bytes.try_into().ok()?;
        let word = |span| u32::from_le_bytes(field(bytes, span));
        let long = |span| u64::from_le_bytes(field(bytes, span));
        let place = Place {
            pid: word(span_of!(Fields, pid)),
            descriptor: word(span_of!(Fields, descriptor)),
            device: long(span_of!(Fields, device)),
            inode: long(span_of!(Fields, inode)),
        };
        let rank = u32::try_from(long(span_of!(Fields, rank))).ok()?;
        let name = ProcessName { job: long(span_of!(Fields, job)), rank };
        Some(Address { registered: bytes[span_of!(Fields, registered)] == [1], place, name })
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
    pid: u32,
    descriptor: u32,
    device: u64,
    inode: u64,
    job: u64,
    rank: u64,
}

const ADDRESS_BYTES: usize = size_of::<Fields>();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_do_not_overlap() {
        assert_eq!((HEADER_BYTES, CELL_BYTES), (12288, 2_117_632));
        assert!(consumed(1) + 4 <= word(0, 0) && word(0, WORDS - 1) < word(1, 0) && word(1, WORDS - 1) + 8 <= slots(0));
        assert_eq!((slots(1), ring(0), ring(1) + RING_BYTES), (slots(0) + SLOT_RING_BYTES, 20480, CELL_BYTES));
        assert_eq!(entry(1, Entry::State), 4096 + 32);
        assert!(entry(CELLS - 1, Entry::Rank) + 8 <= cell(0));
    }

    #[test]
    fn addresses() {
        let places = [span_of!(Fields, pid), span_of!(Fields, device), span_of!(Fields, job), span_of!(Fields, rank)];
        assert_eq!(places, [8..12, 16..24, 32..40, 40..48]);
        let place = Place { pid: 7, descriptor: 9, device: 1, inode: u64::MAX };
        let address = Address { registered: true, place, name: ProcessName { job: 77, rank: 3 } };
        let bytes = address.to_bytes();
        assert_eq!(Address::parse(&bytes), Some(address));
        assert_eq!(Address::parse(&bytes[1..]), None);
        assert_eq!(Address::wire_id_of(&bytes), Some(WIRE_ID));
        let mut wide = bytes.clone();
        wide[45] = 1;
        assert_eq!(Address::parse(&wide), None, "no rank has 40 bits");
    }
}
