//! Where everything lies in the job segment: offsets as data, checked before use.
//!
//! The first page, numbers little-endian; where several processes write, each word has a cache line of its own:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 8 | [`MAGIC`] | launcher |
//! | 8 | 4 | [`VERSION`] | launcher |
//! | 12 | 4 | ranks | launcher |
//! | 16 | 8 | job | launcher |
//! | 24 | 8 | record of rank 0 | launcher |
//! | 32 | 8 | from one record to the next | launcher |
//! | 40 | 8 | receive segment of rank 0 | launcher |
//! | 48 | 8 | from one receive segment to the next | launcher |
//! | 56 | 8 | bytes of the whole | launcher |
//! | 64 | 4 | epoch: rises when a rank was lost | launcher |
//! | 128 | 4 | ranks inside the barrier | ranks |
//! | 192 | 4 | barriers completed | ranks |
//! | 256 | 4 | ranks that called abort | ranks |
//! | 320 | 32 | the job's secret | launcher |
//! | 2688 | 128 | [`UNIVERSE_PORT`], a text that zeros end | launcher |
//! | 2816 | 128 | [`PARENT_PORT`], likewise | launcher |
//!
//! Only in jobs over several nodes, else never touched:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 384 | 4 | ranks of this node that published their addresses | ranks |
//! | 448 | 4 | barriers over the job that all ranks of this node have reached | ranks |
//! | 512 | 4 | 1: the addresses of the other nodes' ranks are there | launcher |
//! | 576 | 4 | ranks of other nodes that were lost | launcher |
//! | 640 | 2048 | which, in the order in which they were lost | launcher |

use core::mem::offset_of;
use core::ops::Range;
use memoffset::span_of;
use opal_core::queue::fifo::payload_ring_bytes;

/// The first eight bytes of every segment.
pub const MAGIC: [u8; 8] = *b"ompi-rs\n";
/// Raised when the layout or the meaning of a word changes.
pub const VERSION: u32 = 9;
/// Most ranks of one node.
pub const RANKS_MAX: u32 = 1024;
/// Bytes of the header page and of one record.
pub const PAGE: u64 = 4096;
/// Receive segments begin at multiples of this, so that they can be mapped whatever the system's page size is.
pub const RX_SEGMENT_ALIGN: u64 = 64 << 10;
/// Encoded length of the constant part of the header, in bytes.
pub const HEADER_BYTES: usize = size_of::<Header>();

/// Offset of the word that rises when a rank was lost. Words that several processes write have a cache line each.
pub const EPOCH: usize = offset_of!(FirstPage, epoch);
/// Offset of the number of ranks inside the barrier.
pub const BARRIER_ARRIVED: usize = offset_of!(FirstPage, barrier_arrived);
/// Offset of the number of barriers completed; sleepers of the barrier wait on it.
pub const BARRIER_GENERATION: usize = offset_of!(FirstPage, barrier_generation);
/// Offset of the number of ranks that called abort; the launcher looks at it.
pub const ABORTS: usize = offset_of!(FirstPage, aborts);
/// Offset of the job's secret, which the launcher writes before any rank starts.
pub const SECRET: usize = offset_of!(FirstPage, secret);
/// Bytes of it.
pub const SECRET_BYTES: usize = 32;

/// Offset of the port of the mpirun that ranks ask for further jobs and names, whatever job they are of. It holds a secret, so no
/// variable has it.
pub const UNIVERSE_PORT: usize = offset_of!(FirstPage, universe_port);
/// Offset of the port at which those wait that had this job started.
pub const PARENT_PORT: usize = offset_of!(FirstPage, parent_port);
/// Bytes of each.
pub const PORT_BYTES: usize = 640;

/// Offset of the number of ranks of this node that published their addresses.
pub const PUBLISHED: usize = offset_of!(FirstPage, published);
/// Offset of the number of barriers over the job that all ranks of this node have reached.
pub const REACHED: usize = offset_of!(FirstPage, reached);
/// Offset of the word that is 1 once the addresses of the other nodes' ranks are there; readers sleep on it.
pub const ELSEWHERE: usize = offset_of!(FirstPage, elsewhere);
/// Offset of the number of ranks of other nodes that were lost.
pub const LOST: usize = offset_of!(FirstPage, lost);
/// Offset of the list of them.
pub const LOST_LIST: usize = offset_of!(FirstPage, lost_list);
/// Ranks that the list has room for.
pub const LOST_MAX: usize = 512;

