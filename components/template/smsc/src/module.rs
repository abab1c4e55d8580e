//! The module.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use alloc::vec::Vec;
use opal_core::framework::smsc::{Caps, Module, PeerId};
use opal_core::{Error, Result};

/// The one module.
pub static MODULE: TemplateModule = TemplateModule;

/// 3. What it can do.
const CAPS: Caps = Caps { min_bytes: 16 << 10, max_bytes: 16 << 20, halved_bytes: 0, any_memory: true };

/// A way to a peer's memory.
pub struct TemplateModule;

impl Module for TemplateModule {
    fn caps(&self) -> &Caps {
        &CAPS
    }

    fn address(&self) -> Vec<u8> {
        // 4. What tells a peer how to reach this process, and lets it prove that it has reached this one and no other.
        Vec::new()
    }

    fn connect(&self, _address: &[u8]) -> Result<PeerId> {
        // 5. Try it in both directions: whether the system allows it shows only then.
        Err(Error::Unsupported)
    }

    unsafe fn copy_from(&self, _peer: PeerId, _remote: u64, _local: *mut u8, _bytes: usize) -> Result<()> {
        // 6. All of it, or an error. System calls and device memory go to src/raw.rs.
        Err(Error::Unsupported)
    }

    unsafe fn copy_to(&self, _peer: PeerId, _remote: u64, _local: *const u8, _bytes: usize) -> Result<()> {
        Err(Error::Unsupported)
    }
}
