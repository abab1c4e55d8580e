//! RTS and control messages: their fields and how they are packed.

use super::{RemoteKey, split_prefix};
use opal_core::mem::Untrusted;

/// Request to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rts {
    /// Bytes of the message.
    pub bytes: u64,
    /// The sender's operation.
    pub handle: u64,
    /// Where the data lies at the sender, if it can be copied once.
    pub address: Option<u64>,
    /// Bytes of RTS data; it follows at once or not at all.
    pub data_bytes: u32,
    /// CRC32C of the message where it can be copied once and has one, else 0.
    pub checksum: u32,
}

impl Rts {
    /// The payload.
    pub fn pack(self) -> [u8; RTS_BYTES] {
        let mut packed = [0; RTS_BYTES];
        let both = u64::from(self.checksum) << 32 | u64::from(self.data_bytes);
        fill(&mut packed, &[self.bytes, self.handle, self.address.unwrap_or(0), both]);
        packed
    }

    /// From a peer's payload, behind whose numbers there may be a [`RemoteKey`]; `None` if it is malformed.
    pub fn unpack_with_key(payload: Untrusted<'_>) -> Option<(Rts, Option<RemoteKey>)> {
        let rts = Rts::unpack(payload.first(RTS_BYTES))?;
        let key = payload.skip(RTS_BYTES);
        Some((rts, if key.is_empty() { None } else { Some(RemoteKey::unpack(key)?) }))
    }

    /// From the numbers alone; `None` if they are malformed.
    pub fn unpack(payload: Untrusted<'_>) -> Option<Rts> {
        let [bytes, handle, address, both] = fields(payload)?;
        let (data_bytes, checksum) = (both as u32, (both >> 32) as u32);
        Some(Rts { bytes, handle, address: (address != 0).then_some(address), data_bytes, checksum })
    }
}

/// What one operation says to its counterpart. The table in [`crate::wire`] gives the meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// A synchronous send was matched.
    Ack,
    /// Send the rest in fragments.
    Cts(Cts),
    /// Send all in fragments.
    CtsResend(Cts),
    /// The receive takes no byte.
    NoneWanted,
    /// Write a part to the receiver's buffer.
    PushOffer(PushOffer),
    /// The claimed part is written.
    PushDone,
    /// The claimed part could not be written.
    PushFailed,
    /// All has been copied.
    Fin,
    /// No eager messages from now on.
    Xoff,
    /// Eager messages may come again.
    Xon,
}

/// Clear to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cts {
    /// The receiver's operation.
    pub handle: u64,
    /// Bytes wanted in all, from the beginning of the message.
    pub wanted: u64,
}

/// A part of the message that the sender may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushOffer {
    /// The receiver's operation.
    pub handle: u64,
    /// Bytes wanted in all.
    pub wanted: u64,
    /// Where the receiver's buffer begins.
    pub address: u64,
    /// Where the offered part begins; it goes up to `wanted`.
    pub begin: u64,
    /// Index of the receiver's claim word.
    pub claim_word: u64,
}

impl Control {
    /// The payload.
    pub fn pack(self) -> PackedControl {
        match self {
            Control::Ack => PackedControl::new(&[ACK]),
            Control::Cts(Cts { handle, wanted }) => PackedControl::new(&[CTS, handle, wanted]),
            Control::CtsResend(Cts { handle, wanted }) => PackedControl::new(&[CTS_RESEND, handle, wanted]),
            Control::NoneWanted => PackedControl::new(&[NONE_WANTED]),
            Control::PushOffer(PushOffer { handle, wanted, address, begin, claim_word }) => {
                PackedControl::new(&[PUSH_OFFER, handle, wanted, address, begin, claim_word])
            }
            Control::PushDone => PackedControl::new(&[PUSH_DONE]),
            Control::PushFailed => PackedControl::new(&[PUSH_FAILED]),
            Control::Fin => PackedControl::new(&[FIN]),
            Control::Xoff => PackedControl::new(&[XOFF]),
            Control::Xon => PackedControl::new(&[XON]),
        }
    }

    /// From a peer's payload; `None` if it is malformed.
    pub fn unpack(payload: Untrusted<'_>) -> Option<Control> {
        let (kind, rest) = split_prefix(payload)?;
        let cts = |[handle, wanted]: [u64; 2]| Cts { handle, wanted };
        let alone = |control| fields(rest).map(|[]: [u64; 0]| control);
        match kind {
            ACK => alone(Control::Ack),
            CTS => fields(rest).map(cts).map(Control::Cts),
            CTS_RESEND => fields(rest).map(cts).map(Control::CtsResend),
            NONE_WANTED => alone(Control::NoneWanted),
            PUSH_OFFER => {
                let [handle, wanted, address, begin, claim_word] = fields(rest)?;
                Some(Control::PushOffer(PushOffer { handle, wanted, address, begin, claim_word }))
            }
            PUSH_DONE => alone(Control::PushDone),
            PUSH_FAILED => alone(Control::PushFailed),
            FIN => alone(Control::Fin),
            XOFF => alone(Control::Xoff),
            XON => alone(Control::Xon),
            _ => None,
        }
    }
}

/// The payload of a control message.
#[derive(Clone, Copy)]
pub struct PackedControl {
    bytes: [u8; CONTROL_BYTES],
    length: u8,
}

impl PackedControl {
    fn new(numbers: &[u64]) -> PackedControl {
        let mut bytes = [0; CONTROL_BYTES];
        fill(&mut bytes, numbers);
        PackedControl { bytes, length: 8 * numbers.len() as u8 }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length as usize]
    }
}

fn fill(bytes: &mut [u8], numbers: &[u64]) {
    for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
}

// Numbers from a peer; `None` if there are more or fewer.
fn fields<const N: usize>(payload: Untrusted<'_>) -> Option<[u64; N]> {
    if payload.len() != 8 * N {
        return None;
    }
    let mut numbers = [0; N];
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = u64::from_le_bytes(payload.skip(8 * index).array()?);
    }
    Some(numbers)
}

/// The numbers of an RTS.
pub const RTS_BYTES: usize = 32;
/// The longest payload of a control message.
pub const CONTROL_BYTES: usize = 48;

const ACK: u64 = 1;
const CTS: u64 = 2;
const CTS_RESEND: u64 = 3;
const NONE_WANTED: u64 = 4;
const PUSH_OFFER: u64 = 5;
const PUSH_DONE: u64 = 6;
const PUSH_FAILED: u64 = 7;
const FIN: u64 = 8;
const XOFF: u64 = 9;
const XON: u64 = 10;
