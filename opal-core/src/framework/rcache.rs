//! Registration cache: keeps memory registered with a transport after its transfer, because registering costs more than most transfers.
//!
//! A registration belongs to pages, not to addresses: once the program gives memory back and the system maps other pages at the same
//! address, a kept registration leads to the wrong ones. So a component may keep one only for memory of which
//! [`memory::sees`](crate::framework::memory::sees) says that its end will be told, and only until it is told. Without a component, and for
//! all other memory, a registration ends with its last user.
//!
//! 1. [`select`], once, before transports are used.
//! 2. [`of`], once for a transport: what its users share.
//! 3. [`Registrations::acquire`] for each transfer, and [`Registrations::release`] after it.
#![allow(unsafe_code)] // linkme's expansion

use crate::framework::btl::{self, Registration};
use crate::mca;
use crate::sync::{Mutex, Once};
use crate::{Result, verbose};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Memory that is registered until it is released.
#[derive(Debug, PartialEq, Eq)]
pub enum Lease {
    /// The cache's number for a registration that it keeps.
    Kept(u32),
    /// A registration that nobody else has, and that ends with this lease.
    Own(Registration),
}

/// What a [`Module`] does with the key of a registration, which it lends for the time of the call.
pub type UseKey<'a> = &'a mut dyn FnMut(&[u8]);

/// Keeps the registrations with one transport. All methods may run in several threads at once.
pub trait Module: Sync {
    /// Finds a registration that covers these bytes, or makes one, and calls `use_key` once with its key. The errors are those of
    /// [`btl::Module::register_memory`]; then `use_key` was not called.
    ///
    /// Memory whose end was told before this call is never found: whoever maps it anew gets a new registration.
    fn acquire(&self, address: *mut u8, bytes: usize, use_key: UseKey<'_>) -> Result<Lease>;

    /// Ends the use of one; [`Lease::Kept`] only of this module's.
    fn release(&self, lease: Lease);
}

/// A cache that may run.
pub trait Component: mca::Component {
    /// Its priority, after `open`. It declines where nobody tells of memory that goes.
    fn query(&self) -> core::result::Result<i32, mca::Declined>;

    /// A cache of the registrations with this transport. At most once for each.
    fn keep(&self, of: &'static dyn btl::Module) -> Box<dyn Module + Send>;
}

crate::framework! {
    /// Keeps memory registered with transports.
    "rcache", Opal, version 1, OneOfMany, OMPI_RCACHES: dyn Component
}

static SELECTED: Once<Option<&'static dyn Component>> = Once::new();

/// Chooses the component, if one runs here.
pub fn select() -> Result<()> {
    let best = mca::select::select_best(&FRAMEWORK, &OMPI_RCACHES, |component| Ok((component.query()?, ())))?;
    SELECTED.call_once(|| best.map(|(component, ())| component));
    Ok(())
}

/// The registrations with one transport.
pub struct Registrations {
    with: &'static dyn btl::Module,
    kept: Option<Box<dyn Module + Send>>,
}

static ALL: Mutex<Vec<&'static Registrations>> = Mutex::new(Vec::new());

/// The registrations with a transport, the same for all who ask. They live as long as the process.
pub fn of(module: &'static dyn btl::Module) -> &'static Registrations {
    let mut all = ALL.lock();
    if let Some(known) = all.iter().find(|known| core::ptr::addr_eq(known.with, module)) {
        return known;
    }
    let component = SELECTED.get().copied().flatten();
    if component.is_none() {
        verbose!(FRAMEWORK, 10, "no cache runs: each registration ends with its transfer");
    }
    let kept = component.map(|component| component.keep(module));
    let new: &'static Registrations = Box::leak(Box::new(Registrations { with: module, kept }));
    all.push(new);
    new
}

impl Registrations {
    /// [`Module::acquire`], by the chosen component or without one.
    pub fn acquire(&self, address: *mut u8, bytes: usize, use_key: UseKey<'_>) -> Result<Lease> {
        match &self.kept {
            Some(kept) => kept.acquire(address, bytes, use_key),
            None => acquire_own(self.with, address, bytes, use_key),
        }
    }

    /// [`Module::release`].
    pub fn release(&self, lease: Lease) {
        match (&self.kept, lease) {
            (Some(kept), lease) => kept.release(lease),
            (None, Lease::Own(registration)) => self.with.unregister_memory(registration),
            (None, Lease::Kept(number)) => unreachable!("nobody keeps registration {number}"),
        }
    }
}

/// For components, and without one: a registration of its own.
pub fn acquire_own(with: &dyn btl::Module, address: *mut u8, bytes: usize, use_key: UseKey<'_>) -> Result<Lease> {
    let registration = with.register_memory(address, bytes)?;
    use_key(&registration.key);
    Ok(Lease::Own(registration))
}
