//! Rings in shared memory through which long data streams, piece by piece: each rank writes its own ring, and others read
//! what concerns them, so that everyone copies out of and into its own cache at the same time.
//!
//! Each rank tells how many steps it has written (*posted*) and how many it reads nothing of any more (*taken*). A writer
//! uses a slot again when all readers have taken what was in it. Both counts only grow, over all operations of the
//! communicator, and all ranks know from the arguments of each call how many steps it has: nobody waits for the others at
//! its end.

use crate::commons::Part;
use crate::lines::{Lines, Peer};
use crate::{params, wire};
use alloc::format;
use ompi_core::commons::Wanted;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use opal_core::progress;
use opal_core::sync::{AtomicU64, Guarded, Ordering};

/// The rings of one communicator as one rank has them.
pub struct Rings {
    part: Part,
    rank: usize,
    size: usize,
    /// Bytes of a piece.
    pub piece: usize,
    past: Guarded<Past>,
}

// Equal on all ranks between operations.
struct Past {
    // By ring.
    steps: [u64; wire::RINGS],
    operations: u64,
}

/// Which ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// For what ranks bring.
    Input = 0,
    /// For what they made of it.
    Result = 1,
}

/// One ring in one operation.
pub struct Flow<'a> {
    rings: &'a Rings,
    peers: &'a [Option<Peer>],
    ring: usize,
    // Steps before this operation, and in it.
    base: u64,
    steps: usize,
    // The only rank that reads what this one writes.
    reader: Option<usize>,
    // What all say of the operation's length.
    label: u32,
    // So many steps all readers had taken when this rank last looked.
    freed: u64,
}

impl Rings {
    /// Gets them from rank 0: all ranks call it at the same place of their program. `None` on all if there is no room.
    pub fn establish(rank: usize, peers: &[Option<Peer>], executor: &mut dyn Executor) -> Result<Option<Rings>> {
        let size = peers.len();
        let wanted = Wanted {
            bytes: wire::rings_bytes(size),
            zeros: wire::rings_head_bytes(size),
            departed: wire::RINGS_DEPARTED,
            users: size as u64,
        };
        let past = Guarded::new(Past { steps: [0; wire::RINGS], operations: 0 });
        let part = Part::establish((rank, peers), ("rings", wanted), executor)?;
        Ok(part.map(|part| Rings { part, rank, size, piece: piece_bytes(), past }))
    }

    /// Begins an operation of `steps` steps on one ring; `bytes` must be equal on all ranks. Only `reader` will read what
    /// this rank writes, or all others.
    pub fn begin<'a>(
        &'a self,
        peers: &'a [Option<Peer>],
        ring: Ring,
        (steps, bytes): (usize, usize),
        reader: Option<usize>,
    ) -> Flow<'a> {
        let mut past = self.past.lock();
        let base = past.steps[ring as usize];
        past.steps[ring as usize] += steps as u64;
        past.operations += 1;
        let seldom = past.operations.is_multiple_of(OPERATIONS_PER_PASS);
        drop(past);
        progress::flush();
        if seldom {
            progress::pass();
        }
        Flow { rings: self, peers, ring: ring as usize, base, steps, reader, label: bytes as u32, freed: 0 }
    }

    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU64 {
        self.part.shared.word(offset)
    }
}

