//! Memory of peers, and this process's memory that they reach.
#![allow(unsafe_code)]

use super::endpoint::{Fabric, Posted, posted};
use super::provider::Reach;
use crate::abi::{COMPLETION, DELIVERY_COMPLETE, FiAddr, FidMr, REMOTE_READ, REMOTE_WRITE, RmaMessage, RmaRun};
use core::ffi::c_int;
use core::ptr::{null, null_mut};

/// Memory that peers reach.
pub struct Region(&'static FidMr);

// SAFETY: the object belongs to the process, not to a thread; it is used under the lock of the endpoint.
unsafe impl Send for Region {}

/// Bytes of a peer's memory, as its fabric names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Address or distance, as the peer's key says.
    pub at: u64,
    /// The fabric's key.
    pub key: u64,
}

impl Fabric {
    /// How it reaches memory.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Lets peers reach memory under a key, if this process may choose it. The region, its key, and what peers subtract from addresses.
    pub fn expose(&self, address: *mut u8, bytes: usize, wanted: u64) -> Result<(Region, u64, u64), c_int> {
        let (register, access) = (self.domain.mr.register, REMOTE_READ | REMOTE_WRITE);
        let mut region: *const FidMr = null();
        let domain = &self.domain.fid;
        // SAFETY: memory that the caller says is there until `hide`, and room for an address.
        match unsafe { register(domain, address.cast(), bytes, access, 0, wanted, 0, &mut region, null_mut()) } {
            0 => {
                // SAFETY: without an error the address is that of a region, which `hide` alone closes.
                let region = unsafe { &*region };
                let origin = if self.reach.by_address { 0 } else { address.addr() as u64 };
                Ok((Region(region), region.key, origin))
            }
            error => Err(-error),
        }
    }

    /// Ends what `expose` began.
    pub fn hide(&self, region: Region) {
        // SAFETY: the region is open, and nobody has it any more.
        unsafe { (region.0.fid.ops.close)(&region.0.fid) };
    }

    /// Begins to write memory of a peer; complete when the bytes are there.
    ///
    /// # Safety
    /// `from` is readable for `bytes` until the completion.
    pub unsafe fn put(&self, slot: u32, to: FiAddr, from: *const u8, place: Place, bytes: usize) -> Posted {
        let run = libc::iovec { iov_base: from.cast_mut().cast(), iov_len: bytes };
        let remote = RmaRun { address: place.at, bytes, key: place.key };
        let message = RmaMessage {
            runs: &run,
            descriptors: &null_mut(),
            count: 1,
            to,
            remote: &remote,
            remote_count: 1,
            context: self.operations.context(slot),
            data: 0,
        };
        // SAFETY: the caller's promise; the context stays as it is until the completion.
        posted(unsafe { (self.ep.rma.get().write_message)(self.ep, &message, DELIVERY_COMPLETE | COMPLETION) })
    }

    /// Begins to read memory of a peer.
    ///
    /// # Safety
    /// `to` is writable for `bytes`, and nobody else's until the completion.
    pub unsafe fn get(&self, slot: u32, from: FiAddr, to: *mut u8, place: Place, bytes: usize) -> Posted {
        let (read, context) = (self.ep.rma.get().read, self.operations.context(slot));
        // SAFETY: the caller's promise; the context stays as it is until the completion.
        posted(unsafe { read(self.ep, to.cast(), bytes, null_mut(), from, place.at, place.key, context) })
    }
}
