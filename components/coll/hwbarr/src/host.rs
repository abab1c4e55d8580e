//! The ranks of one port: they arrive at the rank that drives it, and leave when it releases them with the barrier's outcome.
//! A cache line each in its shared pool, all zeros at first:
//!
//! | offset | content | writer |
//! |---|---|---|
//! | 0 | detach count: how many ranks will never access this again | each rank once |
//! | 64 | release: number of the last barrier that ended here, times 4, and its outcome | the driving rank |
//! | 128 + 64 k | arrival: number of the last barrier to which the k-th of the others has come | that rank |
//!
//! For the wires nothing changes: the node of the protocol arrives when the last of its ranks has, and they leave after it.
//! While it waits for them it is outside, where it answers a stop at once. The model check has such ranks, too.

use crate::ports::{PortMap, PortPeer, PortRole};
use alloc::boxed::Box;
use ompi_core::data::Data;
use ompi_core::datatype;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::shared_pool::{self, Neighbor, Shared, Wanted};
use opal_core::sync::{AtomicU64, Ordering};
use opal_core::wait::{self, Backoff};
use opal_core::{progress, sys};

/// What the ranks of one port share for one communicator.
pub struct Host {
    lines: Shared,
    role: Role,
    barriers: AtomicU64,
}

enum Role {
    /// The ranks that follow, and the offset of their cache lines in this process's shared pool.
    Drives { followers: Box<[Neighbor]>, offset: usize },
    /// The rank that drives the port, and this rank's index among those that follow.
    Follows { driver: Neighbor, number: usize },
}

/// How a barrier ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By wire.
    Over,
    /// It is to be done in software, and so are all later ones.
    Software,
    /// Not at all: a process died, or members contradict each other.
    Failed,
}

impl Host {
    /// All ranks of a port with several ones call it at the same place of their program. `None`: the driver has no room, or
    /// its memory no such place.
    pub fn establish(ports: &PortMap, executor: &mut dyn Executor) -> Result<Option<Host>> {
        match &ports.role {
            PortRole::Drives(followers) => Host::give(followers, executor),
            PortRole::Follows { driver, number, of } => Host::take(driver, *number, *of, executor),
        }
    }

    fn give(followers: &[PortPeer], executor: &mut dyn Executor) -> Result<Option<Host>> {
        let shared_pool = followers.first().and_then(|fellow| fellow.neighbor.own_shared_pool());
        let users = followers.len() as u64 + 1;
        let bytes = bytes(followers.len());
        let offset = shared_pool.and_then(|shared_pool| {
            shared_pool::take(shared_pool, Wanted { bytes, spare: 0, zeros: bytes, detach_count: DETACH_COUNT, users })
        });
        // 0: none; else one more than the offset.
        let mut word = offset.map_or(0, |offset| offset as u64 + 1);
        let data = Data { at: (&raw mut word).cast(), count: 8, datatype: datatype::byte() };
        followers.iter().try_for_each(|fellow| executor.send(&data, fellow.rank))?;
        let (Some(shared_pool), Some(offset)) = (shared_pool, offset) else { return Ok(None) };
        let followers = followers.iter().map(|fellow| fellow.neighbor).collect();
        Ok(Shared::of(shared_pool, offset, bytes).map(|lines| Host::new(lines, Role::Drives { followers, offset })))
    }

    fn take(driver: &PortPeer, number: usize, of: usize, executor: &mut dyn Executor) -> Result<Option<Host>> {
        let mut word = 0u64;
        executor.recv(&Data { at: (&raw mut word).cast(), count: 8, datatype: datatype::byte() }, driver.rank)?;
        let offset = word.checked_sub(1).and_then(|offset| usize::try_from(offset).ok());
        let lines = offset.and_then(|offset| {
            driver.neighbor.shared_pool().and_then(|shared_pool| Shared::of(shared_pool, offset, bytes(of)))
        });
        Ok(lines.map(|lines| Host::new(lines, Role::Follows { driver: driver.neighbor, number })))
    }

    fn new(lines: Shared, role: Role) -> Host {
        Host { lines, role, barriers: AtomicU64::new(0) }
    }

    /// The driver's next barrier begins: until all others have come. `false` if `died` says that somebody never will.
    pub fn gather(&self, died: &dyn Fn() -> bool) -> bool {
        let number = self.barriers.fetch_add(1, Ordering::Relaxed) + 1;
        let Role::Drives { followers, .. } = &self.role else { return false };
        // Acquire pairs with the Release in `come`: what they did before is visible before the wire moves.
        let have_come =
            || (0..followers.len()).all(|one| self.lines.word(arrival(one)).load(Ordering::Acquire) >= number);
        until(&have_come, died)
    }

    /// The driver's barrier has ended: the others go.
    pub fn release(&self, ended: Ended) {
        let how = match ended {
            Ended::Over => OVER,
            Ended::Software => SOFTWARE,
            Ended::Failed => FAILED,
        };
        // Release pairs with the Acquire in `come`.
        self.lines.word(RELEASE).store(self.barriers.load(Ordering::Relaxed) << 2 | how, Ordering::Release);
        if let Role::Drives { followers, .. } = &self.role {
            followers.iter().for_each(Neighbor::notify);
        }
    }

    /// Another rank's barrier: it has come, until the driver says how it ended.
    pub fn come(&self, died: &dyn Fn() -> bool) -> Ended {
        let number = self.barriers.fetch_add(1, Ordering::Relaxed) + 1;
        let Role::Follows { driver, number: place } = &self.role else { return Ended::Failed };
        // Release pairs with the Acquire in `gather`.
        self.lines.word(arrival(*place)).store(number, Ordering::Release);
        driver.notify();
        // Acquire pairs with the Release in `release`: what all did before the barrier is there.
        let word = || self.lines.word(RELEASE).load(Ordering::Acquire);
        match until(&|| word() >> 2 >= number, died) {
            true if word() & 3 == OVER => Ended::Over,
            true if word() & 3 == SOFTWARE => Ended::Software,
            _ => Ended::Failed,
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `shared_pool::take`.
        self.lines.word(DETACH_COUNT).fetch_add(1, Ordering::Release);
        if let Role::Drives { offset, .. } = &self.role {
            shared_pool::give_back(*offset);
        }
    }
}

/// Until it is `there`; `false` if somebody `died` and it is not.
fn until(there: &dyn Fn() -> bool, died: &dyn Fn() -> bool) -> bool {
    let mut idle = Backoff::after_polls();
    loop {
        for _ in 0..wait::polls_per_pass() {
            if there() {
                return true;
            }
            core::hint::spin_loop();
        }
        if died() {
            // What the dead process stored before is there; a message may have come in, too.
            progress::pass();
            return there();
        }
        if idle.step_unless(there).is_err() {
            // The lost process is no member: it died before this communicator was made.
            idle = Backoff::new();
            sys::yield_now();
        }
    }
}

/// Bytes of the lines of a port with so many followers.
const fn bytes(followers: usize) -> usize {
    arrival(followers)
}

const fn arrival(follower: usize) -> usize {
    128 + 64 * follower
}

const DETACH_COUNT: usize = 0;
const RELEASE: usize = 64;
const OVER: u64 = 0;
const SOFTWARE: u64 = 1;
const FAILED: u64 = 2;
