//! The module of one window: puts and gets within the node, and whatever else by the module of another component.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::grants::Grants;
use crate::raw::Memory;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::data::Data;
use ompi_core::datatype;
use ompi_core::error::{Class, Result};
use ompi_core::framework::osc::{Access, Lock, Module, Target};
use ompi_core::request::{self, Request};
use ompi_core::win::node::Words;
use opal_core::shareable::{Mapped, Owned};
use opal_core::sync::{Ordering, fence};

/// Serves one window.
pub struct Han {
    me: usize,
    // By rank; `None` on another node.
    near: Vec<Option<Memory>>,
    grants: Grants,
    beyond: Arc<dyn Module>,
    // Dropped last.
    _held: Held,
}

/// What holds the memory of the node's processes.
pub struct Held {
    _others: Vec<Mapped>,
    _own: Option<Owned>,
    _words: Words,
}

impl Held {
    /// The file of the words, in which the parts lie if they are nowhere else; mapped parts of the others; this process's part.
    pub fn new(words: Words, others: Vec<Mapped>, own: Option<Owned>) -> Held {
        Held { _others: others, _own: own, _words: words }
    }
}

impl Han {
    /// Of memory that is `held`; `beyond` serves the same window.
    pub fn new(me: usize, held: Held, near: Vec<Option<Memory>>, beyond: Arc<dyn Module>) -> Han {
        Han { me, grants: Grants::new(near.len()), near, beyond, _held: held }
    }

    fn ranks(&self, rank: Option<usize>) -> Range<usize> {
        rank.map_or(0..self.near.len(), |rank| rank..rank + 1)
    }

    /// Whether data of a process of this node may be copied now; if not, the access goes with the lock before it.
    fn may_copy(&self, rank: usize, bytes: usize) -> Result<bool> {
        if self.grants.is_known(rank) {
            return Ok(true);
        }
        if bytes <= SHORT {
            return Ok(false);
        }
        // An empty access is done when the lock is granted.
        let nothing = Data { at: core::ptr::null_mut(), count: 0, datatype: datatype::byte() };
        let target = Target { rank, displacement: 0, data: nothing };
        // SAFETY: there is no data.
        unsafe { self.beyond.access(&Access::Get(nothing), &target, false)? };
        self.beyond.flush(Some(rank))?;
        self.grants.end(rank);
        Ok(true)
    }
}

impl Module for Han {
    fn base(&self) -> *mut u8 {
        self.beyond.base()
    }

    fn shared(&self, rank: usize) -> Option<(*mut u8, usize)> {
        self.near[rank].map(|memory| (memory.at, memory.part.bytes))
    }

    unsafe fn access(&self, access: &Access<'_>, target: &Target<'_>, wanted: bool) -> Result<Option<Request>> {
        let rank = target.rank;
        if let (Some(memory), Access::Put(data) | Access::Get(data)) = (&self.near[rank], access)
            && self.may_copy(rank, data.bytes())?
        {
            match access {
                // SAFETY: the module holds the mapping; the rest is the caller's promise, here and below.
                Access::Put(origin) => unsafe { memory.write(target, origin)? },
                // SAFETY: as above.
                _ => unsafe { memory.read(target, data)? },
            }
            if wanted {
                // It is complete, so that to wait for it lets nobody in.
                self.beyond.sync();
            }
            return Ok(wanted.then(request::done));
        }
        // SAFETY: the caller's promise.
        let request = unsafe { self.beyond.access(access, target, wanted)? };
        self.grants.note_access(rank);
        Ok(request)
    }

    fn fence(&self, completes: bool) -> Result<()> {
        copies_are_seen();
        self.beyond.fence(completes)
    }

    fn start(&self, targets: &[u32]) -> Result<()> {
        self.beyond.start(targets)
    }

    fn complete(&self, targets: &[u32]) -> Result<()> {
        copies_are_seen();
        self.beyond.complete(targets)
    }

    fn post(&self, origins: &[u32]) -> Result<()> {
        copies_are_seen();
        self.beyond.post(origins)
    }

    fn is_exposure_over(&self, origins: &[u32]) -> Result<bool> {
        self.beyond.is_exposure_over(origins)
    }

    fn lock(&self, rank: usize, lock: Lock) -> Result<()> {
        self.beyond.lock(rank, lock)?;
        // For its own memory a process has waited.
        if rank != self.me {
            self.grants.ask(rank);
        }
        Ok(())
    }

    fn unlock(&self, rank: usize) -> Result<()> {
        copies_are_seen();
        self.grants.end(rank);
        self.beyond.unlock(rank)
    }

    fn flush(&self, rank: Option<usize>) -> Result<()> {
        copies_are_seen();
        self.ranks(rank).for_each(|rank| self.grants.begin_flush(rank));
        self.beyond.flush(rank)?;
        self.ranks(rank).for_each(|rank| self.grants.note_flush(rank));
        Ok(())
    }

    fn flush_local(&self, rank: Option<usize>) -> Result<()> {
        self.beyond.flush_local(rank)
    }

    fn sync(&self) {
        self.beyond.sync();
    }

    fn attach(&self, _base: *mut u8, _bytes: usize) -> Result<()> {
        Err(Class::RmaFlavor.into())
    }

    fn detach(&self, _base: *mut u8) -> Result<()> {
        Err(Class::RmaFlavor.into())
    }

    fn close(&self) -> Result<()> {
        self.beyond.close()
    }
}

/// Before what tells others of them.
fn copies_are_seen() {
    fence(Ordering::SeqCst);
}

/// Accesses of so many bytes at most rather travel with a lock than wait for it.
const SHORT: usize = 1024;
