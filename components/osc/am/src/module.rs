//! The module of one window.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::access;
use crate::deferred_locks;
use crate::origin;
use crate::progress_thread;
use crate::raw::Buffer;
use crate::synchronize::{ask, settle, take_failure};
use crate::target::Service;
use crate::window::Window;
use crate::wire::{Kind, SyncKind};
use alloc::sync::Arc;
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

impl Drop for Am {
    fn drop(&mut self) {
        progress_thread::window_ends();
    }
}

impl Am {
    fn window(&self) -> &Window {
        &self.service.window
    }
}

impl Module for Am {
    fn base(&self) -> *mut u8 {
        self.window().memory.base()
    }

    fn shared(&self, rank: usize) -> Option<(*mut u8, usize)> {
        let own = rank == self.window().me() && !self.base().is_null();
        own.then(|| (self.base(), self.window().memory.bytes()))
    }

    unsafe fn access(&self, access: &Access<'_>, target: &Target<'_>, wanted: bool) -> Result<Option<Request>> {
        // SAFETY: the caller's promise.
        let buffer = |data| Some(unsafe { Buffer::new(data) });
        let (kind, operation, sources, result) = match *access {
            Access::Put(origin) => (Kind::Put, Operation::Replace, [buffer(origin), None], None),
            Access::Get(result) => (Kind::Get, Operation::NoOp, [None, None], buffer(result)),
            Access::Accumulate(origin, operation) => (Kind::Accumulate, operation, [buffer(origin), None], None),
            Access::GetAccumulate(_, result, Operation::NoOp) => {
                (Kind::GetAccumulate, Operation::NoOp, [None, None], buffer(result))
            }
            Access::GetAccumulate(origin, result, operation) => {
                (Kind::GetAccumulate, operation, [buffer(origin), None], buffer(result))
            }
            Access::CompareAndSwap { origin, compare, result } => {
                (Kind::CompareAndSwap, Operation::Replace, [buffer(compare), buffer(origin)], buffer(result))
            }
        };
        let access = access::Access { kind, operation, sources, result };
        let request = origin::begin(&self.service, &access, target, wanted)?;
        if wanted && target.rank == self.window().me() {
            // It is complete, so that to wait for it lets nobody in.
            self.sync();
        }
        Ok(request)
    }

    fn fence(&self, completes: bool) -> Result<()> {
        let flushed = if completes { self.flush(None) } else { self.window().send_outboxes(None).map(drop) };
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
        // Only the target knows what is attached: it answers whether accesses have failed.
        let asks = self.window().memory.is_dynamic();
        let targets = || targets.iter().map(|target| *target as usize);
        for target in targets() {
            if asks && self.window().with_peer(target, |peer| peer.dirty) {
                ask(&self.service, target, SyncKind::Flush)?;
            }
            // The target does what was asked for before it notices.
            ask(&self.service, target, SyncKind::Complete)?;
            self.window().send_outboxes(Some(target))?;
        }
        progress::flush();
        let ended = |target| if asks { settle(&self.service, target) } else { self.wait_local(target) };
        targets().map(ended).fold(Ok(()), Result::and)
    }

    fn post(&self, origins: &[u32]) -> Result<()> {
        origins.iter().try_for_each(|origin| self.service.post(*origin as usize))?;
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
        deferred_locks::wait()?;
        let sync = if lock == Lock::Exclusive { SyncKind::LockExclusive } else { SyncKind::LockShared };
        ask(&self.service, rank, sync)?;
        if rank == self.window().me() {
            // The program may load and store from now on.
            ask(&self.service, rank, SyncKind::Flush)?;
            return settle(&self.service, rank);
        }
        deferred_locks::defer(&self.service, rank);
        Ok(())
    }

    fn unlock(&self, rank: usize) -> Result<()> {
        ask(&self.service, rank, SyncKind::Unlock)?;
        if rank == self.window().me() {
            // As in `flush`: others come in between.
            self.sync();
        }
        settle(&self.service, rank)
    }

    fn flush(&self, rank: Option<usize>) -> Result<()> {
        let mut asked = false;
        for rank in self.window().ranks(rank) {
            if self.window().with_peer(rank, |peer| peer.dirty) {
                ask(&self.service, rank, SyncKind::Flush)?;
                asked |= rank != self.window().me();
                self.window().send_outboxes(Some(rank))?;
            }
        }
        if !asked {
            // Programs that look at their own memory in a loop flush to let others come in.
            self.sync();
        }
        self.window().ranks(rank).map(|rank| settle(&self.service, rank)).fold(Ok(()), Result::and)
    }

    fn flush_local(&self, rank: Option<usize>) -> Result<()> {
        self.window().send_outboxes(rank)?;
        self.sync();
        self.window().ranks(rank).map(|rank| self.wait_local(rank)).fold(Ok(()), Result::and)
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
        self.window().send_outboxes(None)?;
        progress::flush();
        wait::until(|| self.service.is_idle() && !self.service.is_watched()).map_err(Fault::from)
    }
}

impl Am {
    /// Waits until nothing to a rank is under way here: what was read has come. What failed meanwhile.
    fn wait_local(&self, rank: usize) -> Result<()> {
        if self.window().with_peer(rank, |peer| peer.pending > 0) {
            self.window().wait_for(rank, |peer| peer.pending == 0)?;
        }
        take_failure(self.window(), rank)
    }
}
