//! Slices of the memory that a launcher left: the receive segment of each rank. An address is the number of a slice and the
//! length in use, so it means the same to every process that maps that memory, by whatever means.

use super::{Address, Inherited};
use crate::{Error, Result};

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
    /// This process's own, to hold at least `bytes`. `Err(OutOfResource)` if it is shorter.
    pub fn own(inherited: &Inherited, bytes: usize, page: u64) -> Result<Slice> {
        let bytes = (bytes.max(1) as u64).checked_next_multiple_of(page);
        let bytes = bytes.filter(|bytes| *bytes <= inherited.stride).ok_or(Error::OutOfResource)?;
        Ok(Slice { slot: inherited.local_rank, stride: inherited.stride, bytes })
    }

    /// Where it lies in the memory, and its length. `Err(Malformed)` if no peer can have such a slice.
    pub fn place(&self, inherited: &Inherited, page: u64) -> Result<(u64, usize)> {
        let sound = self.slot < inherited.local_size
            && self.stride == inherited.stride
            && (1..=inherited.stride).contains(&self.bytes)
            && self.bytes.is_multiple_of(page);
        let bytes = usize::try_from(self.bytes).map_err(|_| Error::Malformed)?;
        // No overflow: `Inherited::fits` checked the end of the last slice.
        if sound {
            Ok((inherited.offset + u64::from(self.slot) * inherited.stride, bytes))
        } else {
            Err(Error::Malformed)
        }
    }

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

impl Inherited {
    /// Whether all slices lie in memory of this length, at whole pages.
    pub fn fits(&self, memory_bytes: u64, page: u64) -> bool {
        let length = self.stride.checked_mul(u64::from(self.local_size));
        let end = length.and_then(|length| length.checked_add(self.offset));
        let aligned = self.offset.is_multiple_of(page) && self.stride.is_multiple_of(page);
        end.is_some_and(|end| end <= memory_bytes) && aligned && self.stride != 0 && self.local_rank < self.local_size
    }
}

const TAG: [u8; 4] = *b"mfd1";
