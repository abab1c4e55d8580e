//! Everything that launcher and ranks do to the control part.
//!
//! Bytes are moved word by word with relaxed atomics: another process may write them at any time, and a few kilobytes
//! once per job are not worth a raw copy.

mod multi_node;
mod ports;
mod told;

pub use ports::PortOf;

use super::layout::{ABORTS, BARRIER_ARRIVED, BARRIER_GENERATION, EPOCH, Layout, SECRET, SECRET_BYTES};
use super::record::{self, RankState};
use crate::framework::ess::{Awaited, Needed};
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sync::{AtomicU32, Ordering};
use opal_core::{Error, Result};

/// The mapped control part and a way to sleep on its words across processes.
pub trait Shared {
    /// Mapped bytes.
    fn bytes(&self) -> usize;

    /// The word at an offset: a multiple of 4, below [`Shared::bytes`] - 3. Panics otherwise.
    fn word(&self, offset: usize) -> &AtomicU32;

    /// Sleeps while the word is `seen`, at most this long; may return early for no reason.
    fn sleep(&self, offset: usize, seen: u32, timeout_us: u64);

    /// Wakes every process that sleeps on the word.
    fn wake(&self, offset: usize);
}

/// The control part of a segment.
#[derive(Debug)]
pub struct Control<S> {
    layout: Layout,
    shared: S,
}

/// Why a wait ended without what it waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// The deadline passed.
    Deadline,
    /// This rank is lost.
    Lost(u32),
    /// This rank of another node is lost; it is counted in the job, not on this node.
    LostElsewhere(u32),
    /// The words make no sense: somebody else wrote them.
    Malformed,
}

impl From<Missed> for Error {
    fn from(missed: Missed) -> Error {
        match missed {
            Missed::Deadline => Error::Timeout,
            Missed::Lost(_) | Missed::LostElsewhere(_) => Error::Unreachable,
            Missed::Malformed => Error::Malformed,
        }
    }
}

impl<S: Shared> Control<S> {
    /// Wraps a mapping; `None` if it is shorter than the layout's control part.
    pub fn new(layout: Layout, shared: S) -> Option<Control<S>> {
        (shared.bytes() >= layout.control_bytes()).then_some(Control { layout, shared })
    }

    /// Where everything lies.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Launcher: leaves what only processes of this job know. Before any of them starts.
    pub fn set_secret(&self, secret: &[u8; SECRET_BYTES]) {
        self.write(SECRET, secret);
    }

    /// What only processes of this job know: proof that a connection comes from one of them.
    pub fn secret(&self) -> [u8; SECRET_BYTES] {
        let mut secret = [0; SECRET_BYTES];
        secret.copy_from_slice(&self.read(SECRET, SECRET_BYTES));
        secret
    }

    /// Hands out a rank's addresses: once. `Err(OutOfResource)` if they are too long, `Err(Exists)` the second time.
    pub fn publish(&self, rank: u32, addresses: &[u8]) -> Result<()> {
        let record = self.record(rank)?;
        if addresses.len() > record::ADDRESSES_BYTES {
            return Err(Error::OutOfResource);
        }
        let ready = self.shared.word(record + record::READY);
        // Of two processes that take themselves for this rank one is refused, even if they come at the same time.
        if ready.compare_exchange(0, WRITING, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return Err(Error::Exists);
        }
        self.write(record + record::ADDRESSES, addresses);
        self.shared.word(record + record::LENGTH).store(addresses.len() as u32, Ordering::Relaxed);
        // Release pairs with the Acquire in `published`.
        ready.store(1, Ordering::Release);
        self.shared.wake(record + record::READY);
        Ok(())
    }

    /// What a rank published, waiting until `deadline_ns` of the monotonic clock.
    pub fn lookup(&self, rank: u32, deadline_ns: u64) -> core::result::Result<Vec<u8>, Missed> {
        let record = self.record(rank).map_err(|_| Missed::Malformed)?;
        let mut patience = Patience::new();
        loop {
            if let Some(addresses) = self.published(record)? {
                return Ok(addresses);
            }
            if self.state(rank).is_lost() {
                return Err(Missed::Lost(rank));
            }
            if opal_core::sys::monotonic_ns() >= deadline_ns {
                return Err(Missed::Deadline);
            }
            patience.wait(&self.shared, record + record::READY, 0);
        }
    }

