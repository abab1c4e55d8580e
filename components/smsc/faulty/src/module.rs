//! The module: another one, and what happens to its copies.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::raw;
use alloc::vec::Vec;
use opal_core::Result;
use opal_core::framework::smsc::{Caps, Module, PeerId};
use opal_core::mca::pvar::Counter;
use opal_core::random::Random;
use opal_core::sync::ConditionalLock;

/// Copies with a changed bit.
pub static CORRUPTED: Counter = Counter::new();

/// Copies with faults. Its peers are those of the other one.
pub struct Faulty {
    copier: &'static dyn Module,
    // Of a million copies.
    corrupt: u64,
    random: ConditionalLock<Random>,
}

impl Faulty {
    /// Over this one.
    pub fn new(copier: &'static dyn Module, seed: u64, corrupt: u64) -> Faulty {
        Faulty { copier, corrupt, random: ConditionalLock::new(Random::new(seed)) }
    }

    /// The bit to change in the next copy, if there is one.
    fn roll(&self, bytes: usize) -> Option<usize> {
        let mut random = self.random.lock();
        let happens = bytes > 0 && random.happens(self.corrupt, MILLION);
        happens.then(|| {
            CORRUPTED.count();
            random.below(8 * bytes as u64) as usize
        })
    }
}

impl Module for Faulty {
    fn caps(&self) -> &Caps {
        self.copier.caps()
    }

    fn address(&self) -> Vec<u8> {
        self.copier.address()
    }

    fn connect(&self, address: &[u8]) -> Result<PeerId> {
        self.copier.connect(address)
    }

    fn reaches(&self, peer: PeerId, remote: u64, bytes: usize) -> bool {
        self.copier.reaches(peer, remote, bytes)
    }

    fn is_reached(&self, at: *const u8, bytes: usize) -> bool {
        self.copier.is_reached(at, bytes)
    }

    fn close(&self) {
        self.copier.close();
    }

    unsafe fn copy_from(&self, peer: PeerId, remote: u64, local: *mut u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copier.copy_from(peer, remote, local, bytes)? };
        if let Some(bit) = self.roll(bytes) {
            // SAFETY: `local` is writable for `bytes`.
            unsafe { raw::flip(local, bit) };
        }
        Ok(())
    }

    unsafe fn copy_to(&self, peer: PeerId, remote: u64, local: *const u8, bytes: usize) -> Result<()> {
        match self.roll(bytes) {
            None => {
                // SAFETY: the caller's promise.
                unsafe { self.copier.copy_to(peer, remote, local, bytes) }
            }
            Some(bit) => {
                // SAFETY: `local` is readable for `bytes`.
                let changed = unsafe { raw::flipped(local, bytes, bit) };
                // SAFETY: as long as `bytes`.
                unsafe { self.copier.copy_to(peer, remote, changed.as_ptr(), bytes) }
            }
        }
    }
}

const MILLION: u64 = 1_000_000;
