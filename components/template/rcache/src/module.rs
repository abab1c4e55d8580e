//! The module: finds, registers, keeps and ends registrations.

use opal_core::Result;
use opal_core::framework::btl;
use opal_core::framework::rcache::{self, Lease, UseKey};

/// Keeps the registrations with one transport.
pub struct Keeper {
    with: &'static dyn btl::Module,
}

impl Keeper {
    /// Nothing is kept yet.
    pub fn new(with: &'static dyn btl::Module) -> Keeper {
        Keeper { with }
    }
}

impl rcache::Module for Keeper {
    fn acquire(&self, address: *mut u8, bytes: usize, use_key: UseKey<'_>) -> Result<Lease> {
        // 3. Keep it instead, where `opal_core::framework::memory::sees` the end of this memory, as `Lease::Kept`.
        rcache::acquire_own(self.with, address, bytes, use_key)
    }

    fn release(&self, lease: Lease) {
        if let Lease::Own(registration) = lease {
            self.with.unregister_memory(registration);
        }
    }
}
