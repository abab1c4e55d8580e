//! One operation on the lines: who writes where, who waits for whom.
//!
//! With two ranks the flags of both and values of up to eight bytes lie in one line, which then moves between the cores
//! once per operation. With more, each rank adds itself to a count (where all wait for all and ranks share cores, the last
//! one of each core does: `cores.rs`), and the last one (or the root) stores the release word that the others poll.
//!
//! A rank that writes for those behind it tells them by a word of its own.
//!
//! What a rank wrote may be overwritten when all have taken it. Two ranks: the reader of a one-way operation answers with
//! its own flag, and the writer looks for the answer before it uses the same parity again. What both wrote for each other is
//! taken when the other one comes to the next operation; where that is one-way and this rank writes in it, it looks for that
//! answer before the next one again. More: an operation in which all wait for all says that everything before it was taken;
//! where too many others went without one, one is put in between.

use crate::flags::layout as wire;
use crate::flags::oversubscription::{Core, Cores};
use crate::flags::segment::{Lines, Peer, Words};
use core::cell::Cell;
use ompi_core::error::Result;
use opal_core::progress;
use opal_core::sync::{AtomicU64, Ordering};

/// Whose data goes to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// From each to each.
    All,
    /// From this rank to each.
    From(usize),
    /// From each to this rank.
    To(usize),
    /// From each to those behind it. Nobody waits for those, so that the first ranks may be far ahead.
    Up,
}

/// An operation under way.
pub struct Turn<'a> {
    lines: &'a Lines,
    peers: &'a [Option<Peer>],
    shape: Shape,
    number: u64,
    // Data lies beside the flags, the count or the release word.
    tiny: bool,
    // Two ranks: values are stored and loaded together with their flag, since the line may be the other core's right after;
    // this is where they wait, by rank.
    values: [Cell<u64>; 2],
    // Where the first rank's data is, and how far the others' are apart.
    first: usize,
    apart: usize,
    // Of this turn, when all have come.
    full: u64,
    // Of this rank, if it shares one and all wait for all.
    core: Option<Core>,
}

