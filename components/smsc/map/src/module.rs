//! The module: its peers, and copies.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::address;
use crate::params::{CHUNK_SIZE, HALVES_SIZE, MIN_SIZE};
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::framework::memcpy;
use opal_core::framework::smsc::{Caps, Module, PeerId};
use opal_core::shareable::{self, PeerHeap};
use opal_core::sync::ConditionalLock;
use opal_core::sys::Place;
use opal_core::{Error, Result};

/// Peers are numbers in the list of those whose files were opened.
pub struct Map {
    caps: Caps,
    own: Place,
    peers: ConditionalLock<Vec<Arc<PeerHeap>>>,
}

impl Map {
    /// `None` if this process can have no shareable memory.
    pub fn new() -> Option<Map> {
        let (min_bytes, max_bytes) = (MIN_SIZE.size().max(1), CHUNK_SIZE.size().max(4096));
        let caps = Caps { min_bytes, max_bytes, halved_bytes: HALVES_SIZE.size(), any_memory: false };
        Some(Map { caps, own: shareable::place()?, peers: ConditionalLock::new(Vec::new()) })
    }

    fn peer(&self, peer: PeerId) -> Option<Arc<PeerHeap>> {
        self.peers.lock().get(peer.0 as usize).cloned()
    }
}

impl Module for Map {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn address(&self) -> Vec<u8> {
        address::encode(&self.own)
    }

    fn connect(&self, address: &[u8]) -> Result<PeerId> {
        let peer = PeerHeap::of(&address::decode(address).ok_or(Error::Malformed)?)?;
        let mut peers = self.peers.lock();
        peers.push(peer);
        Ok(PeerId(peers.len() as u64 - 1))
    }

    fn reaches(&self, peer: PeerId, remote: u64, bytes: usize) -> bool {
        self.peers.lock().get(peer.0 as usize).is_some_and(|peer| peer.holds(remote, bytes))
    }

    fn is_reached(&self, at: *const u8, bytes: usize) -> bool {
        shareable::is_shown(at, bytes)
    }

    fn close(&self) {
        self.peers.lock().iter().for_each(|peer| peer.let_go());
    }

    unsafe fn copy_from(&self, peer: PeerId, remote: u64, local: *mut u8, bytes: usize) -> Result<()> {
        let peer = self.peer(peer).ok_or(Error::Invalid)?;
        let from = peer.reach(remote, bytes)?;
        // SAFETY: mapped for `bytes`; the caller's promise for `local`, which is no part of it.
        unsafe { memcpy::copy(local, from.at(), bytes) };
        Ok(())
    }

    unsafe fn copy_to(&self, peer: PeerId, remote: u64, local: *const u8, bytes: usize) -> Result<()> {
        let peer = self.peer(peer).ok_or(Error::Invalid)?;
        let to = peer.reach(remote, bytes)?;
        // SAFETY: as above.
        unsafe { memcpy::copy(to.at(), local, bytes) };
        Ok(())
    }
}
