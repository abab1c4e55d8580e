//! What stands in a frame, behind the Ethernet header.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 4 | [`WIRE_ID`] |
//! | 4 | 4 | sender: its index in the job |
//! | 8 | 8 | job |
//! | 16 | 4 | receiver |
//! | 20 | 4 | number of this message; the next one's if there is none in the frame |
//! | 24 | 4 | number of the message that the sender wants next: all before it have come |
//! | 28 | 1 | am id; 255 if there is no message |
//! | 29 | 1 | 1 if the sender has a later one than it wants next: that one is missing |
//! | 30 | 2 | bytes of the payload |
//! | 32 | 8 | immediate |
//! | 40 | 8 | [`Key::tag`] |
//! | 48 | | payload, and padding |
//!
//! Little-endian. A frame whose tag is right was made by a process of the job, for this place in the numbers between the two. The published address is the wire id and the card's address, padded to 12 bytes.

use core::hash::Hasher;
use core::ops::Range;
use hmac::{Hmac, KeyInit, Mac as _};
use memoffset::span_of;
use opal_core::framework::btl::AM_IDS;
use opal_core::framework::netif::Mac;
use sha2::Sha256;
use siphasher::sip::SipHasher24;

/// IEEE 802's first type for local experiments (IEEE 802, 9.2.3).
pub const ETHERTYPE: u16 = 0x88b5;
/// Another number for another format.
pub const WIRE_ID: u32 = 0x0e7b_0002;
/// Bytes before a payload.
pub const HEADER_BYTES: usize = size_of::<Layout>();
/// Bytes of a published address.
pub const ADDRESS_BYTES: usize = 12;

/// A header in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Index of the sender in the job.
    pub from: u32,
    /// The job.
    pub job: u64,
    /// Index of the receiver.
    pub to: u32,
    /// Number of the message.
    pub number: u32,
    /// The message that the sender wants next.
    pub wanted: u32,
    /// Kind of the message; `None` if there is none.
    pub am: Option<u8>,
    /// `wanted` is missing.
    pub misses: bool,
    /// Bytes of the payload.
    pub bytes: u16,
    /// The immediate.
    pub immediate: u64,
}

impl Header {
    /// As bytes, with zeros for the tag.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[span_of!(Layout, wire_id)].copy_from_slice(&WIRE_ID.to_le_bytes());
        bytes[span_of!(Layout, from)].copy_from_slice(&self.from.to_le_bytes());
        bytes[span_of!(Layout, job)].copy_from_slice(&self.job.to_le_bytes());
        bytes[span_of!(Layout, to)].copy_from_slice(&self.to.to_le_bytes());
        bytes[span_of!(Layout, number)].copy_from_slice(&self.number.to_le_bytes());
        bytes[span_of!(Layout, wanted)].copy_from_slice(&self.wanted.to_le_bytes());
        bytes[span_of!(Layout, am)].copy_from_slice(&[self.am.unwrap_or(NO_MESSAGE)]);
        bytes[span_of!(Layout, misses)].copy_from_slice(&[u8::from(self.misses)]);
        bytes[span_of!(Layout, bytes)].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[span_of!(Layout, immediate)].copy_from_slice(&self.immediate.to_le_bytes());
        bytes
    }
}

/// What frames of a job are authenticated with.
pub struct Key(SipHasher24);

