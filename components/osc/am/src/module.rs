//! The module of one window.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::origin;
use crate::raw::Buffer;
use crate::target::Service;
use crate::window::Window;
use crate::wire::Kind;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::error::{Fault, Result};
use ompi_core::executor;
use ompi_core::framework::op::Operation;
use ompi_core::framework::osc::{Access, Lock, Module, Target};
use ompi_core::request::Request;
use opal_core::{progress, wait};

/// Serves one window.
pub struct Am {
    /// What progress serves.
    pub service: Arc<Service>,
}

impl Am {
    fn window(&self) -> &Window {
        &self.service.window
    }

    fn ranks(&self, rank: Option<usize>) -> Range<usize> {
        rank.map_or(0..self.window().comm.size(), |rank| rank..rank + 1)
    }

    /// Asks a target whether all is done.
    fn ask(&self, rank: usize, kind: Kind) -> Result<()> {
        self.window().with_peer(rank, |peer| {
            peer.dirty = false;
            peer.flushes += 1;
        });
        self.window().tell(rank, kind, 0)
    }

    /// Waits until a target has answered and nothing to it is under way here; what failed meanwhile.
    fn settle(&self, rank: usize) -> Result<()> {
        let asked = self.window().with_peer(rank, |peer| peer.flushes);
        self.window().wait_for(rank, |peer| peer.acks >= asked && peer.pending == 0)?;
        match self.window().with_peer(rank, |peer| core::mem::take(&mut peer.fault)) {
            0 => Ok(()),
            code => Err(Fault::code(code).because("the target could not do an access since the last synchronisation")),
        }
    }
}

impl Module for Am {
    fn base(&self) -> *mut u8 {
        self.window().memory.base()
    }

    fn shared(&self, rank: usize) -> Option<(*mut u8, usize)> {
        let own = rank == self.window().comm.rank as usize && !self.base().is_null();
        own.then(|| (self.base(), self.window().memory.bytes()))
    }

    unsafe fn access(&self, access: &Access<'_>, target: &Target<'_>, wanted: bool) -> Result<Option<Request>> {
        let (kind, operation, sources, result) = match access {
            Access::Put(origin) => (Kind::Put, Operation::Replace, Vec::from([origin]), None),
            Access::Get(result) => (Kind::Get, Operation::NoOp, Vec::new(), Some(result)),
            Access::Accumulate(origin, operation) => (Kind::Accumulate, *operation, Vec::from([origin]), None),
            Access::GetAccumulate(_, result, Operation::NoOp) => {
                (Kind::GetAccumulate, Operation::NoOp, Vec::new(), Some(result))
            }
            Access::GetAccumulate(origin, result, operation) => {
                (Kind::GetAccumulate, *operation, Vec::from([origin]), Some(result))
            }
            Access::CompareAndSwap { origin, compare, result } => {
                (Kind::CompareAndSwap, Operation::Replace, Vec::from([compare, origin]), Some(result))
            }
        };
        // SAFETY: the caller's promise.
        let sources = sources.into_iter().map(|data| unsafe { Buffer::new(*data) }).collect();
        // SAFETY: the caller's promise.
        let result = result.map(|data| unsafe { Buffer::new(*data) });
        let access = origin::Access { kind, operation, sources, result };
        origin::begin(self.window(), &access, target, wanted)
    }

    fn fence(&self, completes: bool) -> Result<()> {
        let flushed = if completes { self.flush(None) } else { Ok(()) };
        // All take part, whatever failed here.
        executor::barrier(&self.window().comm)?;
        flushed
    }

    fn start(&self, targets: &[u32]) -> Result<()> {
        for target in targets {
            self.window().wait_for(*target as usize, |peer| {
                let posted = peer.posts > 0;
                peer.posts -= u64::from(posted);
                posted
            })?;
        }
        Ok(())
    }

    fn complete(&self, targets: &[u32]) -> Result<()> {
        // The target does what was asked for before it notices.
        targets.iter().try_for_each(|target| self.window().tell(*target as usize, Kind::Complete, 0))?;
        targets.iter().try_for_each(|target| self.flush_local(Some(*target as usize)))
    }

    fn post(&self, origins: &[u32]) -> Result<()> {
        origins.iter().try_for_each(|origin| self.window().tell(*origin as usize, Kind::Post, 0))?;
        progress::flush();
        Ok(())
    }

    fn is_exposure_over(&self, origins: &[u32]) -> Result<bool> {
        let over = origins.iter().all(|origin| self.window().with_peer(*origin as usize, |peer| peer.completes > 0));
        if over {
            origins.iter().for_each(|origin| self.window().with_peer(*origin as usize, |peer| peer.completes -= 1));
        }
        Ok(over)
    }

    fn lock(&self, rank: usize, lock: Lock) -> Result<()> {
        self.window().tell(rank, Kind::Lock, u64::from(lock == Lock::Exclusive))?;
        self.window().wait_for(rank, |peer| {
            let granted = peer.grants > 0;
            peer.grants -= u64::from(granted);
            granted
        })
    }

    fn unlock(&self, rank: usize) -> Result<()> {
        self.ask(rank, Kind::Unlock)?;
        self.settle(rank)
    }

    fn flush(&self, rank: Option<usize>) -> Result<()> {
        // Programs that look at their own memory in a loop flush to let others come in.
        self.sync();
        for rank in self.ranks(rank) {
            if self.window().with_peer(rank, |peer| peer.dirty) {
                self.ask(rank, Kind::Flush)?;
            }
        }
        self.ranks(rank).map(|rank| self.settle(rank)).fold(Ok(()), Result::and)
    }

    fn flush_local(&self, rank: Option<usize>) -> Result<()> {
        self.sync();
        self.ranks(rank).try_for_each(|rank| self.window().wait_for(rank, |peer| peer.pending == 0))
    }

    fn sync(&self) {
        progress::flush();
        wait::polled_progress();
    }

    fn attach(&self, base: *mut u8, bytes: usize) -> Result<()> {
        self.window().memory.attach(base, bytes)
    }

    fn detach(&self, base: *mut u8) -> Result<()> {
        self.window().memory.detach(base)
    }

    fn close(&self) -> Result<()> {
        progress::flush();
        wait::until(|| self.service.is_idle()).map_err(Fault::from)
    }
}
