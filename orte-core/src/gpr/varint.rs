//! Numbers in the heads of messages: seven bits a byte, the low ones first, the top bit says that more follow.

use super::flaw::{Fault, MessageFlaw};
use super::key::Key;
use alloc::vec::Vec;

/// Writes a number: 1 byte below 128, at most 10.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes a key: 1 byte below 128, else 2.
pub fn put_key(out: &mut Vec<u8>, key: Key) {
    put(out, u64::from(key.0));
}

/// What is left of a message.
#[derive(Clone, Debug)]
pub struct Rest<'a> {
    /// The bytes that are left.
    pub bytes: &'a [u8],
    /// How many were taken.
    pub at: usize,
}

impl<'a> Rest<'a> {
    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], MessageFlaw> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Fault::Short.at(self.at))?;
        self.bytes = rest;
        self.at += count;
        Ok(taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, MessageFlaw> {
        Ok(self.take(1)?[0])
    }

    /// The next number; one that is longer than it need be is refused, so that a message has one form.
    pub fn number(&mut self) -> Result<u64, MessageFlaw> {
        let at = self.at;
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits || (byte == 0 && shift > 0) {
                return Err(Fault::Number.at(at));
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Fault::Number.at(at))
    }

    /// The next number, which counts things of which there are never 2³².
    pub fn count(&mut self) -> Result<u32, MessageFlaw> {
        let at = self.at;
        self.number()?.try_into().map_err(|_| Fault::Number.at(at))
    }

    /// The next key.
    pub fn key(&mut self) -> Result<Key, MessageFlaw> {
        let at = self.at;
        let number = self.number()?;
        u16::try_from(number).ok().and_then(Key::new).ok_or(Fault::Key(number).at(at))
    }
}
