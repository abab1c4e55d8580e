//! Rings in shared memory through which long data streams, piece by piece: each rank writes its own ring, and others read
//! what concerns them, so that everyone copies out of and into its own cache at the same time.
//!
//! Each rank tells how many steps it has written (*posted*) and how many it reads nothing of any more (*taken*). A writer
//! uses a slot again when all readers have taken what was in it. Both counts only grow, over all operations of the
//! communicator, and all ranks know from the arguments of each call how many steps it has: nobody waits for the others at
//! its end.

use crate::flags::layout as wire;
use crate::flags::layout::{Extent, Slots};
use crate::flags::segment::{Lines, Peer};
use crate::params;
use crate::pool_block::Part;
use alloc::format;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::shared_pool::Wanted;
use opal_core::progress;
use opal_core::sync::{AtomicU64, ConditionalLock, Ordering};

/// The rings of one communicator as one rank has them.
pub struct Rings {
    part: Part,
    rank: usize,
    extent: Extent,
    // By ring.
    slots: [Slots; wire::RINGS],
    /// Bytes of a piece.
    pub piece: usize,
    past: ConditionalLock<Past>,
}

// Equal on all ranks between operations, but for `freed`.
struct Past {
    // By ring.
    steps: [u64; wire::RINGS],
    spans: [Span; wire::RINGS],
    operations: u64,
    // By ring: so many steps all had taken when this rank last looked.
    freed: [u64; wire::RINGS],
}

/// How much of a ring is used: a page of shared memory that nobody touched before costs its writer more than copying through 16 of
/// those in use. So it is little at first, and twice as much after so many laps, because a longer ring is a faster one; the
/// first time sooner if operations are long, which would wait in the middle, and with more ranks than cores each wait is a
/// change of ranks. When all was used from the beginning, the first calls for 64 KiB by two ranks took 90 to 100 µs each, later
/// ones 12 (AMD EPYC, a virtual machine).
#[derive(Clone, Copy)]
struct Span {
    slots: usize,
    // Before this step fewer were used, of which the last one was followed by the first new one.
    since: u64,
    before: usize,
}

/// What parameters say of the rings; equal on all ranks, or no rings are made.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// Bytes of a piece.
    pub piece: usize,
    ring: usize,
}

impl Sizes {
    /// As the parameters are now.
    pub fn by_parameters() -> Sizes {
        let ring = params::PIPELINE_RING.size().clamp(RING_LEAST, RING_MOST);
        Sizes { piece: params::PIPELINE_PIECE.size().clamp(1, ring / wire::SLOTS_LEAST), ring }
    }

    /// Another one if they are others.
    pub fn print(&self) -> u64 {
        (self.piece as u64) << 32 | self.ring as u64
    }
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
    span: Span,
    // The slot of step 0.
    first: usize,
    // The only rank that reads what this one writes.
    reader: Option<usize>,
    // What all say of the operation's length.
    label: u64,
    // So many steps all readers had taken when this rank last looked.
    freed: u64,
}

impl Rings {
    /// Gets them from rank 0, as large as there is room for: all ranks call it at the same place of their program. `None` on
    /// all if there is room for none.
    pub fn establish(
        (rank, peers): (usize, &[Option<Peer>]),
        sizes: Sizes,
        executor: &mut dyn Executor,
    ) -> Result<Option<Rings>> {
        let mut extents = extents(peers.len(), sizes).peekable();
        while let Some(extent) = extents.next() {
            let wanted = Wanted {
                bytes: extent.bytes(),
                // Half of what is left is for communicators to come.
                spare: if extents.peek().is_some() { extent.bytes() } else { 0 },
                zeros: extent.head_bytes(),
                departed: wire::RINGS_DEPARTED,
                users: extent.ranks as u64,
            };
            if let Some(part) = Part::establish((rank, peers), ("rings", wanted), executor)? {
                return Ok(Some(Rings::over(part, rank, extent, sizes.piece)));
            }
        }
        Ok(None)
    }

