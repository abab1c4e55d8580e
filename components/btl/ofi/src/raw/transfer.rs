//! Memory of peers, atomic operations on its words, and this process's memory that they reach.
#![allow(unsafe_code)]

use super::endpoint::{Fabric, Posted, posted};
use super::provider::Reach;
use crate::abi::{
    COMPLETION, DELIVERY_COMPLETE, FiAddr, FidMr, OP_BAND, OP_BOR, OP_BXOR, OP_CSWAP, OP_SUM, OP_WRITE, REMOTE_READ,
    REMOTE_WRITE, RmaMessage, RmaRun, UINT32, UINT64,
};
use core::ffi::c_int;
use core::ptr::{null, null_mut};
use opal_core::framework::btl::{Atomic, AtomicSet, Width};

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

impl Fabric {
    /// What the provider does with words of a width.
    pub fn atomics(&self, width: Width) -> AtomicSet {
        let none = AtomicSet::NONE;
        if !self.reach().has_atomics {
            return none;
        }
        KINDS.into_iter().filter(|kind| self.has(*kind, width)).fold(none, AtomicSet::with)
    }

    fn has(&self, kind: Atomic, width: Width) -> bool {
        let (datatype, operation) = numbers(kind, width);
        let (table, mut most) = (self.ep.atomic.get(), 0);
        let valid = if operation == OP_CSWAP { table.compare_valid } else { table.fetch_valid };
        // SAFETY: an endpoint that was opened with atomic operations, numbers of the header's, and room for one.
        let result = unsafe { valid(self.ep, datatype, operation, &mut most) };
        result == 0 && most > 0
    }

    /// Begins an operation on a word of a peer, whose result is `found` after the completion.
    ///
    /// # Safety
    /// `atomics` has this one; the peer has registered the word, which is aligned.
    pub unsafe fn atomic(&self, slot: u32, to: FiAddr, place: Place, atomic: Atomic, width: Width) -> Posted {
        let (datatype, operation) = numbers(atomic, width);
        let [operand, compare, result] = self.operands(slot);
        let (value, expected) = match atomic {
            Atomic::CompareSwap(expected, new) => (new, expected),
            Atomic::Add(value) | Atomic::And(value) | Atomic::Or(value) | Atomic::Xor(value) | Atomic::Swap(value) => {
                (value, 0)
            }
        };
        // A shorter word is the first half of the longer one: the machine is little-endian.
        // SAFETY: words of the operation's own, which is not under way; for the next two as well.
        unsafe { operand.write(value) };
        // SAFETY: as above.
        unsafe { compare.write(expected) };
        // SAFETY: as above.
        unsafe { result.write(0) };
        let (none, context, table) = (null_mut(), self.operations.context(slot), self.ep.atomic.get());
        let (at, key, operand, result) = (place.at, place.key, operand.cast(), result.cast());
        if operation != OP_CSWAP {
            let fetch = table.fetch;
            // SAFETY: the caller's promise; words and context stay as they are until the completion.
            return posted(unsafe {
                fetch(self.ep, operand, 1, none, result, none, to, at, key, datatype, operation, context)
            });
        }
        let (swap, compare) = (table.compare, compare.cast());
        // SAFETY: as above.
        posted(unsafe {
            swap(self.ep, operand, 1, none, compare, none, result, none, to, at, key, datatype, operation, context)
        })
    }

    /// What an atomic operation found that is complete.
    pub fn found(&self, slot: u32) -> u64 {
        let [_, _, result] = self.operands(slot);
        // SAFETY: the operation's own word, which nobody writes after its completion.
        unsafe { result.read() }
    }

    fn operands(&self, slot: u32) -> [*mut u64; 3] {
        let first: *mut u64 = self.operations.at(slot).cast();
        [first, first.wrapping_add(1), first.wrapping_add(2)]
    }
}

/// The header's numbers for width and kind.
fn numbers(kind: Atomic, width: Width) -> (c_int, c_int) {
    let operation = match kind {
        Atomic::Add(_) => OP_SUM,
        Atomic::And(_) => OP_BAND,
        Atomic::Or(_) => OP_BOR,
        Atomic::Xor(_) => OP_BXOR,
        Atomic::Swap(_) => OP_WRITE,
        Atomic::CompareSwap(..) => OP_CSWAP,
    };
    (if width == Width::Four { UINT32 } else { UINT64 }, operation)
}

const KINDS: [Atomic; 6] =
    [Atomic::Add(0), Atomic::And(0), Atomic::Or(0), Atomic::Xor(0), Atomic::Swap(0), Atomic::CompareSwap(0, 0)];