/// Where the parts of one segment lie, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The job's number.
    pub job: u64,
    /// Ranks on this node.
    pub ranks: u32,
    /// Record of local rank 0.
    pub record_offset: u64,
    /// From one record to the next.
    pub record_stride: u64,
    /// Receive segment of local rank 0.
    pub rx_segment_offset: u64,
    /// From one receive segment to the next; the length of each.
    pub rx_segment_stride: u64,
    /// Length of the whole.
    pub bytes: u64,
}

/// What is wrong with the bytes of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Shorter than a header, or the file is shorter than the header says.
    Short,
    /// It does not begin with [`MAGIC`].
    Magic,
    /// Made by another version of the launcher.
    Version(u32),
    /// No rank or more than [`RANKS_MAX`].
    Ranks(u32),
    /// Parts overlap, are not aligned or do not fit.
    Offsets,
}

impl Layout {
    /// The layout for `ranks` ranks on a node; `None` for 0 or more than [`RANKS_MAX`].
    pub fn new(job: u64, ranks: u32) -> Option<Layout> {
        if ranks == 0 || ranks > RANKS_MAX {
            return None;
        }
        let count = u64::from(ranks);
        let rx_segment_offset = (PAGE * (1 + count)).next_multiple_of(RX_SEGMENT_ALIGN);
        let rx_segment_stride = ((9 << 20) + count * bytes_per_sender(ranks)).next_multiple_of(RX_SEGMENT_ALIGN);
        let bytes = rx_segment_offset + count * rx_segment_stride;
        Some(Layout {
            job,
            ranks,
            record_offset: PAGE,
            record_stride: PAGE,
            rx_segment_offset,
            rx_segment_stride,
            bytes,
        })
    }

    /// The constant part of the header.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[span_of!(Header, magic)].copy_from_slice(&MAGIC);
        header[span_of!(Header, version)].copy_from_slice(&VERSION.to_le_bytes());
        header[span_of!(Header, ranks)].copy_from_slice(&self.ranks.to_le_bytes());
        header[span_of!(Header, job)].copy_from_slice(&self.job.to_le_bytes());
        header[span_of!(Header, record_offset)].copy_from_slice(&self.record_offset.to_le_bytes());
        header[span_of!(Header, record_stride)].copy_from_slice(&self.record_stride.to_le_bytes());
        header[span_of!(Header, rx_segment_offset)].copy_from_slice(&self.rx_segment_offset.to_le_bytes());
        header[span_of!(Header, rx_segment_stride)].copy_from_slice(&self.rx_segment_stride.to_le_bytes());
        header[span_of!(Header, bytes)].copy_from_slice(&self.bytes.to_le_bytes());
        header
    }

    /// Reads a header of unknown origin; `file_bytes` is the true length of the file. After `Ok` every offset that the
    /// accessors give lies inside the file.
    pub fn new_checked(header: &[u8], file_bytes: u64) -> Result<Layout, Flaw> {
        let header: &[u8; HEADER_BYTES] =
            header.get(..HEADER_BYTES).and_then(|bytes| bytes.try_into().ok()).ok_or(Flaw::Short)?;
        if header[span_of!(Header, magic)] != MAGIC {
            return Err(Flaw::Magic);
        }
        let version = u32_in(header, span_of!(Header, version));
        if version != VERSION {
            return Err(Flaw::Version(version));
        }
        let layout = Layout {
            ranks: u32_in(header, span_of!(Header, ranks)),
            job: u64_in(header, span_of!(Header, job)),
            record_offset: u64_in(header, span_of!(Header, record_offset)),
            record_stride: u64_in(header, span_of!(Header, record_stride)),
            rx_segment_offset: u64_in(header, span_of!(Header, rx_segment_offset)),
            rx_segment_stride: u64_in(header, span_of!(Header, rx_segment_stride)),
            bytes: u64_in(header, span_of!(Header, bytes)),
        };
        layout.check(file_bytes)?;
        Ok(layout)
    }

    /// Length of the file: a power of two, because a device that shows it to a guest can have no other.
    pub fn file_bytes(&self) -> u64 {
        self.bytes.next_power_of_two()
    }

    /// Length of the part before the receive segments: what the launcher and every rank map.
    pub fn control_bytes(&self) -> usize {
        self.rx_segment_offset as usize
    }

    /// Where a rank's record begins; `None` if there is no such rank.
    pub fn record(&self, rank: u32) -> Option<usize> {
        (rank < self.ranks).then(|| (self.record_offset + u64::from(rank) * self.record_stride) as usize)
    }

    fn check(&self, file_bytes: u64) -> Result<(), Flaw> {
        if self.ranks == 0 || self.ranks > RANKS_MAX {
            return Err(Flaw::Ranks(self.ranks));
        }
        let aligned = self.record_offset.is_multiple_of(PAGE)
            && self.record_stride.is_multiple_of(PAGE)
            && self.rx_segment_offset.is_multiple_of(RX_SEGMENT_ALIGN)
            && self.rx_segment_stride.is_multiple_of(RX_SEGMENT_ALIGN);
        let count = u64::from(self.ranks);
        let end = |offset: u64, stride: u64| stride.checked_mul(count).and_then(|length| offset.checked_add(length));
        let records_end = end(self.record_offset, self.record_stride).ok_or(Flaw::Offsets)?;
        let rx_segments_end = end(self.rx_segment_offset, self.rx_segment_stride).ok_or(Flaw::Offsets)?;
        let apart = self.record_offset >= PAGE
            && self.record_stride >= PAGE
            && self.rx_segment_stride > 0
            && self.rx_segment_offset >= records_end
            && self.bytes >= rx_segments_end
            // The control part is mapped whole: a header must not make every rank map gigabytes.
            && self.rx_segment_offset <= PAGE * u64::from(2 * RANKS_MAX)
            && i64::try_from(self.bytes).is_ok();
        if !aligned || !apart {
            return Err(Flaw::Offsets);
        }
        if file_bytes < self.bytes { Err(Flaw::Short) } else { Ok(()) }
    }
}

