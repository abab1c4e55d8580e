//! What sends and receives tell each other beside the data.

use ompi_core::framework::coll::PIECES;

/// A send tells its peer how it is numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The user's tag.
    pub tag: i32,
    /// The first of its tags.
    pub channel: i32,
    /// Bytes of a round.
    pub bytes: u64,
    /// Where the data lies, one partition behind the other, if the peer may copy from there and is to say whether it can; 0: it may
    /// not.
    pub lent_at: u64,
}

impl Setup {
    /// Its length.
    pub const BYTES: usize = 24;

    /// As it travels.
    pub fn encode(&self) -> [u8; Setup::BYTES] {
        let mut to = [0; Setup::BYTES];
        to[..4].copy_from_slice(&self.tag.to_le_bytes());
        to[4..8].copy_from_slice(&self.channel.to_le_bytes());
        to[8..16].copy_from_slice(&self.bytes.to_le_bytes());
        to[16..].copy_from_slice(&self.lent_at.to_le_bytes());
        to
    }

    /// `None` for what no send says.
    pub fn decode(from: &[u8]) -> Option<Setup> {
        let from: &[u8; Setup::BYTES] = from.try_into().ok()?;
        let (bytes, lent_at) = (long(from, 8), long(from, 16));
        let setup = Setup { tag: int(from, 0), channel: int(from, 4), bytes, lent_at };
        let ok = setup.tag >= 0 && setup.channel >= 0 && setup.channel <= i32::MAX - PIECES;
        (ok && bytes <= isize::MAX as u64 && lent_at.checked_add(bytes).is_some()).then_some(setup)
    }
}

/// The tag of whole rounds.
pub fn whole_tag(channel: i32) -> i32 {
    channel
}

/// The tag of heads of pieces.
pub fn head_tag(channel: i32) -> i32 {
    channel + 1
}

/// The tag of long pieces.
pub fn data_tag(channel: i32) -> i32 {
    channel + 2
}

/// The tag of the answer to a setup, the other way.
pub fn answer_tag(channel: i32) -> i32 {
    channel + 3
}

/// The answer: whether the peer can copy by itself from where the data lies.
pub const CAN_COPY: [u8; 1] = [1];
/// The other one.
pub const CANNOT_COPY: [u8; 1] = [0];

/// The head of a piece of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Which round, from 1 on; comes again after 2^32.
    pub round: u32,
    /// The last one of its round, and the next round may come whole: see the crate's invariant.
    pub proves: bool,
    /// The data is lent: nothing follows, and the peer copies it from where the setup says.
    pub lent: bool,
    /// Where it begins in the packed data of the round.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

impl Head {
    /// Its length.
    pub const BYTES: usize = 24;

    /// As it travels.
    pub fn encode(&self) -> [u8; Head::BYTES] {
        let mut to = [0; Head::BYTES];
        to[..4].copy_from_slice(&self.round.to_le_bytes());
        to[4] = u8::from(self.proves);
        to[5] = u8::from(self.lent);
        to[8..16].copy_from_slice(&self.offset.to_le_bytes());
        to[16..].copy_from_slice(&self.bytes.to_le_bytes());
        to
    }

    /// The head at the beginning of a message, and what comes behind it: nothing, or the piece. `None` for what no send of
    /// rounds of this length says.
    pub fn decode(from: &[u8], round_bytes: u64) -> Option<(Head, &[u8])> {
        let (head, behind) = from.split_first_chunk::<{ Head::BYTES }>()?;
        let (proves, lent) = (head[4] != 0, head[5] != 0);
        let head = Head { round: int(head, 0) as u32, proves, lent, offset: long(head, 8), bytes: long(head, 16) };
        let ok = head.bytes > 0 && head.offset.checked_add(head.bytes).is_some_and(|end| end <= round_bytes);
        (ok && (behind.is_empty() || behind.len() as u64 == head.bytes)).then_some((head, behind))
    }
}

/// The longest piece that travels with its head.
pub const INLINE: usize = 4096;

fn int(from: &[u8], at: usize) -> i32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&from[at..at + 4]);
    i32::from_le_bytes(bytes)
}

fn long(from: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&from[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn what_was_said_is_understood() {
        let setup = Setup { tag: 7, channel: 1 << 29, bytes: 1 << 40, lent_at: 1 << 46 };
        assert_eq!(Setup::decode(&setup.encode()), Some(setup));
        let head = Head { round: u32::MAX, proves: true, lent: false, offset: 1 << 33, bytes: 5 };
        let mut message = vec![0; Head::BYTES + 5];
        message[..Head::BYTES].copy_from_slice(&head.encode());
        message[Head::BYTES..].copy_from_slice(b"piece");
        assert_eq!(Head::decode(&message, 1 << 40), Some((head, &b"piece"[..])));
        assert_eq!(Head::decode(&message[..Head::BYTES], 1 << 40), Some((head, &b""[..])));
        let lent = Head { proves: false, lent: true, ..head };
        assert_eq!(Head::decode(&lent.encode(), 1 << 40), Some((lent, &b""[..])));
    }

    #[test]
    fn what_no_send_says_is_refused() {
        let setup = Setup { tag: 7, channel: 1 << 29, bytes: 8, lent_at: 0 };
        for length in 0..Setup::BYTES {
            assert_eq!(Setup::decode(&setup.encode()[..length]), None);
        }
        for wrong in [Setup { tag: -1, ..setup }, Setup { channel: -5, ..setup }, Setup { channel: i32::MAX, ..setup }]
        {
            assert_eq!(Setup::decode(&wrong.encode()), None);
        }
        assert_eq!(Setup::decode(&Setup { bytes: u64::MAX, ..setup }.encode()), None);
        assert_eq!(Setup::decode(&Setup { lent_at: u64::MAX - 7, ..setup }.encode()), None, "beyond all addresses");
        let head = Head { round: 1, proves: false, lent: false, offset: 4, bytes: 4 };
        assert_eq!(Head::decode(&head.encode(), 7), None, "beyond the end");
        assert_eq!(Head::decode(&Head { bytes: 0, ..head }.encode(), 8), None, "empty");
        assert_eq!(Head::decode(&Head { offset: u64::MAX, ..head }.encode(), 8), None, "overflow");
        let mut message = vec![0; Head::BYTES + 3];
        message[..Head::BYTES].copy_from_slice(&head.encode());
        assert_eq!(Head::decode(&message, 8), None, "cut off");
        assert_eq!(Head::decode(&message[..Head::BYTES - 1], 8), None, "no head");
    }
}
