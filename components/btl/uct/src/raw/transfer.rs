//! Memory of peers, and this process's memory that they reach.
#![allow(unsafe_code)]

use super::interface::Interface;
use super::mover::OPERATIONS;
use super::port::{Ep, Posted, posted};
use crate::abi::{Handle, IN_PROGRESS, INVALID_RKEY, Iov, MEM_ACCESS_RMA, Move, OK, RkeyBundle, Status};
use crate::wire::Place;
use alloc::vec::Vec;
use core::ptr::null_mut;

/// Memory that peers reach.
pub struct Region(Handle);

// SAFETY: the handle belongs to the process, not to a thread; it is used under the lock of the interface.
unsafe impl Send for Region {}

/// What a peer said of its memory, as UCT knows it.
#[derive(Clone, Copy)]
pub struct RemoteKey(RkeyBundle);

// SAFETY: as for `Region`.
unsafe impl Send for RemoteKey {}

/// A run of this process's memory, and where it goes or comes from.
#[derive(Clone, Copy)]
pub struct Run {
    /// Here.
    pub at: *mut u8,
    /// Its length.
    pub bytes: usize,
    /// There.
    pub remote: u64,
}

impl Interface {
    /// How many operations on memory may be under way; 0: it reaches none.
    pub fn operations(&self) -> u32 {
        if self.memory.is_some() { OPERATIONS } else { 0 }
    }

    /// The longest put, and the longest get, in bytes; 0: it reaches no memory.
    pub fn reach(&self) -> (usize, usize) {
        let extents = self.memory.as_ref().map(|memory| (memory.port.attr.put, memory.port.attr.get));
        extents.map_or((0, 0), |(put, get)| (put.max_zcopy, get.max_zcopy))
    }

    /// A peer at this place, for memory; `None` where nothing reaches it.
    pub fn connect_memory(&self, place: &Place<'_>) -> Option<Ep> {
        let port = &self.memory.as_ref()?.port;
        port.reaches(&self.library, place).then(|| port.connect(&self.library, place).ok())?
    }

    /// Lets peers reach memory: the region, and UCT's key.
    pub fn expose(&self, address: *mut u8, bytes: usize) -> Result<(Region, Vec<u8>), Status> {
        let memory = self.memory.as_ref().ok_or(crate::abi::UNSUPPORTED)?;
        let (md, mut handle) = (memory.domain.handle, null_mut());
        if !memory.registers {
            return Ok((Region(handle), Vec::new()));
        }
        // SAFETY: memory that the caller says is there until `hide`, and room for an address.
        let status = unsafe { (self.library.uct_md_mem_reg)(md, address.cast(), bytes, MEM_ACCESS_RMA, &mut handle) };
        if status != OK {
            return Err(status);
        }
        let mut key = alloc::vec![0u8; memory.rkey_bytes];
        // SAFETY: memory that was registered there, and room for as many bytes as the domain said.
        match unsafe { (self.library.uct_md_mkey_pack)(md, handle, key.as_mut_ptr().cast()) } {
            OK => Ok((Region(handle), key)),
            error => {
                self.hide(Region(handle));
                Err(error)
            }
        }
    }

    /// Ends what `expose` began.
    pub fn hide(&self, region: Region) {
        let Some(memory) = self.memory.as_ref().filter(|memory| memory.registers) else { return };
        // SAFETY: it is registered there, and nobody has it any more.
        unsafe { (self.library.uct_md_mem_dereg)(memory.domain.handle, region.0) };
    }

    /// How many bytes a peer's key has.
    pub fn key_bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.rkey_bytes)
    }

    /// Makes a peer's key usable, which has so many bytes.
    pub fn import(&self, key: &[u8]) -> Result<RemoteKey, Status> {
        let memory = self.memory.as_ref().ok_or(crate::abi::UNSUPPORTED)?;
        assert_eq!(key.len(), memory.rkey_bytes, "the caller has looked");
        let mut bundle = RkeyBundle { rkey: INVALID_RKEY, handle: null_mut(), kind: null_mut() };
        if key.is_empty() {
            return Ok(RemoteKey(bundle));
        }
        // SAFETY: as many bytes as keys of this component have, and room for what it makes of them.
        match unsafe { (self.library.uct_rkey_unpack)(memory.domain.component, key.as_ptr().cast(), &mut bundle) } {
            OK => Ok(RemoteKey(bundle)),
            error => Err(error),
        }
    }

    /// Ends what `import` began.
    pub fn forget(&self, key: RemoteKey) {
        let Some(memory) = self.memory.as_ref().filter(|memory| memory.rkey_bytes > 0) else { return };
        // SAFETY: it was unpacked by this component, and nobody has it any more.
        unsafe { (self.library.uct_rkey_release)(memory.domain.component, &key.0) };
    }

    /// Begins to write memory of a peer.
    ///
    /// # Safety
    /// The run is readable until the operation ends.
    pub unsafe fn put(&self, slot: u32, to: Ep, run: Run, key: RemoteKey) -> Posted {
        // SAFETY: an interface that is open, if there is one.
        let put = self.memory.as_ref().map(|memory| unsafe { (*memory.port.iface).ops.put_zcopy });
        // SAFETY: the caller's promise.
        put.map_or(Posted::Full, |put| unsafe { self.begin(put, slot, to, run, key) })
    }

    /// Begins to read memory of a peer.
    ///
    /// # Safety
    /// The run is writable, and nobody else's until the operation ends.
    pub unsafe fn get(&self, slot: u32, from: Ep, run: Run, key: RemoteKey) -> Posted {
        // SAFETY: an interface that is open, if there is one.
        let get = self.memory.as_ref().map(|memory| unsafe { (*memory.port.iface).ops.get_zcopy });
        // SAFETY: the caller's promise.
        get.map_or(Posted::Full, |get| unsafe { self.begin(get, slot, from, run, key) })
    }

    /// # Safety
    /// As `put` and `get` say.
    unsafe fn begin(&self, begin: Move, slot: u32, peer: Ep, run: Run, key: RemoteKey) -> Posted {
        assert!(slot < OPERATIONS, "there is no operation {slot}");
        let Some(memory) = &self.memory else { return Posted::Full };
        let operation = memory.operations.wrapping_add(slot as usize);
        // SAFETY: one of those that were made, which is not under way.
        let completion = unsafe { &raw mut (*operation).completion };
        // SAFETY: as above; for the next one as well.
        unsafe { (*completion).count = 1 };
        // SAFETY: as above.
        unsafe { (*completion).status = OK };
        let iov = Iov { buffer: run.at.cast(), bytes: run.bytes, memh: null_mut(), stride: 0, count: 1 };
        // SAFETY: the caller's promise; the operation stays where it is.
        match unsafe { begin(peer.0, &iov, 1, run.remote, key.0.rkey, completion) } {
            IN_PROGRESS => Posted::Begun,
            status => posted(isize::from(status)),
        }
    }
}