impl core::fmt::Display for Flaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Flaw::Short => f.write_str("it is too short"),
            Flaw::Magic => f.write_str("it does not begin like a job segment"),
            Flaw::Version(theirs) => write!(f, "its layout has version {theirs}, this library reads version {VERSION}"),
            Flaw::Ranks(count) => write!(f, "it claims to hold {count} ranks"),
            Flaw::Offsets => f.write_str("its parts do not fit together"),
        }
    }
}

/// Room of a receive segment for each rank that may send to it: a byte ring and the rest. Memory is taken when it is first
/// touched, so room that is not used costs nothing.
fn bytes_per_sender(ranks: u32) -> u64 {
    (256 << 10) + payload_ring_bytes(ranks) as u64
}

fn u32_in(header: &[u8; HEADER_BYTES], span: Range<usize>) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&header[span]);
    u32::from_le_bytes(bytes)
}

fn u64_in(header: &[u8; HEADER_BYTES], span: Range<usize>) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&header[span]);
    u64::from_le_bytes(bytes)
}

/// The header's constant part. No value of it ever exists: it says where its fields lie, as the two types below do.
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    ranks: u32,
    job: u64,
    record_offset: u64,
    record_stride: u64,
    rx_segment_offset: u64,
    rx_segment_stride: u64,
    bytes: u64,
}

/// What a cache line begins with.
#[repr(C, align(64))]
struct Line<T>(T);

#[repr(C, align(4096))]
struct FirstPage {
    header: Header,
    epoch: Line<u32>,
    barrier_arrived: Line<u32>,
    barrier_generation: Line<u32>,
    aborts: Line<u32>,
    secret: Line<[u8; SECRET_BYTES]>,
    published: Line<u32>,
    reached: Line<u32>,
    elsewhere: Line<u32>,
    lost: Line<u32>,
    lost_list: [u32; LOST_MAX],
    universe_port: [u8; PORT_BYTES],
    parent_port: [u8; PORT_BYTES],
}

const _: () = assert!(size_of::<FirstPage>() as u64 == PAGE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_table_says() {
        let header = [
            span_of!(Header, magic),
            span_of!(Header, version),
            span_of!(Header, ranks),
            span_of!(Header, job),
            span_of!(Header, record_offset),
            span_of!(Header, record_stride),
            span_of!(Header, rx_segment_offset),
            span_of!(Header, rx_segment_stride),
            span_of!(Header, bytes),
        ];
        assert_eq!(header, [0..8, 8..12, 12..16, 16..24, 24..32, 32..40, 40..48, 48..56, 56..64]);
        assert_eq!([EPOCH, BARRIER_ARRIVED, BARRIER_GENERATION, ABORTS, SECRET], [64, 128, 192, 256, 320]);
        assert_eq!([PUBLISHED, REACHED, ELSEWHERE, LOST, LOST_LIST], [384, 448, 512, 576, 640]);
        assert_eq!([UNIVERSE_PORT, PARENT_PORT], [2688, 3328]);
        assert_eq!(span_of!(FirstPage, ..epoch), 0..HEADER_BYTES, "nothing lies between the header and the words");
    }
}
