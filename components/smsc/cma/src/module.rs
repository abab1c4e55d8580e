//! The module: its nonce, and peers proved by theirs.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::address::{Address, Nonce};
use crate::params::{CHUNK_SIZE, MIN_SIZE};
use crate::raw::{self, Direction, NonceCell, transfer};
use alloc::vec::Vec;
use opal_core::framework::smsc::{Caps, Module, PeerId};
use opal_core::{Error, Result, sys};

/// Peers are process numbers.
pub struct Cma {
    caps: Caps,
    nonce: NonceCell,
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
        let cell = NonceCell::new(nonce);
        let address = Address { pid: sys::pid(), at: cell.address(), nonce };
        let caps = Caps { min_bytes: MIN_SIZE.size().max(1), max_bytes: CHUNK_SIZE.size().max(4096) };
        Some(Cma { caps, nonce: cell, address })
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
    pub fn prove(&self, address: &[u8]) -> Result<PeerId> {
        let address = Address::decode(address).ok_or(Error::Malformed)?;
        let pid = i32::try_from(address.pid).ok().filter(|pid| *pid > 0).ok_or(Error::Malformed)?;
        let mut found = Nonce::default();
        match raw::read(pid, address.at, &mut found) {
            Ok(()) if found == address.nonce => {}
            // A process that has other memory than the peer is not the peer.
            Ok(()) | Err(Error::Invalid) => return Err(Error::Mismatch),
            Err(error) => return Err(error),
        }
        // To read may be allowed where to write is not. What is written is what lies there.
        raw::write(pid, address.at, &address.nonce)?;
        Ok(PeerId(u64::from(address.pid)))
    }
}

impl Module for Cma {
    fn caps(&self) -> &Caps {
        self.abilities()
    }

    fn address(&self) -> Vec<u8> {
        self.own_address().encode()
    }

    fn connect(&self, address: &[u8]) -> Result<PeerId> {
        self.prove(address)
    }

    unsafe fn copy_from(&self, peer: PeerId, remote: u64, local: *mut u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise. PeerIds are what `prove` made of positive 32-bit numbers.
        unsafe { transfer(Direction::From, peer.0 as i32, remote, local, bytes) }
    }

    unsafe fn copy_to(&self, peer: PeerId, remote: u64, local: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise; it is only read. PeerIds as above.
        unsafe { transfer(Direction::To, peer.0 as i32, remote, local.cast_mut(), bytes) }
    }
}
