//! Processes of other jobs. Two of them have no secret from the start: each publishes a public key, and the secret of both comes of
//! them (X25519, RFC 7748). So what travels between the jobs before they meet is to be authentic, and need not be secret.
//!
//! What a process publishes for those of other jobs: 0 wire id u32 · 4 rank u32 · 8 job u64 · 16 public key (32 bytes). The records of
//! its addresses follow (`wire`).

use crate::record::Key;
use crate::wire::{self, RECORD_BYTES};
use alloc::vec::Vec;
use hmac::{Hmac, KeyInit, Mac};
use opal_core::framework::btl::{Job, ProcessName};
use opal_core::sync::Once;
use opal_core::sys;
use sha2::{Digest, Sha256};
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

/// This process, as those of other jobs see it.
pub struct Own {
    pub name: ProcessName,
    private: Key,
    public: Key,
}

/// A process of another job, as it says itself who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub name: ProcessName,
    public: Key,
}

/// This process and one of another job: they shake hands as a job of two, in which the one with the lower name is process 0.
pub struct Pair {
    /// The number of that job. It tells nothing of the secret.
    pub number: u64,
    index: u32,
    private: Key,
    theirs: Key,
    secret: Once<Key>,
}

impl Own {
    /// With a new key.
    pub fn new(name: ProcessName) -> rustix::io::Result<Own> {
        let private = sys::random()?;
        Ok(Own { name, private, public: x25519(private, X25519_BASEPOINT_BYTES) })
    }

    /// Appends what others are to know.
    pub fn push(&self, to: &mut Vec<u8>) {
        to.extend(wire::WIRE_ID.to_le_bytes());
        to.extend(self.name.rank.to_le_bytes());
        to.extend(self.name.job.to_le_bytes());
        to.extend(self.public);
    }

    /// Both processes.
    pub fn pair(&self, other: &Identity) -> Pair {
        let own = Identity { name: self.name, public: self.public };
        let index = u32::from(self.name > other.name);
        let (low, high) = if index == 0 { (&own, other) } else { (other, &own) };
        let mut hash = Sha256::new();
        for one in [low, high] {
            hash.update(one.name.job.to_le_bytes());
            hash.update(one.name.rank.to_le_bytes());
            hash.update(one.public);
        }
        let hash = hash.finalize();
        let number = hash.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Pair { number, index, private: self.private, theirs: other.public, secret: Once::new() }
    }
}

impl Pair {
    /// The job of both.
    pub fn job(&self) -> Job {
        let secret = *self.secret.call_once(|| {
            let shared = x25519(self.private, self.theirs);
            let mut mac = Hmac::<Sha256>::new_from_slice(&shared).expect("HMAC takes keys of any length");
            mac.update(b"btl/tcp between jobs");
            mac.update(&self.number.to_le_bytes());
            // Of a key that no process makes everybody knows what comes of it: with that peer no handshake succeeds.
            if shared == [0; 32] {
                mac.update(&self.private);
            }
            mac.finalize().into_bytes().into()
        });
        Job { number: self.number, index: self.index, size: 2, one_node: false, secret }
    }
}

/// Who published these bytes, and the records behind that; `None` if they follow no format.
pub fn identity(published: &[u8]) -> Option<(Identity, &[u8])> {
    let (first, rest) = published.split_first_chunk::<RECORD_BYTES>()?;
    let (_, first) = first.split_first_chunk::<4>()?;
    let (rank, first) = first.split_first_chunk::<4>()?;
    let (job, first) = first.split_first_chunk::<8>()?;
    let public = *first.first_chunk::<32>()?;
    let name = ProcessName { job: u64::from_le_bytes(*job), rank: u32::from_le_bytes(*rank) };
    Some((Identity { name, public }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_find_the_same_secret_and_nobody_else_does() {
        let own = |job, rank| Own::new(ProcessName { job, rank }).unwrap();
        let seen = |own: &Own| {
            let mut bytes = Vec::new();
            own.push(&mut bytes);
            assert_eq!(bytes.len(), RECORD_BYTES);
            assert!(identity(&bytes[1..]).is_none());
            let (identity, rest) = identity(&bytes).unwrap();
            assert!(rest.is_empty() && identity.name == own.name);
            identity
        };
        let (one, other, third) = (own(7, 3), own(8, 1), own(8, 1));
        let (there, back) = (one.pair(&seen(&other)).job(), other.pair(&seen(&one)).job());
        assert_eq!((there.number, there.secret, there.index), (back.number, back.secret, 1 - back.index));
        assert_eq!((there.index, there.size), (0, 2));
        let wrong = third.pair(&seen(&one)).job();
        assert!(wrong.number != there.number && wrong.secret != there.secret);
        let weak = Identity { public: [0; 32], ..seen(&other) };
        assert_ne!(one.pair(&weak).job().secret, own(7, 3).pair(&weak).job().secret);
    }
}
