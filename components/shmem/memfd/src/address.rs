//! What a peer needs to map an inbox: which slice, and how much of it is in use.

use opal_core::framework::shmem::Address;

/// A decoded address; not yet compared with the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Local rank of the owner.
    pub slot: u32,
    /// Distance between slices as the owner knows it: both ends must have inherited the same segment.
    pub stride: u64,
    /// Bytes that the owner mapped.
    pub bytes: u64,
}

impl Slice {
    /// As it travels.
    pub fn encode(&self) -> Address {
        let mut address = [0; 24];
        address[..4].copy_from_slice(&TAG);
        address[4..8].copy_from_slice(&self.slot.to_le_bytes());
        address[8..16].copy_from_slice(&self.stride.to_le_bytes());
        address[16..].copy_from_slice(&self.bytes.to_le_bytes());
        address
    }

    /// `None` if another component wrote it.
    pub fn decode(address: &Address) -> Option<Slice> {
        let (tag, rest) = address.split_first_chunk::<4>()?;
        let (slot, rest) = rest.split_first_chunk()?;
        let (stride, rest) = rest.split_first_chunk()?;
        let (bytes, _) = rest.split_first_chunk()?;
        (*tag == TAG).then_some(Slice {
            slot: u32::from_le_bytes(*slot),
            stride: u64::from_le_bytes(*stride),
            bytes: u64::from_le_bytes(*bytes),
        })
    }
}

const TAG: [u8; 4] = *b"mfd1";
