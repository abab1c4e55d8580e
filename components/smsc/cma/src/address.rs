//! What a process publishes: tag (4 bytes) · process number u32 · where its nonce lies u64 · nonce (16 bytes);
//! little-endian.

use alloc::vec::Vec;

/// A random value that one process has at one place.
pub type Nonce = [u8; 16];

/// A decoded address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The process's number, as it sees itself: in another pid namespace it may be somebody else's.
    pub pid: u32,
    /// Where the nonce lies there.
    pub at: u64,
    /// What lies there.
    pub nonce: Nonce,
}

impl Address {
    /// As it travels.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(32);
        bytes.extend(TAG);
        bytes.extend(self.pid.to_le_bytes());
        bytes.extend(self.at.to_le_bytes());
        bytes.extend(self.nonce);
        bytes
    }

    /// `None` if another component or version wrote it.
    pub fn decode(bytes: &[u8]) -> Option<Address> {
        let (tag, rest) = bytes.split_first_chunk::<4>()?;
        let (pid, rest) = rest.split_first_chunk()?;
        let (at, rest) = rest.split_first_chunk()?;
        let nonce = rest.try_into().ok()?;
        (*tag == TAG).then_some(Address { pid: u32::from_le_bytes(*pid), at: u64::from_le_bytes(*at), nonce })
    }
}

const TAG: [u8; 4] = *b"cma1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_and_cut_off() {
        let address = Address { pid: 77, at: 0x7fff_0000_1234, nonce: [9; 16] };
        let bytes = address.encode();
        assert_eq!(Address::decode(&bytes), Some(address));
        for length in 0..bytes.len() {
            assert_eq!(Address::decode(&bytes[..length]), None);
        }
        assert_eq!(Address::decode(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(Address::decode(&[&b"cma2"[..], &bytes[4..]].concat()), None);
    }
}
