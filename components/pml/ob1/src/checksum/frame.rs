//! The header before each payload: 16 bytes, little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 0–3 | CRC32C of the immediate as 8 bytes, and of everything behind this field |
//! | 4 | kind: DATA 1, STATUS 2, REPEAT 3, PROBE 4, PIECE 5 |
//! | 5 | am id of the message; 0 unless DATA |
//! | 6 | channel: of the sender for DATA, PROBE and PIECE, of the receiver for STATUS and REPEAT |
//! | 7 | round, modulo 256: DATA, PROBE: how often the sender had begun again; REPEAT: the round in which something is missing; else 0 |
//! | 8–11 | number, modulo 2³²: DATA: of the message on its channel; PROBE: of the next one; PIECE: where in its frame it begins; else 0 |
//! | 12–15 | number of the next message that the sender of the frame expects on the channel of that index; PIECE: length of its frame |

use opal_core::framework::btl::AmId;
use opal_core::mem::Crc32c;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message.
    Data = 1,
    /// What has arrived.
    Status = 2,
    /// The same, and that what follows must come again.
    Repeat = 3,
    /// Asks what has arrived.
    Probe = 4,
    /// A part of a frame that is too long for the transport.
    Piece = 5,
}

/// A header, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it says.
    pub kind: Kind,
    /// Of DATA: the kind of the message.
    pub am: AmId,
    /// The channel.
    pub channel: u8,
    /// Of DATA and PROBE: how often the sender had begun again on the channel, modulo 256; of REPEAT: which of these rounds is answered.
    pub round: u8,
    /// Of DATA: the number of the message; of PROBE: of the next one.
    pub number: u32,
    /// What the sender expects next.
    pub expected: u32,
}

impl Frame {
    /// Writes it to the first bytes of `frame`, with the checksum of all of it.
    ///
    /// # Panics
    /// If `frame` is shorter than a header.
    pub fn seal(self, immediate: u64, frame: &mut [u8]) {
        frame[4..8].copy_from_slice(&[self.kind as u8, self.am, self.channel, self.round]);
        frame[8..12].copy_from_slice(&self.number.to_le_bytes());
        frame[12..16].copy_from_slice(&self.expected.to_le_bytes());
        let checksum = checksum(immediate, &frame[4..]);
        frame[..4].copy_from_slice(&checksum.to_le_bytes());
    }

    /// The header of a frame that arrived; `None` if anything of it was damaged.
    pub fn check(immediate: u64, frame: &[u8]) -> Option<Frame> {
        let (sum, rest) = frame.split_first_chunk()?;
        let [kind, am, channel, round, numbers @ ..] = rest.first_chunk::<12>()?;
        if u32::from_le_bytes(*sum) != checksum(immediate, rest) {
            return None;
        }
        let [a, b, c, d, expected @ ..] = *numbers;
        let kind = match kind {
            1 => Kind::Data,
            2 => Kind::Status,
            3 => Kind::Repeat,
            4 => Kind::Probe,
            5 => Kind::Piece,
            _ => return None,
        };
        let (number, expected) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(expected));
        Some(Frame { kind, am: *am, channel: *channel, round: *round, number, expected })
    }
}

fn checksum(immediate: u64, rest: &[u8]) -> u32 {
    Crc32c::new().with(&immediate.to_le_bytes()).with(rest).value()
}

/// Bytes of a header.
pub const BYTES: usize = 16;
