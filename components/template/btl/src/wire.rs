//! What a process publishes: tag [4] · number u32, little-endian.

use alloc::vec::Vec;

/// A decoded address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whatever a peer must know to reach this process.
    pub number: u32,
}

impl Address {
    /// As it travels.
    pub fn encode(&self) -> Vec<u8> {
        [TAG, self.number.to_le_bytes()].concat()
    }

    /// `None` if another component or version wrote it.
    pub fn decode(bytes: &[u8]) -> Option<Address> {
        let (tag, rest) = bytes.split_first_chunk::<4>()?;
        let number = u32::from_le_bytes(rest.try_into().ok()?);
        (*tag == TAG).then_some(Address { number })
    }
}

/// Change it whenever the format changes.
const TAG: [u8; 4] = *b"new1";