    /// Rings for pieces of as many bytes in memory whose head is all zeros.
    pub fn over(part: Part, rank: usize, extent: Extent, piece: usize) -> Rings {
        let past = Past {
            steps: [0; wire::RINGS],
            spans: [Span::first(extent.slots); wire::RINGS],
            operations: 0,
            freed: [0; wire::RINGS],
        };
        let slots = core::array::from_fn(|ring| extent.slots_of(ring));
        Rings { part, rank, extent, slots, piece, past: ConditionalLock::new(past) }
    }

    /// Bytes of a piece, and of all pieces for which a ring has room.
    pub fn room(&self) -> (usize, usize) {
        (self.piece, self.piece * self.extent.slots)
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
        let span = past.spans[ring as usize];
        past.steps[ring as usize] += steps as u64;
        past.spans[ring as usize] = span.after(steps, base + steps as u64, self.extent.slots);
        past.operations += 1;
        let freed = past.freed[ring as usize];
        let seldom = past.operations.is_multiple_of(OPERATIONS_PER_PASS);
        drop(past);
        progress::flush();
        if seldom {
            progress::pass();
        }
        let (ring, first) = (ring as usize, span.index(base));
        Flow { rings: self, peers, ring, base, steps, span, first, reader, label: bytes as u64, freed }
    }

    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU64 {
        self.part.shared.word(offset)
    }
}

impl Span {
    fn first(slots: usize) -> Span {
        Span { slots: FIRST_SLOTS.min(slots), since: 0, before: 0 }
    }

    // After an operation of so many steps that ends before a step, of a ring with so many slots.
    fn after(self, steps: usize, step: u64, slots: usize) -> Span {
        let pays = step - self.since >= LAPS * self.slots as u64;
        let is_short = self.before == 0 && 2 * steps > self.slots;
        if self.slots == slots || !(pays || is_short) {
            return self;
        }
        Span { slots: slots.min(2 * self.slots), since: step, before: self.slots }
    }

    // In which slot a step is.
    fn index(&self, step: u64) -> usize {
        ((self.before as u64 + step - self.since) % self.slots as u64) as usize
    }

    // So many steps must have been taken before this one's slot is used.
    fn wanted(&self, step: u64) -> u64 {
        let new = (self.slots - self.before) as u64;
        if step - self.since < new { 0 } else { (step + 1).saturating_sub(self.slots as u64).max(self.since) }
    }
}

