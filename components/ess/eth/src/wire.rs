//! What a machine says of itself, in one frame.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 4 | `omw1` |
//! | 4 | 4 | rank |
//! | 8 | 8 | job |
//! | 16 | 4 | ranks of the job |
//! | 20 | 4 | stage: 1 since it has published, one more for each barrier |
//! | 24 | 4 | the stage that it knows all ranks to have reached |
//! | 28 | 2 | bytes of its addresses |
//! | 30 | 2 | 1 if it wants an answer |
//! | 32 | 32 | HMAC-SHA256 with the job's secret, of the sender's card and all the rest |
//! | 64 | | its addresses; behind them padding |
//!
//! Little-endian. A frame proves that its sender knows the secret; it may be an older one that somebody plays again, from the same
//! card. Stages only rise, so that changes nothing.

use alloc::vec::Vec;
use core::ops::Range;
use hmac::{Hmac, KeyInit, Mac as _};
use memoffset::span_of;
use opal_core::framework::netif::Mac;
use sha2::Sha256;

/// IEEE 802's second type for local experiments (IEEE 802, 9.2.3).
pub const ETHERTYPE: u16 = 0x88b6;

/// What is said; the addresses stand behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// Number of the job.
    pub job: u64,
    /// Of whom.
    pub rank: u32,
    /// Ranks of the job.
    pub size: u32,
    /// How far this rank is.
    pub stage: u32,
    /// How far it knows all ranks to be.
    pub seen: u32,
    /// It waits for somebody.
    pub asks: bool,
    /// What it published.
    pub addresses: &'a [u8],
}

impl Said<'_> {
    /// As bytes of a frame from this card.
    ///
    /// # Panics
    /// With more than [`ADDRESSES_MAX`] bytes of addresses.
    pub fn encode(&self, secret: &[u8; 32], from: Mac) -> Vec<u8> {
        assert!(self.addresses.len() <= ADDRESSES_MAX, "the addresses do not fit a frame");
        let mut bytes = alloc::vec![0; HEAD_BYTES];
        bytes[span_of!(Head, magic)].copy_from_slice(&MAGIC);
        bytes[span_of!(Head, rank)].copy_from_slice(&self.rank.to_le_bytes());
        bytes[span_of!(Head, job)].copy_from_slice(&self.job.to_le_bytes());
        bytes[span_of!(Head, size)].copy_from_slice(&self.size.to_le_bytes());
        bytes[span_of!(Head, stage)].copy_from_slice(&self.stage.to_le_bytes());
        bytes[span_of!(Head, seen)].copy_from_slice(&self.seen.to_le_bytes());
        bytes[span_of!(Head, length)].copy_from_slice(&(self.addresses.len() as u16).to_le_bytes());
        bytes[span_of!(Head, asks)].copy_from_slice(&u16::from(self.asks).to_le_bytes());
        bytes.extend_from_slice(self.addresses);
        let mac = mac_of(secret, from, &bytes);
        bytes[span_of!(Head, mac)].copy_from_slice(&mac.finalize().into_bytes());
        bytes
    }
}

/// What a frame from this card says; `None` for any bytes that were not made with the secret.
pub fn parse<'a>(bytes: &'a [u8], secret: &[u8; 32], from: Mac) -> Option<Said<'a>> {
    let head: &[u8; HEAD_BYTES] = bytes.first_chunk()?;
    if head[span_of!(Head, magic)] != MAGIC {
        return None;
    }
    let length = u16::from_le_bytes(part(head, span_of!(Head, length)));
    let said = bytes.get(..HEAD_BYTES + usize::from(length))?;
    mac_of(secret, from, said).verify_slice(&head[span_of!(Head, mac)]).ok()?;
    let word = |range| u32::from_le_bytes(part(head, range));
    Some(Said {
        job: u64::from_le_bytes(part(head, span_of!(Head, job))),
        rank: word(span_of!(Head, rank)),
        size: word(span_of!(Head, size)),
        stage: word(span_of!(Head, stage)),
        seen: word(span_of!(Head, seen)),
        asks: u16::from_le_bytes(part(head, span_of!(Head, asks))) == 1,
        addresses: &said[HEAD_BYTES..],
    })
}

/// Of everything but the place of the MAC itself.
fn mac_of(secret: &[u8; 32], from: Mac, said: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    let own = span_of!(Head, mac);
    [&from.0[..], &said[..own.start], &said[own.end..]].into_iter().for_each(|part| mac.update(part));
    mac
}

fn part<const N: usize>(head: &[u8; HEAD_BYTES], range: Range<usize>) -> [u8; N] {
    head[range].try_into().expect("a field is as long as its type")
}

/// What a frame begins with. No value of it ever exists: it says where fields lie.
#[repr(C)]
struct Head {
    magic: [u8; 4],
    rank: u32,
    job: u64,
    size: u32,
    stage: u32,
    seen: u32,
    length: u16,
    asks: u16,
    mac: [u8; 32],
}

const MAGIC: [u8; 4] = *b"omw1";
const HEAD_BYTES: usize = size_of::<Head>();
/// What is left of a frame of 1500 bytes.
pub const ADDRESSES_MAX: usize = 1500 - HEAD_BYTES;

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: Said<'_> =
        Said { job: 0xfe, rank: 3, size: 8, stage: 2, seen: 1, asks: true, addresses: b"btl/eth and more" };
    const CARD: Mac = Mac([0x52, 0x54, 0, 0, 0, 3]);

    #[test]
    fn fields_lie_where_the_table_says() {
        assert_eq!((span_of!(Head, rank), span_of!(Head, job), span_of!(Head, size)), (4..8, 8..16, 16..20));
        assert_eq!((span_of!(Head, stage), span_of!(Head, seen)), (20..24, 24..28));
        assert_eq!((span_of!(Head, length), span_of!(Head, asks), span_of!(Head, mac)), (28..30, 30..32, 32..64));
        assert_eq!(HEAD_BYTES, 64);
    }

    #[test]
    fn there_and_back_with_padding() {
        let mut bytes = SAID.encode(&[7; 32], CARD);
        bytes.resize(300, 0xee);
        assert_eq!(parse(&bytes, &[7; 32], CARD), Some(SAID));
        let longest = alloc::vec![9; ADDRESSES_MAX];
        let said = Said { addresses: &longest, ..SAID };
        assert_eq!(parse(&said.encode(&[7; 32], CARD), &[7; 32], CARD), Some(said));
    }

    #[test]
    fn every_changed_bit_is_found() {
        let bytes = SAID.encode(&[7; 32], CARD);
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(parse(&changed, &[7; 32], CARD), None, "bit {bit}");
        }
        assert!((0..bytes.len()).all(|length| parse(&bytes[..length], &[7; 32], CARD).is_none()));
        assert_eq!(parse(&bytes, &[8; 32], CARD), None);
        assert_eq!(parse(&bytes, &[7; 32], Mac([0x52, 0x54, 0, 0, 0, 4])), None);
    }
}
