//! The interface that moves memory, and the memory domain behind it.
#![allow(unsafe_code)]

use super::arrivals::{Arrivals, Operation};
use super::library::Library;
use super::offer::{Domain, Offer};
use super::port::Port;
use crate::abi::{
    FEATURE_GET, FEATURE_PUT, IFACE_CONNECT_TO_IFACE, IFACE_GET_ZCOPY, IFACE_PUT_ZCOPY, MD_NEED_MEMH, MD_REG, MdAttr,
    Worker,
};
use alloc::format;
use alloc::string::String;
use core::mem::MaybeUninit;

/// What moves memory.
pub struct Mover {
    pub(super) port: Port,
    pub(super) domain: Domain,
    pub(super) rkey_bytes: usize,
    pub(super) operations: *mut Operation,
}

impl Mover {
    /// Opens the interface. `Err` with half a sentence.
    pub(super) fn open(
        library: &Library,
        worker: *mut Worker,
        offer: &Offer,
        arrivals: &Arrivals,
    ) -> Result<Mover, String> {
        let domain = library.domain_of(offer)?;
        let mut attr = MaybeUninit::<MdAttr>::zeroed();
        // SAFETY: an open domain, and room for what it says, in this version and in longer ones.
        library.check("uct_md_query", unsafe { (library.uct_md_query)(domain.handle, attr.as_mut_ptr()) })?;
        // SAFETY: numbers, which zeros are, too.
        let attr = unsafe { attr.assume_init() };
        let port = Port::open(library, worker, &domain, offer, arrivals, (FEATURE_PUT | FEATURE_GET, None))?;
        let needed = IFACE_PUT_ZCOPY | IFACE_GET_ZCOPY | IFACE_CONNECT_TO_IFACE;
        if port.attr.flags & needed != needed || attr.flags & MD_REG == 0 {
            return Err(format!("{}: it neither puts nor gets memory that is registered", offer.described()));
        }
        if attr.flags & MD_NEED_MEMH != 0 {
            return Err(format!("{}: it wants this process's memory registered for each operation", offer.described()));
        }
        Ok(Mover { port, domain, rkey_bytes: attr.rkey_bytes, operations: arrivals.operations(OPERATIONS) })
    }
}

/// How many operations may be under way at once.
pub(super) const OPERATIONS: u32 = 256;
