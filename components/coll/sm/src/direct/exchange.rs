//! The frame of a direct operation: all ranks exchange the addresses of their buffers, each copies its part, and no rank
//! leaves before all are done.
//!
//! An address is one in the memory of the rank that sent it, and means nothing here but to framework smsc. If a copy fails on
//! any rank, all ranks learn of it at the end.

use crate::flags::epoch::Epoch;
use crate::flags::segment::{Pattern, Segment};
use crate::peer::Peer;
use crate::raw;
use alloc::boxed::Box;
use alloc::format;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::coll::FRAMEWORK;
use ompi_core::single_copy;
use opal_core::framework::smsc::Endpoint;
use opal_core::verbose;

/// By rank; `None` for this process itself.
pub type Endpoints = Box<[Option<Endpoint>]>;

/// The end of an operation, the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// Some rank could not copy; all contributions are as they were.
    Again,
    /// Some rank could not copy, and contributions were overwritten.
    Lost,
}

/// The ranks of a communicator and the smsc endpoints between them.
pub struct Direct<'a> {
    /// For their epochs.
    pub segment: &'a Segment,
    /// The other processes, to be woken.
    pub peers: &'a [Option<Peer>],
    /// By rank.
    pub endpoints: &'a [Option<Endpoint>],
}

/// An operation under way.
pub struct Exchange<'a> {
    over: &'a Direct<'a>,
    epoch: Epoch<'a>,
}

/// An operation in which this rank has made its last copy.
pub struct Completion<'a> {
    segment: &'a Segment,
    epoch: Epoch<'a>,
}

/// Makes the endpoints: all ranks call it at the same place. `None` on all if one rank cannot reach another.
pub fn connect(segment: &Segment, peers: &[Option<Peer>]) -> Result<Option<Endpoints>> {
    let endpoints: Endpoints = peers.iter().map(|peer| single_copy::endpoint(peer.as_ref()?.index)).collect();
    let complete = endpoints.iter().filter(|endpoint| endpoint.is_some()).count() + 1 == endpoints.len();
    let epoch = exchange_word(segment, peers, u64::from(complete))?;
    epoch.wait()?;
    let all = (0..segment.size).all(|rank| epoch.word(rank, 0) == 1);
    verbose!(FRAMEWORK, 20, "sm: copies of {} ranks: {}", segment.size, if all { "direct" } else { "refused" });
    Ok(all.then_some(endpoints))
}

// All ranks' words are there after the epoch's wait.
fn exchange_word<'a>(segment: &'a Segment, peers: &'a [Option<Peer>], word: u64) -> Result<Epoch<'a>> {
    let epoch = Epoch::begin(segment, peers, Pattern::AllToAll, 8)?;
    epoch.set_word(0, word);
    epoch.signal();
    Ok(epoch)
}

impl Direct<'_> {
    /// Sends the others the addresses of this rank's source and target and the bytes to move, which must be the same on all
    /// ranks; [`Exchange::begin`] waits for theirs.
    pub fn open(&self, source: *mut u8, target: *mut u8, bytes: usize) -> Result<Exchange<'_>> {
        let epoch = Epoch::begin(self.segment, self.peers, Pattern::AllToAll, 24)?;
        for (word, value) in [(SOURCE, source.addr()), (TARGET, target.addr()), (BYTES, bytes)] {
            epoch.set_word(word, value as u64);
        }
        epoch.signal();
        Ok(Exchange { over: self, epoch })
    }
}

impl<'a> Exchange<'a> {
    /// Waits for the addresses of all ranks. `Err(Truncate)` on all ranks if one of them moves more than another: no memory is
    /// touched beyond a buffer.
    pub fn begin(&self) -> Result<()> {
        self.epoch.wait()?;
        let bytes = |rank: usize| self.epoch.word(rank, BYTES);
        match (1..self.over.segment.size).find(|rank| bytes(*rank) != bytes(0)) {
            None => Ok(()),
            Some(rank) => Err(unequal(rank, bytes(rank), bytes(0))),
        }
    }

    /// Reads contiguous bytes from `offset` of a rank's source; returns whether it could.
    pub fn read(&self, rank: usize, (offset, to): (usize, Data<'_>)) -> bool {
        self.copied(rank, |endpoint| raw::read(endpoint, self.address(rank, SOURCE, offset), &to))
    }

    /// Writes contiguous bytes to `offset` of a rank's target; returns whether it could.
    pub fn write(&self, rank: usize, (offset, from): (usize, Data<'_>)) -> bool {
        self.copied(rank, |endpoint| raw::write(endpoint, self.address(rank, TARGET, offset), &from))
    }

    /// Waits until all ranks have come here: their earlier copies are made.
    pub fn barrier(&self) -> Result<()> {
        Epoch::begin(self.over.segment, self.over.peers, Pattern::AllToAll, 0)?.barrier()
    }

    /// This rank has made its last copy. `succeeded`: all of them were made; `overwritten`: its contribution is gone.
    pub fn complete(self, succeeded: bool, overwritten: bool) -> Result<Completion<'a>> {
        let word = (u64::from(succeeded) * SUCCEEDED) | (u64::from(overwritten) * OVERWRITTEN);
        Ok(Completion { segment: self.over.segment, epoch: exchange_word(self.over.segment, self.over.peers, word)? })
    }

    fn address(&self, rank: usize, which: usize, offset: usize) -> u64 {
        self.epoch.word(rank, which).wrapping_add(offset as u64)
    }

    fn copied(&self, rank: usize, copy: impl FnOnce(&Endpoint) -> opal_core::Result<()>) -> bool {
        let Some(Some(endpoint)) = self.over.endpoints.get(rank) else { return false };
        copy(endpoint)
            .inspect_err(|error| verbose!(FRAMEWORK, 10, "sm: no direct copy with rank {rank}: {error:?}"))
            .is_ok()
    }
}

#[cold]
fn unequal(rank: usize, there: u64, first: u64) -> Fault {
    Fault::new(Class::Truncate).because(format!(
        "rank {rank} passes {there} bytes of data, rank 0 passes {first}; all ranks must pass the same"
    ))
}

impl Completion<'_> {
    /// Waits until all ranks have made their last copies.
    pub fn outcome(self) -> Result<Outcome> {
        self.epoch.wait()?;
        let words = || (0..self.segment.size).map(|rank| self.epoch.word(rank, 0));
        Ok(match (words().all(|word| word & SUCCEEDED != 0), words().any(|word| word & OVERWRITTEN != 0)) {
            (true, _) => Outcome::Done,
            (false, false) => Outcome::Again,
            (false, true) => Outcome::Lost,
        })
    }
}

const SOURCE: usize = 0;
const TARGET: usize = 1;
const BYTES: usize = 2;
const SUCCEEDED: u64 = 1;
const OVERWRITTEN: u64 = 2;