impl Flow<'_> {
    /// This rank's slot for a step, as soon as it is free.
    pub fn room(&mut self, step: usize) -> Result<*mut u8> {
        let wanted = self.count(step).saturating_sub(wire::SLOTS as u64);
        if self.freed < wanted {
            self.await_taken(wanted)?;
        }
        Ok(self.slot(self.rings.rank, step))
    }

    /// What this rank wrote for a step is there.
    pub fn post(&self, step: usize) {
        let Rings { rank, size, .. } = *self.rings;
        if step == 0 {
            let (offset, shift) = wire::label(self.ring, rank, self.base as usize % wire::SLOTS, size);
            // Only this rank writes the word.
            let word = self.rings.word(offset);
            let others = word.load(Ordering::Relaxed) & !(u64::from(u32::MAX) << shift);
            word.store(others | u64::from(self.label) << shift, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `await_word`, called by `data`.
        self.rings.word(wire::posted(self.ring, rank, size)).store(self.count(step), Ordering::Release);
        match self.reader {
            Some(reader) => self.notify(reader),
            None => (0..size).for_each(|peer| self.notify(peer)),
        }
    }

    /// Another rank's slot of a step, as soon as it is written. `Err(Truncate)` if that rank moves more or less than this one.
    pub fn data(&self, rank: usize, step: usize) -> Result<*mut u8> {
        let size = self.rings.size;
        Lines::await_word(self.rings.word(wire::posted(self.ring, rank, size)), self.count(step))?;
        if step == 0 {
            let (offset, shift) = wire::label(self.ring, rank, self.base as usize % wire::SLOTS, size);
            let label = (self.rings.word(offset).load(Ordering::Relaxed) >> shift) as u32;
            if label != self.label {
                return Err(unequal(rank, label, self.label));
            }
        }
        Ok(self.slot(rank, step))
    }

    /// This rank has read what it wants of a step.
    pub fn took(&self, step: usize) {
        if (step + 1).is_multiple_of(AHEAD) && step + 1 < self.steps {
            self.tell_taken(self.count(step));
        }
    }

    /// This rank reads nothing more in this operation.
    pub fn close(&self) {
        self.tell_taken(self.base + self.steps as u64);
    }

    fn tell_taken(&self, count: u64) {
        // Release pairs with the Acquire in `await_word`, called by `room`: what was read before is read.
        self.rings.word(wire::taken(self.ring, self.rings.rank, self.rings.size)).store(count, Ordering::Release);
        (0..self.rings.size).for_each(|peer| self.notify(peer));
    }

    #[inline(never)]
    fn await_taken(&mut self, wanted: u64) -> Result<()> {
        let mut least = u64::MAX;
        // What was there before this operation all may have read.
        let reader = self.reader.filter(|_| wanted > self.base);
        let reads = |rank: &usize| *rank != self.rings.rank && reader.is_none_or(|reader| reader == *rank);
        for rank in (0..self.rings.size).filter(reads) {
            let word = self.rings.word(wire::taken(self.ring, rank, self.rings.size));
            Lines::await_word(word, wanted)?;
            least = least.min(word.load(Ordering::Relaxed));
        }
        self.freed = least;
        Ok(())
    }

    #[inline(always)]
    fn count(&self, step: usize) -> u64 {
        self.base + step as u64 + 1
    }

    fn slot(&self, rank: usize, step: usize) -> *mut u8 {
        let index = (self.base + step as u64) as usize % wire::SLOTS;
        let size = self.rings.size;
        self.rings.part.shared.place(wire::slot(self.ring, rank, index, size), wire::slot_bytes(self.ring, size))
    }

    #[inline(always)]
    fn notify(&self, rank: usize) {
        if let Some(peer) = &self.peers[rank] {
            peer.neighbor.notify();
        }
    }
}

#[cold]
fn unequal(rank: usize, there: u32, here: u32) -> Fault {
    Fault::new(Class::Truncate)
        .because(format!("rank {rank} calls it for {there} bytes, this one for {here}: they must be equal"))
}

/// Bytes of a piece, as the parameter is now.
pub fn piece_bytes() -> usize {
    params::PIPELINE_PIECE.size().clamp(1, wire::SLOT_BYTES)
}

/// How many steps a rank that also reads writes ahead of what it reads, and how often a reader says how far it is: half of the
/// slots each, or ranks would wait for each other's. With a core for each rank 1 is as good; with fewer each wait gives the
/// core away.
pub const AHEAD: usize = wire::SLOTS / 2;
const OPERATIONS_PER_PASS: u64 = 16;