impl<'a> Turn<'a> {
    /// Begins the next operation, in which each rank that writes writes `bytes`, at most [`wire::area_bytes`].
    #[inline]
    pub fn begin(lines: &'a Lines, peers: &'a [Option<Peer>], shape: Shape, bytes: usize) -> Result<Turn<'a>> {
        debug_assert!(bytes <= wire::area_bytes(lines.size));
        let values = [const { Cell::new(0) }; 2];
        if lines.size == 2 {
            let number = lines.begin_pair(shape, bytes)?;
            let tiny = (1..=wire::TINY_BYTES).contains(&bytes);
            let (first, apart) = (wire::area((number & 1) as usize, 0, 2), wire::area_bytes(2));
            return Ok(Turn { lines, peers, shape, number, tiny, values, first, apart, full: 0, core: None });
        }
        progress::flush();
        let mut past = lines.past.lock();
        let number = past.number + 1;
        let tiny = match shape {
            Shape::From(_) | Shape::Up => bytes <= wire::BESIDE_BYTES,
            Shape::All | Shape::To(_) => bytes <= wire::TINY_BYTES,
        };
        if number.is_multiple_of(OPERATIONS_PER_PASS) {
            progress::pass();
        }
        // Operations in areas have fewer of them, and many others may have gone before one in which all wait for all.
        let places = if tiny { wire::TURNS } else { wire::AREAS } as u64;
        if (shape != Shape::All || !tiny) && number > past.met + places - 2 {
            drop(past);
            Turn::begin(lines, peers, Shape::All, 0)?.meet()?;
            return Turn::begin(lines, peers, shape, bytes);
        }
        if number >= past.look {
            past.look = number + OPERATIONS_PER_LOOK;
            drop(past);
            Cores::look(lines, peers)?;
            return Turn::begin(lines, peers, shape, bytes);
        }
        past.number = number;
        let (slot, size) = (number as usize % wire::TURNS, lines.size);
        let mut core = None;
        past.counts[slot] += match shape {
            Shape::All => {
                let meeting = past.cores.meet(lines);
                core = meeting.map(|(core, _)| core);
                meeting.map_or(size as u64, |(_, cores)| cores)
            }
            Shape::From(_) | Shape::Up => 0,
            Shape::To(_) => size as u64 - 1,
        };
        if shape == Shape::All {
            past.met = number;
        }
        let (first, apart) = match (tiny, shape) {
            (true, Shape::From(_)) => (wire::beside(slot, size), 0),
            (true, Shape::Up) => (wire::come(slot, 0, size) + 8, 64),
            (true, _) => (wire::tiny(slot, 0, size), wire::TINY_BYTES),
            (false, _) => (wire::area(number as usize % wire::AREAS, 0, size), wire::area_bytes(size)),
        };
        let full = past.counts[slot];
        Ok(Turn { lines, peers, shape, number, tiny, values, first, apart, full, core })
    }

    /// Whether there are two ranks.
    #[inline(always)]
    pub fn is_pair(&self) -> bool {
        self.lines.size == 2
    }

    /// This rank.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.lines.rank
    }

    /// How many ranks there are.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.lines.size
    }

    /// Where this rank's data goes.
    #[inline(always)]
    pub fn own(&self) -> *mut u8 {
        self.of(self.lines.rank)
    }

    /// Where a rank's data is.
    #[inline(always)]
    pub fn of(&self, rank: usize) -> *mut u8 {
        match self.tiny && self.is_pair() {
            true => self.values[rank].as_ptr().cast(),
            false => self.lines.shared().place(self.offset(rank), 0),
        }
    }

    /// Word `index` of a rank's data.
    #[inline(always)]
    pub fn word(&self, rank: usize, index: usize) -> u64 {
        match self.tiny && self.is_pair() {
            true => self.values[rank].get(),
            false => self.shared_word(rank, index).load(Ordering::Relaxed),
        }
    }

    /// Writes word `index` of this rank's data.
    #[inline(always)]
    pub fn set_word(&self, index: usize, value: u64) {
        match self.tiny && self.is_pair() {
            true => self.values[self.lines.rank].set(value),
            false => self.shared_word(self.lines.rank, index).store(value, Ordering::Relaxed),
        }
    }

    #[inline(always)]
    fn shared_word(&self, rank: usize, index: usize) -> &AtomicU64 {
        debug_assert!(index < wire::area_bytes(self.lines.size) / 8 && (index == 0 || !self.tiny));
        self.lines.shared().word(self.offset(rank) + 8 * index)
    }

    #[inline(always)]
    fn offset(&self, rank: usize) -> usize {
        self.first + rank * self.apart
    }

    #[inline(always)]
    fn words(&self) -> &Words {
        &self.lines.turns[self.number as usize % wire::TURNS]
    }

    /// Where the result of `bytes` goes, with more than two ranks.
    #[inline(always)]
    pub fn result(&self, bytes: usize) -> *mut u8 {
        let (number, size) = (self.number as usize, self.lines.size);
        let at = match bytes <= wire::BESIDE_BYTES {
            true => wire::beside(number % wire::TURNS, size),
            false => wire::area(number % wire::AREAS, size, size),
        };
        self.lines.shared().place(at, bytes)
    }

    /// All wait for all.
    #[inline(always)]
    pub fn meet(&self) -> Result<()> {
        self.post();
        self.wait()
    }

    /// What this rank wrote is there.
    #[inline(always)]
    pub fn post(&self) {
        if self.is_pair() {
            let value = self.tiny.then(|| self.values[self.lines.rank].get());
            return self.lines.raise(self.number, value, self.peers);
        }
        match self.shape {
            Shape::From(_) => self.release(),
            Shape::All | Shape::To(_) => {
                if self.arrive() {
                    self.release();
                }
            }
            Shape::Up => {
                // Release pairs with the Acquire in `await_word`.
                self.come(self.rank()).store(self.number, Ordering::Release);
                (self.rank() + 1..self.size()).for_each(|rank| self.notify(rank));
            }
        }
    }

    /// More than two ranks: what this rank wrote is there; says whether it is the last, who then must [`Turn::release`].
    #[inline(always)]
    pub fn arrive(&self) -> bool {
        if let Some(core) = &self.core
            && !core.arrive()
        {
            return false;
        }
        // Release: whoever sees the sum sees what was written before each addition. Acquire: the last one reads it.
        let before = self.words().count.fetch_add(1, Ordering::AcqRel);
        before + 1 == self.full
    }

    /// More than two ranks: lets those go on that wait.
    #[inline(always)]
    pub fn release(&self) {
        // Release pairs with the Acquire in `await_word`.
        self.words().release.store(self.number, Ordering::Release);
        match self.shape {
            Shape::To(root) => self.notify(root),
            _ => self.peers.iter().flatten().for_each(|peer| peer.neighbor.notify()),
        }
    }

    /// Until what this rank reads is there.
    #[inline(always)]
    pub fn wait(&self) -> Result<()> {
        if !self.is_pair() {
            let release = self.words().release;
            return match &self.core {
                Some(core) => Lines::await_beside(release, self.number, core),
                None => Lines::await_word(release, self.number),
            };
        }
        let flag = self.lines.await_pair(self.number)?;
        if self.tiny {
            self.values[1 - self.lines.rank].set(flag.value.load(Ordering::Relaxed));
        }
        Ok(())
    }

    /// Until what a rank before this one wrote for those behind it is there.
    #[inline(always)]
    pub fn wait_for(&self, rank: usize) -> Result<()> {
        Lines::await_word(self.come(rank), self.number)
    }

    #[inline(always)]
    fn come(&self, rank: usize) -> &AtomicU64 {
        self.lines.shared().word(wire::come(self.number as usize % wire::TURNS, rank, self.size()))
    }

    /// This rank has read what it waited for.
    #[inline(always)]
    pub fn finish(&self) {
        if self.is_pair() && self.shape != Shape::All {
            self.lines.raise(self.number, None, self.peers);
        }
    }

    #[inline(always)]
    fn notify(&self, rank: usize) {
        if let Some(peer) = &self.peers[rank] {
            peer.neighbor.notify();
        }
    }
}

/// Who only waits for others still looks after everything else now and then.
pub const OPERATIONS_PER_PASS: u64 = 64;
/// After so many it looks who shares cores: what moved a rank to another one did so for long.
const OPERATIONS_PER_LOOK: u64 = 4096;
