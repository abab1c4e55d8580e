//! The module: its nonce, and peers proved by theirs.

use crate::address::{Address, Nonce};
use crate::component::{CHUNK_SIZE, MIN_SIZE};
use crate::raw::{self, Place};
use opal_core::framework::smsc::{Caps, Peer};
use opal_core::{Error, Result, sys};

/// Peers are process numbers.
pub struct Cma {
    caps: Caps,
    nonce: Place,
    address: Address,
}

impl Cma {
    /// `None` if there are no random bytes.
    pub fn new() -> Option<Cma> {
        let mut nonce = Nonce::default();
        let read = rustix::rand::getrandom(&mut nonce, rustix::rand::GetRandomFlags::empty());
        if read != Ok(nonce.len()) {
            return None;
        }
        let place = Place::new(nonce);
        let address = Address { pid: sys::pid(), at: place.address(), nonce };
        let caps = Caps { min_bytes: MIN_SIZE.size().max(1), max_bytes: CHUNK_SIZE.size().max(4096) };
        Some(Cma { caps, nonce: place, address })
    }

    /// Its abilities.
    pub fn abilities(&self) -> &Caps {
        &self.caps
    }

    /// What it publishes.
    pub fn own_address(&self) -> Address {
        debug_assert_eq!(self.nonce.address(), self.address.at);
        self.address
    }

    /// Proves that a peer is who its address says.
    pub fn prove(&self, address: &[u8]) -> Result<Peer> {
        let address = Address::decode(address).ok_or(Error::Malformed)?;
        let pid = i32::try_from(address.pid).ok().filter(|pid| *pid > 0).ok_or(Error::Malformed)?;
        let mut found = Nonce::default();
        match raw::read(pid, address.at, &mut found) {
            Ok(()) if found == address.nonce => {}
            // Somebody who has other memory than the peer is not the peer.
            Ok(()) | Err(Error::Invalid) => return Err(Error::Mismatch),
            Err(error) => return Err(error),
        }
        // To read may be allowed where to write is not. What is written is what lies there.
        raw::write(pid, address.at, &address.nonce)?;
        Ok(Peer(u64::from(address.pid)))
    }
}