    /// Waits until every rank came here as often as this one, `rank`; ends early when a rank is lost. `meanwhile` is called for each
    /// sleep.
    pub fn barrier(&self, rank: u32, meanwhile: &mut dyn FnMut()) -> core::result::Result<(), Missed> {
        let generation = self.shared.word(BARRIER_GENERATION);
        // Acquire, before the arrival is counted: pairs with the Release of the last one to arrive.
        let seen = generation.load(Ordering::Acquire);
        // AcqRel: what each rank did before is visible to the last one, and through it to all.
        let arrived = self.shared.word(BARRIER_ARRIVED).fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        if arrived == self.layout.ranks {
            self.shared.word(BARRIER_ARRIVED).store(0, Ordering::Relaxed);
            // Release: a rank that sees the new generation and arrives again sees the reset count.
            generation.store(seen.wrapping_add(1), Ordering::Release);
            self.shared.wake(BARRIER_GENERATION);
            return Ok(());
        }
        if arrived > self.layout.ranks || arrived == 0 {
            return Err(Missed::Malformed);
        }
        self.leave_barrier(rank, seen, meanwhile)
    }

    /// Sleeps until the barrier is over that was due when the generation was `seen`; who looks for a job that stands still sees it.
    fn leave_barrier(&self, rank: u32, seen: u32, meanwhile: &mut dyn FnMut()) -> core::result::Result<(), Missed> {
        let mut patience = Patience::new();
        let since_ns = opal_core::sys::monotonic_ns();
        // Acquire pairs with the Release of the last one to arrive.
        while self.shared.word(BARRIER_GENERATION).load(Ordering::Acquire) == seen {
            if patience.slept() {
                meanwhile();
                self.set_slept(rank, since_ns, opal_core::sys::monotonic_ns()).map_err(|_| Missed::Malformed)?;
                let everybody = Awaited { needed: Needed::SomeOfJob, words: "all ranks to come to the end of the job" };
                self.set_awaited(rank, &everybody).map_err(|_| Missed::Malformed)?;
                let lost = self.lost().map(Missed::Lost);
                if let Some(missed) = lost.or_else(|| self.lost_elsewhere().map(Missed::LostElsewhere)) {
                    return Err(missed);
                }
            }
            patience.wait(&self.shared, BARRIER_GENERATION, seen);
        }
        Ok(())
    }

    /// Launcher: says which of the job's programs a rank runs. Before any of them starts.
    pub fn set_app(&self, rank: u32, app: u32) -> Result<()> {
        self.shared.word(self.record(rank)? + record::APP).store(app, Ordering::Relaxed);
        Ok(())
    }

    /// Which of the job's programs a rank runs; `None` for a rank that does not exist.
    pub fn app(&self, rank: u32) -> Option<u32> {
        Some(self.shared.word(self.record(rank).ok()? + record::APP).load(Ordering::Relaxed))
    }

    /// A rank that ended without finalizing, if there is one.
    pub fn lost(&self) -> Option<u32> {
        (0..self.layout.ranks).find(|rank| self.state(*rank).is_lost())
    }

    /// What a rank is; [`RankState::Gone`] for one that does not exist.
    pub fn state(&self, rank: u32) -> RankState {
        match self.record(rank) {
            // Acquire pairs with the Release in `set_state`: an abort's message is complete.
            Ok(record) => RankState::of(self.shared.word(record + record::STATE).load(Ordering::Acquire)),
            Err(_) => RankState::Gone,
        }
    }

    /// Says what a rank is.
    pub fn set_state(&self, rank: u32, state: RankState) -> Result<()> {
        let record = self.record(rank)?;
        // Release pairs with the Acquire in `state`.
        self.shared.word(record + record::STATE).store(state as u32, Ordering::Release);
        Ok(())
    }

