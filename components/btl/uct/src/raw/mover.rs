//! The interface that moves memory, and the memory domain behind it.
#![allow(unsafe_code)]

use super::arrivals::{Arrivals, Operation};
use super::library::Library;
use super::offer::{Domain, Offer};
use super::port::Port;
use crate::abi::{
    FEATURE_GET, FEATURE_PUT, IFACE_CONNECT_TO_IFACE, IFACE_GET_ZCOPY, IFACE_PUT_ZCOPY, MD_NEED_MEMH, MD_NEED_RKEY,
    MD_REG, MdAttr, Worker,
};
use alloc::format;
use alloc::string::String;
use core::mem::MaybeUninit;

/// What moves memory.
pub struct Mover {
    pub(super) port: Port,
    pub(super) domain: Domain,
    pub(super) registers: bool,
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
        // Since UCX 1.19 cma registers nothing, as it never needed to.
        let registers = attr.flags & MD_REG != 0;
        if port.attr.flags & needed != needed || (attr.flags & MD_NEED_RKEY != 0 && !registers) {
            return Err(format!("{}: it does not reach memory of a peer", offer.described()));
        }
        if attr.flags & MD_NEED_MEMH != 0 {
            return Err(format!("{}: it wants this process's memory registered for each operation", offer.described()));
        }
        let rkey_bytes = if registers { attr.rkey_bytes } else { 0 };
        Ok(Mover { port, domain, registers, rkey_bytes, operations: arrivals.operations(OPERATIONS) })
    }
}

/// How many operations may be under way at once.
pub(super) const OPERATIONS: u32 = 256;
