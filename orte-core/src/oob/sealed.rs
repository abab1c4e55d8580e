//! Frames on a connection after the handshake: length u32, its complement, payload, and the proof over the frame's number and all of that.
//! A changed length would be of more than ever comes; the complement tells it at once. The number is
//! counted on both sides and never sent, so a frame that is left out, doubled or moved has a wrong proof.

use super::OobFlaw;
use super::handshake::{PROOF_BYTES, SealKey, proof, proves};
use alloc::vec::Vec;

/// The longest frame: addresses of the largest job are shorter.
pub const LONGEST: usize = 64 << 20;
/// With the number before it.
const LONGEST_PAYLOAD: usize = LONGEST + 8;

/// Seals what one side sends.
pub struct Sender {
    key: SealKey,
    number: u64,
}

/// Opens what the other side sent.
pub struct Receiver {
    key: SealKey,
    number: u64,
    bytes: Vec<u8>,
    /// So many of them were opened.
    taken: usize,
}

impl Sender {
    /// With the key of its direction.
    pub fn new(key: SealKey) -> Sender {
        Sender { key, number: 0 }
    }

    /// A payload as it goes over the wire. `Err` if it is too long for the other side.
    pub fn seal(&mut self, payload: &[u8]) -> Result<Vec<u8>, OobFlaw> {
        if payload.len() > LONGEST_PAYLOAD {
            return Err(OobFlaw::TooLong(payload.len() as u64));
        }
        let head = head(payload.len() as u32);
        let proof = proof(&self.key, &[&self.number.to_le_bytes(), &head, payload]);
        self.number += 1;
        Ok([&head, payload, &proof].concat())
    }
}

impl Receiver {
    /// With the key of its direction, and what came behind the handshake.
    pub fn new(key: SealKey, rest: Vec<u8>) -> Receiver {
        Receiver { key, number: 0, bytes: rest, taken: 0 }
    }

    /// Appends what came.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 && (self.taken == self.bytes.len() || self.taken >= COMPACT) {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next payload, if all of it is there. After `Err` the connection is worth nothing.
    pub fn next_payload(&mut self) -> Result<Option<Vec<u8>>, OobFlaw> {
        let rest = self.bytes.get(self.taken..).unwrap_or_default();
        let Some((theirs, after)) = rest.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let [a, b, c, d, ..] = *theirs;
        let length = u32::from_le_bytes([a, b, c, d]);
        if *theirs != head(length) {
            return Err(OobFlaw::Proof);
        }
        let bytes = length as usize;
        if bytes > LONGEST_PAYLOAD {
            return Err(OobFlaw::TooLong(bytes as u64));
        }
        let Some((payload, after)) = after.split_at_checked(bytes) else { return Ok(None) };
        let Some(proof) = after.get(..PROOF_BYTES) else { return Ok(None) };
        if !proves(&self.key, &[&self.number.to_le_bytes(), theirs, payload], proof) {
            return Err(OobFlaw::Proof);
        }
        self.number += 1;
        self.taken += HEAD_BYTES + bytes + PROOF_BYTES;
        Ok(Some(payload.to_vec()))
    }
}

/// What stands before a payload of so many bytes.
fn head(length: u32) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..].copy_from_slice(&(!length).to_le_bytes());
    head
}

const HEAD_BYTES: usize = 8;
const COMPACT: usize = 1 << 20;