    /// Launcher: a rank's process ended. Unless it had finalized, a rank that waits for it learns that it will not come.
    pub fn mark_gone(&self, rank: u32) -> Result<()> {
        match self.state(rank) {
            RankState::Finalized => return Ok(()),
            RankState::Aborted => {}
            _ => self.set_state(rank, RankState::Gone)?,
        }
        let record = self.record(rank)?;
        // Release: a rank that sees the new epoch sees the state.
        self.shared.word(EPOCH).fetch_add(1, Ordering::Release);
        for offset in [EPOCH, BARRIER_GENERATION, record + record::READY] {
            self.shared.wake(offset);
        }
        Ok(())
    }

    /// Says since when a rank has waited in vain, and that it sleeps now, in ns of the monotonic clock.
    pub fn set_slept(&self, rank: u32, since_ns: u64, now_ns: u64) -> Result<()> {
        let record = self.record(rank)?;
        self.write(record + record::SLEPT, &since_ns.to_ne_bytes());
        self.write(record + record::SLEPT + 8, &now_ns.to_ne_bytes());
        Ok(())
    }

    /// What a rank said of its last sleep: since when it had waited in vain then, and when it was. May be torn.
    pub fn slept(&self, rank: u32) -> Option<(u64, u64)> {
        let bytes = self.read(self.record(rank).ok()? + record::SLEPT, 16);
        let number = |range: core::ops::Range<usize>| bytes.get(range)?.try_into().ok().map(u64::from_ne_bytes);
        Some((number(0..8)?, number(8..16)?)).filter(|(_, now)| *now != 0)
    }

    /// Says what a rank waits for.
    pub fn set_awaited(&self, rank: u32, awaited: &Awaited<'_>) -> Result<()> {
        let record = self.record(rank)?;
        let text = &awaited.words[..awaited.words.floor_char_boundary(record::AWAITED_TEXT_BYTES)];
        let length = self.shared.word(record + record::AWAITED_LENGTH);
        let (job, rank) = awaited.needed.to_words();
        // Whoever reads meanwhile finds nothing. Release pairs with the Acquire in `awaited`.
        length.store(0, Ordering::Relaxed);
        self.shared.word(record + record::AWAITED_RANK).store(rank, Ordering::Release);
        self.write(record + record::AWAITED_JOB, &job.to_ne_bytes());
        self.write(record + record::AWAITED_TEXT, text.as_bytes());
        length.store(text.len() as u32, Ordering::Release);
        Ok(())
    }

    /// What a rank said last of what it waits for: without whom its wait does not end, and the same for people, empty if nobody knows.
    /// May be torn.
    pub fn awaited(&self, rank: u32) -> (Needed, String) {
        let Ok(record) = self.record(rank) else { return Default::default() };
        // Acquire pairs with the Release in `set_awaited`.
        let length = self.shared.word(record + record::AWAITED_LENGTH).load(Ordering::Acquire);
        let text = self.read(record + record::AWAITED_TEXT, (length as usize).min(record::AWAITED_TEXT_BYTES));
        let job = self.read(record + record::AWAITED_JOB, 8).try_into().map(u64::from_ne_bytes).unwrap_or_default();
        let rank = self.shared.word(record + record::AWAITED_RANK).load(Ordering::Relaxed);
        (Needed::of_words(job, rank).unwrap_or_default(), String::from_utf8_lossy(&text).into_owned())
    }

