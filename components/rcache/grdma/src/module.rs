//! The module: finds, registers, keeps and ends registrations.

use crate::cache::{Bounds, Cache};
use crate::notices::{Notice, Notices};
use crate::params::{BYTES, ENTRIES};
use crate::pvars::{FOUND, GIVEN_UP, KEPT_BYTES, MADE, NOT_KEPT, NOTICES};
use alloc::vec::Vec;
use core::ops::Range;
use opal_core::Result;
use opal_core::framework::btl::{self, Registration};
use opal_core::framework::memory;
use opal_core::framework::rcache::{self, Lease, Module, UseKey};
use opal_core::shareable;
use opal_core::sync::ConditionalLock;

/// For framework memory: this range is about to go.
pub fn told(address: usize, bytes: usize) {
    TOLD.tell(address, address.saturating_add(bytes));
}

static TOLD: Notices<256> = Notices::new();

/// The caches of all transports: a notice is for all of them.
static CACHES: ConditionalLock<Caches> = ConditionalLock::new(Caches { all: Vec::new() });

struct Caches {
    all: Vec<Kept>,
}

struct Kept {
    with: &'static dyn btl::Module,
    cache: Cache,
}

/// Keeps the registrations with one transport.
pub struct Keeper {
    with: &'static dyn btl::Module,
    /// Among all.
    number: usize,
}

impl Keeper {
    /// Nothing is kept yet.
    pub fn new(with: &'static dyn btl::Module) -> Keeper {
        let mut caches = CACHES.lock();
        caches.all.push(Kept { with, cache: Cache::new() });
        Keeper { with, number: caches.all.len() - 1 }
    }

    #[cold]
    #[inline(never)]
    fn register(&self, kept: &mut Kept, address: *mut u8, bytes: usize, use_key: UseKey<'_>) -> Result<Lease> {
        let bounds = Bounds { entries: ENTRIES.size(), bytes: BYTES.size() };
        let range = address.addr()..address.addr().saturating_add(bytes);
        let is_told = memory::sees(address.addr(), bytes) || shareable::holds(address, bytes);
        if is_told && bytes <= bounds.bytes {
            let joined = kept.cache.joined(&range);
            // What overlaps is given up for the larger one.
            kept.forget(&joined);
            if let Some(registration) = kept.make(address.with_addr(joined.start), joined.len(), bounds)? {
                use_key(&registration.key);
                KEPT_BYTES.add(joined.len() as u64);
                return Ok(Lease::Kept(kept.cache.keep(&joined, registration)));
            }
        }
        let lease = rcache::acquire_own(self.with, address, bytes, use_key)?;
        MADE.count();
        NOT_KEPT.count();
        Ok(lease)
    }
}

impl Module for Keeper {
    #[inline]
    fn acquire(&self, address: *mut u8, bytes: usize, use_key: UseKey<'_>) -> Result<Lease> {
        let mut caches = CACHES.lock();
        if !TOLD.is_empty() {
            caches.hear();
        }
        let kept = &mut caches.all[self.number];
        match kept.cache.find(&(address.addr()..address.addr().saturating_add(bytes))) {
            Some(number) => {
                FOUND.count();
                use_key(kept.cache.key(number));
                Ok(Lease::Kept(number))
            }
            None => self.register(kept, address, bytes, use_key),
        }
    }

    #[inline]
    fn release(&self, lease: Lease) {
        let mut caches = CACHES.lock();
        let kept = &mut caches.all[self.number];
        let ended = match lease {
            Lease::Kept(number) => kept.cache.release(number),
            Lease::Own(registration) => Some(registration),
        };
        if let Some(registration) = ended {
            kept.with.unregister_memory(registration);
        }
    }
}

impl Caches {
    /// Ends what was registered of memory that went.
    #[cold]
    #[inline(never)]
    fn hear(&mut self) {
        TOLD.take(|notice| {
            NOTICES.count();
            let range = match notice {
                Notice::Range(start, end) => start..end,
                Notice::Everything => 0..usize::MAX,
            };
            self.all.iter_mut().for_each(|kept| kept.forget(&range));
        });
    }
}

impl Kept {
    fn forget(&mut self, range: &Range<usize>) {
        let before = self.cache.size().1;
        self.cache.forget(range, |registration| self.with.unregister_memory(registration));
        KEPT_BYTES.take((before - self.cache.size().1) as u64);
    }

    /// A registration for which there is room; `None`: there is none, since all that is kept is in use.
    fn make(&mut self, address: *mut u8, bytes: usize, bounds: Bounds) -> Result<Option<Registration>> {
        while !self.cache.has_room(bytes, bounds) {
            if !self.give_up() {
                return Ok(None);
            }
        }
        loop {
            match self.with.register_memory(address, bytes) {
                Ok(registration) => {
                    MADE.count();
                    return Ok(Some(registration));
                }
                // The system or a card has a bound of its own.
                Err(_) if self.give_up() => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn give_up(&mut self) -> bool {
        let before = self.cache.size().1;
        let Some(registration) = self.cache.give_up() else { return false };
        self.with.unregister_memory(registration);
        GIVEN_UP.count();
        KEPT_BYTES.take((before - self.cache.size().1) as u64);
        true
    }
}
