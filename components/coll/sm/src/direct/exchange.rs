//! Ways into the other ranks' memory, and the frame of an operation that uses them: all tell where their buffers lie, each
//! reads and writes what is its part, and nobody leaves before all are done.
//!
//! What is told is an address in the teller's memory and means nothing here but to framework smsc. If a copy fails on any
//! rank, all hear of it at the end.

use crate::flags::epoch::{Shape, Turn};
use crate::flags::segment::{Lines, Peer};
use crate::raw;
use alloc::boxed::Box;
use alloc::format;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::coll::FRAMEWORK;
use ompi_core::{addresses, process};
use opal_core::framework::smsc::{self, Endpoint};
use opal_core::verbose;

/// By rank; none for this process itself.
pub type Ways = Box<[Option<Endpoint>]>;

/// What became of an operation, on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// Some rank could not copy; what went in is as it was.
    Again,
    /// Some rank could not copy, and what went in is no longer what it was.
    Lost,
}

/// The ranks and the ways between them.
pub struct Ends<'a> {
    /// Where they meet.
    pub lines: &'a Lines,
    /// Whom to wake.
    pub peers: &'a [Option<Peer>],
    /// How to copy.
    pub ways: &'a [Option<Endpoint>],
}

/// An operation under way.
pub struct Crossing<'a> {
    ends: &'a Ends<'a>,
    turn: Turn<'a>,
}

/// An operation in which this rank copies nothing any more.
pub struct Closing<'a> {
    lines: &'a Lines,
    turn: Turn<'a>,
}

/// Finds the ways: all ranks call it at the same place. `None` on all if one rank cannot reach another.
pub fn find(lines: &Lines, peers: &[Option<Peer>]) -> Result<Option<Ways>> {
    let ways: Ways = peers.iter().map(|peer| reach(peer.as_ref()?.index)).collect();
    let complete = ways.iter().filter(|way| way.is_some()).count() + 1 == ways.len();
    let turn = tell(lines, peers, u64::from(complete))?;
    turn.wait()?;
    let all = (0..lines.size).all(|rank| turn.word(rank, 0) == 1);
    verbose!(FRAMEWORK, 20, "sm: copies of {} ranks: {}", lines.size, if all { "direct" } else { "refused" });
    Ok(all.then_some(ways))
}

fn reach(index: u32) -> Option<Endpoint> {
    let published = process::get(index).addresses().ok()?;
    smsc::reach(index, addresses::find(published, smsc::FRAMEWORK.name, smsc::selected()?.name))
}

// Everybody's word is there once the turn is waited for.
fn tell<'a>(lines: &'a Lines, peers: &'a [Option<Peer>], word: u64) -> Result<Turn<'a>> {
    let turn = Turn::begin(lines, peers, Shape::All, 8)?;
    turn.set_word(0, word);
    turn.post();
    Ok(turn)
}

impl Ends<'_> {
    /// Tells the others where this rank's source and target lie and how many bytes are to move, which must be the same
    /// everywhere; [`Crossing::begin`] hears of theirs.
    pub fn open(&self, source: *mut u8, target: *mut u8, bytes: usize) -> Result<Crossing<'_>> {
        let turn = Turn::begin(self.lines, self.peers, Shape::All, 24)?;
        for (word, value) in [(SOURCE, source.addr()), (TARGET, target.addr()), (BYTES, bytes)] {
            turn.set_word(word, value as u64);
        }
        turn.post();
        Ok(Crossing { ends: self, turn })
    }
}

impl<'a> Crossing<'a> {
    /// Waits until all have told where their buffers lie. `Err(Truncate)` on all ranks if one of them moves more than another:
    /// nobody's memory is touched beyond its buffer.
    pub fn begin(&self) -> Result<()> {
        self.turn.wait()?;
        let bytes = |rank: usize| self.turn.word(rank, BYTES);
        match (1..self.ends.lines.size).find(|rank| bytes(*rank) != bytes(0)) {
            None => Ok(()),
            Some(rank) => Err(unequal(rank, bytes(rank), bytes(0))),
        }
    }

    /// Reads a run from `offset` of a rank's source; says whether it could.
    pub fn read(&self, rank: usize, (offset, to): (usize, Data<'_>)) -> bool {
        self.copied(rank, |way| raw::read(way, self.address(rank, SOURCE, offset), &to))
    }

    /// Writes a run to `offset` of a rank's target; says whether it could.
    pub fn write(&self, rank: usize, (offset, from): (usize, Data<'_>)) -> bool {
        self.copied(rank, |way| raw::write(way, self.address(rank, TARGET, offset), &from))
    }

    /// Waits until all have come here: what they did before is done.
    pub fn meet(&self) -> Result<()> {
        Turn::begin(self.ends.lines, self.ends.peers, Shape::All, 0)?.meet()
    }

    /// Tells that this rank copies nothing any more. `well`: all its copies were made, `spent`: what went in here was
    /// overwritten.
    pub fn close(self, well: bool, spent: bool) -> Result<Closing<'a>> {
        let word = (u64::from(well) * WELL) | (u64::from(spent) * SPENT);
        Ok(Closing { lines: self.ends.lines, turn: tell(self.ends.lines, self.ends.peers, word)? })
    }

    fn address(&self, rank: usize, which: usize, offset: usize) -> u64 {
        self.turn.word(rank, which).wrapping_add(offset as u64)
    }

    fn copied(&self, rank: usize, copy: impl FnOnce(&Endpoint) -> opal_core::Result<()>) -> bool {
        let Some(Some(way)) = self.ends.ways.get(rank) else { return false };
        copy(way)
            .inspect_err(|error| verbose!(FRAMEWORK, 10, "sm: no straight copy with rank {rank}: {error:?}"))
            .is_ok()
    }
}

#[cold]
fn unequal(rank: usize, there: u64, first: u64) -> Fault {
    Fault::new(Class::Truncate)
        .because(format!("rank {rank} calls it for {there} bytes, rank 0 for {first}: they must be equal"))
}

impl Closing<'_> {
    /// Waits until nobody copies any more.
    pub fn outcome(self) -> Result<Outcome> {
        self.turn.wait()?;
        let words = || (0..self.lines.size).map(|rank| self.turn.word(rank, 0));
        Ok(match (words().all(|word| word & WELL != 0), words().any(|word| word & SPENT != 0)) {
            (true, _) => Outcome::Done,
            (false, false) => Outcome::Again,
            (false, true) => Outcome::Lost,
        })
    }
}

const SOURCE: usize = 0;
const TARGET: usize = 1;
const BYTES: usize = 2;
const WELL: u64 = 1;
const SPENT: u64 = 2;
