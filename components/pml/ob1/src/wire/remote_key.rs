//! What an RTS says of the sender's memory, where the receiver may read it through a transport by itself.
//!
//! | offset | bytes | behind the numbers of the RTS |
//! |---|---|---|
//! | 0 | 8 | address of the data at the sender |
//! | 8 | 8 | `wire_id` of the transport that has registered it |
//! | 16 | 1–64 | the transport's key of that memory |

use opal_core::mem::Untrusted;

/// Memory of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteKey {
    /// Where the data lies there.
    pub address: u64,
    /// The transport, by what its `Caps::wire_id` says.
    pub wire_id: u32,
    key: [u8; KEY_BYTES_MAX],
    key_bytes: u8,
}

impl RemoteKey {
    /// `None` for a key that is too long to travel along.
    pub fn new(address: u64, wire_id: u32, key: &[u8]) -> Option<RemoteKey> {
        let mut remote = RemoteKey { address, wire_id, key: [0; KEY_BYTES_MAX], key_bytes: key.len() as u8 };
        remote.key.get_mut(..key.len()).filter(|place| !place.is_empty())?.copy_from_slice(key);
        Some(remote)
    }

    /// The transport's key, as the peer says.
    pub fn key(&self) -> &[u8] {
        &self.key[..usize::from(self.key_bytes)]
    }

    /// Writes it behind what stands in an RTS; how many bytes.
    pub fn pack(&self, place: &mut [u8; REMOTE_KEY_BYTES_MAX]) -> usize {
        let bytes = NUMBERS_BYTES + self.key().len();
        place[..8].copy_from_slice(&self.address.to_le_bytes());
        place[8..NUMBERS_BYTES].copy_from_slice(&u64::from(self.wire_id).to_le_bytes());
        place[NUMBERS_BYTES..bytes].copy_from_slice(self.key());
        bytes
    }

    /// From a peer's payload; `None` if it is malformed.
    pub fn unpack(payload: Untrusted<'_>) -> Option<RemoteKey> {
        let rest = payload.skip(NUMBERS_BYTES);
        let [address, wire_id] = [payload.array()?, payload.skip(8).array()?].map(u64::from_le_bytes);
        let mut key = [0; KEY_BYTES_MAX];
        rest.copy_to(key.get_mut(..rest.len())?);
        RemoteKey::new(address, u32::try_from(wire_id).ok()?, &key[..rest.len()])
    }
}

/// The longest of it.
pub const REMOTE_KEY_BYTES_MAX: usize = NUMBERS_BYTES + KEY_BYTES_MAX;
const NUMBERS_BYTES: usize = 16;
/// Transports may have longer keys; their memory is not read so.
const KEY_BYTES_MAX: usize = 64;
