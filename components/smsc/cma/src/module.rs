//! The module: its nonce, and peers proved by theirs.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::address::{Address, Nonce};
use crate::params::{CHUNK_SIZE, MIN_SIZE};
use crate::raw::{self, Direction, NonceCell, Sides, transfer};
use alloc::vec::Vec;
use opal_core::framework::smsc::{Caps, LocalRun, Module, PeerId, Piece};
use opal_core::sync::ConditionalLock;
use opal_core::{Error, Result, sys, wait};

/// Peers are numbers in the list of those that were proved. The system is told a process number, which may be somebody else's
/// after the peer has died: once a process of the job was lost, each copy proves its peer again.
pub struct Cma {
    caps: Caps,
    nonce: NonceCell,
    address: Address,
    proved: ConditionalLock<Vec<Address>>,
}

impl Cma {
    /// `None` if there are no random bytes.
    pub fn new() -> Option<Cma> {
        let nonce: Nonce = sys::random().ok()?;
        let cell = NonceCell::new(nonce);
        let address = Address { pid: sys::pid(), at: cell.address(), nonce };
        let (min_bytes, max_bytes) = (MIN_SIZE.size().max(1), CHUNK_SIZE.size().max(4096));
        let caps = Caps { min_bytes, max_bytes, halved_bytes: 0, any_memory: true };
        Some(Cma { caps, nonce: cell, address, proved: ConditionalLock::new(Vec::new()) })
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

    /// Proves that a peer is the process of its address.
    pub fn prove(&self, address: &[u8]) -> Result<PeerId> {
        let address = Address::decode(address).ok_or(Error::Malformed)?;
        let pid = process_number(&address).ok_or(Error::Malformed)?;
        read_nonce(pid, &address)?;
        // To read may be allowed where to write is not. What is written is what lies there.
        raw::write(pid, address.at, &address.nonce)?;
        let mut proved = self.proved.lock();
        proved.push(address);
        Ok(PeerId(proved.len() as u64 - 1))
    }

    /// The process number of a peer, for a copy that follows at once.
    fn current(&self, peer: PeerId) -> Result<i32> {
        let known = self.proved.lock().get(peer.0 as usize).copied();
        let (address, pid) =
            known.and_then(|address| Some((address, process_number(&address)?))).ok_or(Error::Invalid)?;
        if wait::any_lost() {
            // A process that has the number now but another nonce is not the peer.
            read_nonce(pid, &address)
                .map_err(|error| if error == Error::Mismatch { Error::Unreachable } else { error })?;
        }
        Ok(pid)
    }
}

fn process_number(address: &Address) -> Option<i32> {
    i32::try_from(address.pid).ok().filter(|pid| *pid > 0)
}

/// `Err(Mismatch)` if the process is not the one of the address.
fn read_nonce(pid: i32, address: &Address) -> Result<()> {
    let mut found = Nonce::default();
    match raw::read(pid, address.at, &mut found) {
        Ok(()) if found == address.nonce => Ok(()),
        // A process that has other memory than the peer is not the peer.
        Ok(()) | Err(Error::Invalid) => Err(Error::Mismatch),
        Err(error) => Err(error),
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
        let pid = self.current(peer)?;
        // SAFETY: the caller's promise.
        unsafe { transfer::<1>(Direction::From, pid, Sides::PiecesThere(&[Piece { at: remote, bytes }], local)) }
    }

    unsafe fn copy_to(&self, peer: PeerId, remote: u64, local: *const u8, bytes: usize) -> Result<()> {
        let pid = self.current(peer)?;
        // SAFETY: the caller's promise; it is only read.
        unsafe {
            transfer::<1>(Direction::To, pid, Sides::PiecesThere(&[Piece { at: remote, bytes }], local.cast_mut()))
        }
    }

    unsafe fn gather_from(&self, peer: PeerId, pieces: &[Piece], local: *mut u8) -> Result<()> {
        let pid = self.current(peer)?;
        // SAFETY: the caller's promise.
        unsafe { transfer::<PIECES_PER_CALL>(Direction::From, pid, Sides::PiecesThere(pieces, local)) }
    }

    unsafe fn scatter_to(&self, peer: PeerId, pieces: &[Piece], local: *const u8) -> Result<()> {
        let pid = self.current(peer)?;
        // SAFETY: the caller's promise; it is only read.
        unsafe { transfer::<PIECES_PER_CALL>(Direction::To, pid, Sides::PiecesThere(pieces, local.cast_mut())) }
    }

    unsafe fn scatter_from(&self, peer: PeerId, remote: u64, runs: &[LocalRun]) -> Result<()> {
        let pid = self.current(peer)?;
        // SAFETY: the caller's promise.
        unsafe { transfer::<RUNS_PER_CALL>(Direction::From, pid, Sides::RunsHere(remote, runs)) }
    }

    unsafe fn gather_to(&self, peer: PeerId, remote: u64, runs: &[LocalRun]) -> Result<()> {
        let pid = self.current(peer)?;
        // SAFETY: the caller's promise; they are only read.
        unsafe { transfer::<RUNS_PER_CALL>(Direction::To, pid, Sides::RunsHere(remote, runs)) }
    }
}

/// On the stack; the system takes up to 1024.
const PIECES_PER_CALL: usize = 64;
/// Of this process's memory, likewise. Each costs the system less than one of a peer's, whose pages it looks up.
const RUNS_PER_CALL: usize = 256;