impl Flow<'_> {
    /// How many steps a rank that also reads writes in one go, before it reads as many. Two groups, together with the steps after
    /// which readers tell how far they are, are no more than the slots that are used, or ranks would wait for each other's.
    pub fn group(&self) -> usize {
        GROUP.min((self.span.slots - self.told_every()) / 2).max(1)
    }

    // After how many steps a reader tells how far it is.
    fn told_every(&self) -> usize {
        (self.span.slots / 4).max(1)
    }

    /// This rank's slot for a step, as soon as it is free.
    pub fn room(&mut self, step: usize) -> Result<*mut u8> {
        let wanted = self.span.wanted(self.base + step as u64);
        if self.freed < wanted {
            self.await_taken(wanted)?;
        }
        Ok(self.slot(self.rings.rank, step))
    }

    /// What this rank wrote for a step is there.
    pub fn post(&self, step: usize) {
        let Rings { rank, extent, .. } = self.rings;
        if step == 0 {
            self.label(*rank).store(self.label, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `await_word`, called by `data`.
        self.rings.word(extent.posted(self.ring, *rank)).store(self.count(step), Ordering::Release);
        match self.reader {
            Some(reader) => self.notify(reader),
            None => (0..extent.ranks).for_each(|peer| self.notify(peer)),
        }
    }

    /// Another rank's slot of a step, as soon as it is written. `Err(Truncate)` if that rank moves more or less than this one.
    pub fn data(&self, rank: usize, step: usize) -> Result<*mut u8> {
        Lines::await_word(self.rings.word(self.rings.extent.posted(self.ring, rank)), self.count(step))?;
        if step == 0 {
            let label = self.label(rank).load(Ordering::Relaxed);
            if label != self.label {
                return Err(unequal(rank, label, self.label));
            }
        }
        Ok(self.slot(rank, step))
    }

    /// This rank has read what it wants of a step.
    pub fn took(&self, step: usize) {
        if step + 1 < self.steps && (step + 1).is_multiple_of(self.told_every()) {
            self.tell_taken(self.count(step));
        }
    }

    /// This rank reads nothing more in this operation.
    pub fn close(&self) {
        self.tell_taken(self.base + self.steps as u64);
    }

    fn tell_taken(&self, count: u64) {
        let Rings { rank, extent, .. } = self.rings;
        // Release pairs with the Acquire in `await_word`, called by `room`: what was read before is read.
        self.rings.word(extent.taken(self.ring, *rank)).store(count, Ordering::Release);
        (0..extent.ranks).for_each(|peer| self.notify(peer));
    }

    #[inline(never)]
    fn await_taken(&mut self, wanted: u64) -> Result<()> {
        let Rings { rank, extent, past, .. } = self.rings;
        let mut least = u64::MAX;
        // What was there before this operation all may have read.
        let reader = self.reader.filter(|_| wanted > self.base);
        let reads = |peer: &usize| peer != rank && reader.is_none_or(|reader| reader == *peer);
        for peer in (0..extent.ranks).filter(reads) {
            let word = self.rings.word(extent.taken(self.ring, peer));
            Lines::await_word(word, wanted)?;
            // Acquire as in `await_word`: it may have grown since, and slots are used again up to what it is now.
            least = least.min(word.load(Ordering::Acquire));
        }
        self.freed = least;
        if reader.is_none() {
            past.lock().freed[self.ring] = least;
        }
        Ok(())
    }

    #[inline(always)]
    fn count(&self, step: usize) -> u64 {
        self.base + step as u64 + 1
    }

    #[inline(always)]
    fn slot(&self, rank: usize, step: usize) -> *mut u8 {
        let (slots, index) = (&self.rings.slots[self.ring], self.first + step);
        // Most operations are short, and a division takes as long as a dozen other instructions.
        let index = if index < self.span.slots { index } else { index % self.span.slots };
        self.rings.part.shared.place(slots.slot(rank, index), slots.bytes)
    }

    // Where a rank says how long the operation is.
    fn label(&self, rank: usize) -> &AtomicU64 {
        self.rings.word(self.rings.slots[self.ring].label(rank, self.first))
    }

    #[inline(always)]
    fn notify(&self, rank: usize) {
        if let Some(peer) = &self.peers[rank] {
            peer.neighbor.notify();
        }
    }
}

#[cold]
fn unequal(rank: usize, there: u64, here: u64) -> Fault {
    Fault::new(Class::Truncate)
        .because(format!("rank {rank} calls it for {there} bytes, this one for {here}: they must be equal"))
}

// From the largest rings that `ranks` ranks may have on.
fn extents(ranks: usize, Sizes { piece, ring }: Sizes) -> impl Iterator<Item = Extent> {
    let slot_bytes = piece.next_multiple_of(64);
    let most = ring.min((ALL_BYTES / ranks).max(RING_LEAST));
    let lengths = (0..).map_while(move |halvings| Some(most >> halvings).filter(|bytes| *bytes >= RING_LEAST));
    lengths.map(move |bytes: usize| Extent { ranks, slots: (bytes / slot_bytes).max(wire::SLOTS_LEAST), slot_bytes })
}

const RING_LEAST: usize = 64 << 10;
const RING_MOST: usize = 16 << 20;
/// Of rings for what goes in; those for results are as large together as one of these for each rank but one.
const ALL_BYTES: usize = 4 << 20;
/// Steps that a rank writes before it reads as many. Step by step, four ahead, MPI_Allreduce of 1 MiB takes 85 instead of 76 µs
/// with a core for each rank, of 256 KiB by 4 ranks on 2 cores 76 instead of 59; groups of 4 are slower, of 16 no faster.
const GROUP: usize = 8;
/// [`Span`]: at first, and laps until it grows.
const FIRST_SLOTS: usize = if cfg!(loom) { 2 } else { 16 };
const LAPS: u64 = if cfg!(loom) { 1 } else { 32 };
const OPERATIONS_PER_PASS: u64 = 16;

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