impl Key {
    /// A key for this purpose alone, from the job's secret.
    pub fn of_job(secret: &[u8; 32]) -> Key {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
        mac.update(PURPOSE);
        let bytes = mac.finalize().into_bytes();
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|byte| bytes[at + byte]));
        Key(SipHasher24::new_with_keys(word(0), word(8)))
    }

    /// SipHash-2-4 of the sender's card, how often its numbers have begun again, the header without the tag, and the payload.
    pub fn tag(&self, card: Mac, wraps: u32, head: &[u8; HEADER_BYTES], payload: &[u8]) -> [u8; 8] {
        let mut hasher = self.0;
        let [a, b, c, d, e, f] = card.0;
        let [w, x, y, z] = wraps.to_le_bytes();
        // Words, so that the hasher has no parts of one to keep.
        hasher.write(&[a, b, c, d, e, f, 0, 0, w, x, y, z, 0, 0, 0, 0]);
        hasher.write(&head[..span_of!(Layout, tag).start]);
        hasher.write(payload);
        hasher.finish().to_le_bytes()
    }

    /// Puts the tag into a header that [`Header::encode`] made.
    pub fn seal(&self, card: Mac, wraps: u32, head: &mut [u8; HEADER_BYTES], payload: &[u8]) {
        let tag = self.tag(card, wraps, head, payload);
        head[span_of!(Layout, tag)].copy_from_slice(&tag);
    }

    /// Whether a frame that [`parse`] took has the right tag.
    pub fn made(&self, card: Mac, wraps: u32, frame: &[u8], payload: &[u8]) -> bool {
        let Some(head) = frame.first_chunk() else { return false };
        let (tag, right) = (part::<8>(head, span_of!(Layout, tag)), self.tag(card, wraps, head, payload));
        // All of it whatever differs: how long it takes says nothing.
        tag.iter().zip(right).fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
    }
}

/// Header and payload of a frame; `None` for bytes of another format. Who made it, [`Key::made`] says.
pub fn parse(frame: &[u8]) -> Option<(Header, &[u8])> {
    let (head, rest) = frame.split_first_chunk::<HEADER_BYTES>()?;
    let word = |range| u32::from_le_bytes(part(head, range));
    let [am] = part(head, span_of!(Layout, am));
    let [misses] = part(head, span_of!(Layout, misses));
    let bytes = u16::from_le_bytes(part(head, span_of!(Layout, bytes)));
    let am = (am != NO_MESSAGE).then_some(am);
    let sound = am.is_none_or(|am| usize::from(am) < AM_IDS) && misses < 2 && (am.is_some() || bytes == 0);
    if word(span_of!(Layout, wire_id)) != WIRE_ID || !sound {
        return None;
    }
    let header = Header {
        from: word(span_of!(Layout, from)),
        job: u64::from_le_bytes(part(head, span_of!(Layout, job))),
        to: word(span_of!(Layout, to)),
        number: word(span_of!(Layout, number)),
        wanted: word(span_of!(Layout, wanted)),
        am,
        misses: misses == 1,
        bytes,
        immediate: u64::from_le_bytes(part(head, span_of!(Layout, immediate))),
    };
    Some((header, rest.get(..usize::from(bytes))?))
}

/// What is published.
pub fn address(card: Mac) -> [u8; ADDRESS_BYTES] {
    let mut bytes = [0; ADDRESS_BYTES];
    bytes[..4].copy_from_slice(&WIRE_ID.to_le_bytes());
    bytes[4..10].copy_from_slice(&card.0);
    bytes
}

/// The wire id of a published address, whatever else there is in it.
pub fn wire_id_of(address: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*address.first_chunk()?))
}

/// The card of a published address; `None` if it cannot be one.
pub fn card_of(address: &[u8]) -> Option<Mac> {
    let address: &[u8; ADDRESS_BYTES] = address.try_into().ok()?;
    let card = Mac(*address[4..].first_chunk()?);
    (address[10..] == [0, 0] && card.is_one_card()).then_some(card)
}

fn part<const N: usize>(head: &[u8; HEADER_BYTES], range: Range<usize>) -> [u8; N] {
    head[range].try_into().expect("a field is as long as its type")
}

/// No value of it ever exists: it says where fields lie.
#[repr(C)]
struct Layout {
    wire_id: u32,
    from: u32,
    job: u64,
    to: u32,
    number: u32,
    wanted: u32,
    am: u8,
    misses: u8,
    bytes: u16,
    immediate: u64,
    tag: [u8; 8],
}

const PURPOSE: &[u8] = b"frames of btl/eth";
const NO_MESSAGE: u8 = 255;