    /// Says that a call of a rank failed because a peer was lost.
    pub fn set_lost_peer(&self, rank: u32) -> Result<()> {
        // Relaxed: who asks does so after the rank's end, or after its abort was seen by an Acquire.
        self.shared.word(self.record(rank)? + record::LOST_PEER).store(1, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a call of a rank failed because a peer was lost: its end, if it comes to that, is a consequence.
    pub fn has_lost_peer(&self, rank: u32) -> bool {
        self.record(rank).is_ok_and(|record| self.shared.word(record + record::LOST_PEER).load(Ordering::Relaxed) == 1)
    }

    /// Rises whenever a rank was lost.
    pub fn epoch(&self) -> u32 {
        // Acquire pairs with the Release in `mark_gone`.
        self.shared.word(EPOCH).load(Ordering::Acquire)
    }

    /// Leaves a message and a status for the launcher. The first one of a rank stands.
    pub fn abort(&self, rank: u32, status: i32, message: &str) -> Result<()> {
        let record = self.record(rank)?;
        if self.state(rank) == RankState::Aborted {
            return Err(Error::Exists);
        }
        let text = &message[..message.floor_char_boundary(record::ABORT_TEXT_BYTES)];
        self.write(record + record::ABORT_TEXT, text.as_bytes());
        self.shared.word(record + record::ABORT_LENGTH).store(text.len() as u32, Ordering::Relaxed);
        self.shared.word(record + record::ABORT_STATUS).store(status as u32, Ordering::Relaxed);
        self.set_state(rank, RankState::Aborted)?;
        // Release: a launcher that sees the count sees the state.
        self.shared.word(ABORTS).fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// How many times a rank called abort.
    pub fn aborts(&self) -> u32 {
        // Acquire pairs with the Release in `abort`.
        self.shared.word(ABORTS).load(Ordering::Acquire)
    }

    /// Status and message of a rank that called abort.
    pub fn aborted(&self, rank: u32) -> Option<(i32, String)> {
        if self.state(rank) != RankState::Aborted {
            return None;
        }
        let record = self.record(rank).ok()?;
        let status = self.shared.word(record + record::ABORT_STATUS).load(Ordering::Relaxed) as i32;
        let length = self.shared.word(record + record::ABORT_LENGTH).load(Ordering::Relaxed) as usize;
        let text = self.read(record + record::ABORT_TEXT, length.min(record::ABORT_TEXT_BYTES));
        Some((status, String::from_utf8_lossy(&text).into_owned()))
    }

    fn published(&self, record: usize) -> core::result::Result<Option<Vec<u8>>, Missed> {
        // Acquire pairs with the Release in `publish`.
        match self.shared.word(record + record::READY).load(Ordering::Acquire) {
            0 | WRITING => Ok(None),
            1 => {
                let length = self.shared.word(record + record::LENGTH).load(Ordering::Relaxed) as usize;
                if length > record::ADDRESSES_BYTES {
                    return Err(Missed::Malformed);
                }
                Ok(Some(self.read(record + record::ADDRESSES, length)))
            }
            _ => Err(Missed::Malformed),
        }
    }

    fn record(&self, rank: u32) -> Result<usize> {
        self.layout.record(rank).ok_or(Error::Invalid)
    }

    fn write(&self, offset: usize, bytes: &[u8]) {
        for (index, chunk) in bytes.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            self.shared.word(offset + 4 * index).store(u32::from_ne_bytes(word), Ordering::Relaxed);
        }
    }

    fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length.next_multiple_of(4));
        for index in 0..length.div_ceil(4) {
            let word = self.shared.word(offset + 4 * index).load(Ordering::Relaxed);
            bytes.extend_from_slice(&word.to_ne_bytes());
        }
        bytes.truncate(length);
        bytes
    }
}

/// How to wait for another process: poll a few times, then leave the core to others, then sleep.
struct Patience {
    rounds: u32,
}

impl Patience {
    fn new() -> Patience {
        Patience { rounds: 0 }
    }

    fn slept(&self) -> bool {
        self.rounds >= POLLS + YIELDS
    }

    fn wait<S: Shared>(&mut self, shared: &S, offset: usize, seen: u32) {
        match self.rounds {
            0..POLLS => core::hint::spin_loop(),
            POLLS..SLEEPS => opal_core::sys::yield_now(),
            _ => shared.sleep(offset, seen, SLICE_US),
        }
        self.rounds = self.rounds.saturating_add(1);
    }
}

/// In the place of `READY`: addresses are being written.
const WRITING: u32 = 2;
const POLLS: u32 = 10;
const YIELDS: u32 = 100;
const SLEEPS: u32 = POLLS + YIELDS;
/// A sleeper looks up this often in any case: a rank that is lost wakes nobody.
const SLICE_US: u64 = 50_000;
