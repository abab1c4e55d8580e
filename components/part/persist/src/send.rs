//! The side that sends.

use crate::active::{self, Operation};
use crate::marks::{Marked, Marks, Taken};
use crate::raw::{Line, Parcel, Region, is_done, status_of};
use crate::wire::{self, Head, INLINE, Setup};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::pml::Mode;
use ompi_core::request::{self, Id, Request};
use ompi_core::status::Status;
use opal_core::framework::timer;
use opal_core::progress;
use opal_core::sync::{AtomicBool, AtomicU64, ConditionalLock, Ordering};

/// A send in partitions.
pub struct PartitionedSend {
    // None to MPI_PROC_NULL.
    line: Option<Line>,
    region: Region,
    channel: i32,
    marks: Marks,
    // Long rounds: when the last mark came, in ticks.
    marked_at: AtomicU64,
    is_long: bool,
    active: AtomicBool,
    listed: AtomicBool,
    out: ConditionalLock<Outgoing>,
}

/// What was sent, and what is to be.
struct Outgoing {
    id: Id,
    round: u32,
    taken: Taken,
    // The next round may go whole, as the crate's invariant says.
    may_be_whole: bool,
    // Something of this round was sent.
    has_begun: bool,
    // Pieces since the last whole round: the first one of them has been taken when the second one is matched.
    pieces: usize,
    // Rounds in pieces, and after how many of them one proves that the next may go whole: doubled each time that it does not.
    rounds_in_pieces: u32,
    patience: u32,
    // The head by which the last round proves it, if it was matched already.
    proof: Option<Parcel>,
    requests: Vec<Request>,
    parcels: Vec<Parcel>,
    failed: i32,
    // For progress: marks that were missing at the last look, and how many looks ago that changed.
    seen: usize,
    looks: u32,
}

impl PartitionedSend {
    /// Tells the peer of it.
    pub fn new(line: Option<Line>, region: Region, partitions: usize, tag: i32) -> Result<Arc<PartitionedSend>> {
        let (marks, taken) = Marks::new(partitions)?;
        let mut parcels = Vec::new();
        let mut channel = 0;
        if let Some(line) = &line {
            channel = line.comm.get().coll().tags().channel()?;
            let setup = Setup { tag, channel, bytes: region.bytes() as u64 };
            let tag = ompi_core::framework::coll::PART_SETUP;
            parcels.push(Parcel::send(setup.encode().to_vec(), line, tag, Mode::Standard)?);
            progress::flush();
        }
        let out = Outgoing {
            id: Id::default(),
            round: 0,
            taken,
            may_be_whole: true,
            has_begun: false,
            pieces: 0,
            rounds_in_pieces: 0,
            patience: 1,
            proof: None,
            requests: Vec::new(),
            parcels,
            failed: 0,
            seen: 0,
            looks: 0,
        };
        Ok(Arc::new(PartitionedSend {
            is_long: region.bytes() > LONG,
            line,
            region,
            channel,
            marks,
            marked_at: AtomicU64::new(0),
            active: AtomicBool::new(false),
            listed: AtomicBool::new(false),
            out: ConditionalLock::new(out),
        }))
    }

    /// MPI_Start.
    pub fn start(self: &Arc<Self>, id: Id) {
        let mut out = self.out.lock();
        self.marks.clear(&mut out.taken);
        out.id = id;
        out.round = out.round.wrapping_add(1);
        out.has_begun = false;
        out.failed = 0;
        out.looks = 0;
        active::set(&self.active, true);
        if self.is_long {
            self.marked_at.store(timer::ticks(), Ordering::Relaxed);
        }
        if self.marks.partitions() == 0 {
            self.push(&mut out);
            progress::flush();
        }
        drop(out);
        if self.line.is_some() {
            active::enlist(self);
        }
    }

    /// MPI_Pready of a partition that exists and is not marked, of a short round, where there is one thread. `false`: it is
    /// otherwise, and nothing was done.
    #[inline(always)]
    pub fn mark_one(&self, partition: usize) -> bool {
        if self.is_long {
            return false;
        }
        match self.marks.mark_alone(partition) {
            Some(Marked::Some) => {}
            Some(Marked::All) => self.push_marked(),
            Some(Marked::Twice) | None => return false,
        }
        true
    }

    /// MPI_Pready.
    pub fn mark(&self, partitions: Range<usize>) -> Result<()> {
        if partitions.end > self.marks.partitions() {
            return Err(self.absent(&partitions));
        }
        // Before the mark: from the last one on the request may end, and the time is nobody's business any more.
        let is_slow = self.is_long && self.came_slowly();
        match self.marks.mark(partitions.clone()) {
            Marked::Some if !is_slow => return Ok(()),
            Marked::Twice => return Err(self.twice(&partitions)),
            Marked::Some | Marked::All => {}
        }
        self.push_marked();
        Ok(())
    }

    /// Sends what is marked; if another thread is at it, progress does it.
    #[inline(never)]
    fn push_marked(&self) {
        if let Some(mut out) = self.out.try_lock() {
            self.push(&mut out);
            let is_under_way = !out.requests.is_empty();
            drop(out);
            progress::flush();
            if is_under_way {
                // A program that computes until the next mark gives no other occasion to answer the receiver.
                progress::pass();
            }
        }
    }

    fn came_slowly(&self) -> bool {
        let now = timer::ticks();
        now.wrapping_sub(self.marked_at.swap(now, Ordering::Relaxed)) > slow_ticks()
    }

    /// Sends what is marked.
    fn push(&self, out: &mut Outgoing) {
        if !self.active.load(Ordering::Relaxed) {
            return;
        }
        let all = self.marks.left() == 0;
        let Some(line) = &self.line else {
            if all {
                self.end(out);
            }
            return;
        };
        if !out.has_begun && !out.may_be_whole {
            out.may_be_whole = out.proof.take().is_some_and(|proof| proof.has_ended() && proof.end().0.error == 0);
        }
        if all && out.may_be_whole && !out.has_begun {
            // What was taken before would have gone in pieces.
            self.marks.take_all(&mut out.taken);
            let sent =
                self.region.send(0..self.marks.partitions(), line, wire::whole_tag(self.channel), Mode::Standard);
            (out.pieces, out.rounds_in_pieces) = (0, 0);
            out.patience = (out.patience / 2).max(1);
            out.has_begun = true;
            out.keep(sent);
        } else if self.region.bytes() > 0 && out.taken.count < self.marks.partitions() {
            let mut taken = core::mem::take(&mut out.taken);
            self.marks.take(&mut taken, |run, last| self.send_piece(out, line, run, all && last));
            out.taken = taken;
        }
        self.settle(out, all);
    }

    fn send_piece(&self, out: &mut Outgoing, line: &Line, run: Range<usize>, is_last: bool) {
        out.has_begun = true;
        out.pieces = out.pieces.saturating_add(1);
        let size = self.region.partition_bytes();
        let (offset, bytes) = (run.start * size, run.len() * size);
        let proves = is_last && out.pieces > 1 && out.rounds_in_pieces + 1 >= out.patience;
        let head = Head { round: out.round, proves, offset: offset as u64, bytes: bytes as u64 };
        let mut memory = head.encode().to_vec();
        let is_inline = bytes <= INLINE;
        // A synchronous send is complete when it was matched: the receive for a head was posted after the one before was taken.
        let mode = if proves { Mode::Synchronous } else { Mode::Standard };
        let packed = if is_inline { self.region.pack(run.clone(), &mut memory) } else { Ok(()) };
        let sent = packed.and_then(|()| Parcel::send(memory, line, wire::head_tag(self.channel), mode));
        match sent {
            // The memory is our own, so that the operation need not wait for it.
            Ok(parcel) if proves => out.proof = Some(parcel),
            Ok(parcel) if parcel.has_ended() => out.note(parcel.end().0),
            Ok(parcel) => out.parcels.push(parcel),
            Err(fault) => out.failed = fault.get(),
        }
        if !is_inline {
            out.keep(self.region.send(run, line, wire::data_tag(self.channel), Mode::Standard));
        }
        if is_last {
            out.rounds_in_pieces = if proves { 0 } else { out.rounds_in_pieces + 1 };
            out.patience = if proves { (2 * out.patience).min(PATIENCE) } else { out.patience };
            out.may_be_whole = false;
        }
    }

    /// Completes the request if all is sent.
    fn settle(&self, out: &mut Outgoing, all: bool) -> usize {
        if out.requests.is_empty() && out.parcels.is_empty() && !all {
            return 0;
        }
        let before = out.requests.len() + out.parcels.len();
        let mut index = 0;
        while index < out.requests.len() {
            if out.requests[index].is_complete() {
                let request = out.requests.swap_remove(index);
                out.note(status_of(request));
            } else {
                index += 1;
            }
        }
        index = 0;
        while index < out.parcels.len() {
            if out.parcels[index].has_ended() {
                let parcel = out.parcels.swap_remove(index);
                out.note(parcel.end().0);
            } else {
                index += 1;
            }
        }
        let moved = before - out.requests.len() - out.parcels.len();
        if all && out.taken.count == self.marks.partitions() && out.requests.is_empty() && out.parcels.is_empty() {
            self.end(out);
            return moved + 1;
        }
        moved
    }

    fn end(&self, out: &mut Outgoing) {
        let mut status = Status::EMPTY;
        if let (Some(line), true) = (&self.line, out.failed != 0) {
            status.fail(out.failed, line.comm.get().context);
        }
        active::set(&self.active, false);
        request::complete(out.id, status);
    }

    /// What progress does: what is marked goes when nothing more was marked for a while.
    fn look(&self, out: &mut Outgoing) -> usize {
        let left = self.marks.left();
        let marked = self.marks.partitions() - left.min(self.marks.partitions());
        if left == 0 && out.taken.count < self.marks.partitions() {
            self.push(out);
            return 1;
        }
        let moved = self.settle(out, left == 0);
        if left == 0 || marked <= out.taken.count || self.region.bytes() == 0 {
            return moved;
        }
        if out.seen != left {
            (out.seen, out.looks) = (left, 0);
        }
        out.looks += 1;
        if out.looks > LOOKS {
            self.push(out);
        }
        // Whoever waits must not sleep before it is sent.
        1
    }

    #[cold]
    fn absent(&self, partitions: &Range<usize>) -> Fault {
        let why = alloc::format!("{} is not one of {} partitions", partitions.end - 1, self.marks.partitions());
        Fault::new(Class::Arg).because(why).on(self.context())
    }

    #[cold]
    fn twice(&self, partitions: &Range<usize>) -> Fault {
        let why = match partitions.len() {
            1 => alloc::format!("partition {} was marked ready already", partitions.start),
            _ => alloc::format!(
                "of partitions {} to {} some were marked ready already",
                partitions.start,
                partitions.end - 1
            ),
        };
        Fault::new(Class::Arg).because(why).on(self.context())
    }

    fn context(&self) -> Option<u32> {
        self.line.as_ref().map(|line| line.comm.get().context)
    }
}

impl Operation for PartitionedSend {
    fn advance(&self) -> Option<usize> {
        if !self.is_active() {
            return None;
        }
        let Some(mut out) = self.out.try_lock() else { return Some(0) };
        let moved = if self.is_active() { self.look(&mut out) } else { 0 };
        drop(out);
        if moved > 0 {
            progress::flush();
        }
        Some(moved)
    }

    fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst)
    }

    fn listed(&self) -> &AtomicBool {
        &self.listed
    }
}

impl Outgoing {
    fn keep(&mut self, sent: Result<Request>) {
        match sent {
            Ok(request) if is_done(&request) => {}
            Ok(request) => self.requests.push(request),
            Err(fault) => self.failed = fault.get(),
        }
    }

    fn note(&mut self, status: Status) {
        if status.error != 0 {
            self.failed = status.error;
        }
    }
}

fn slow_ticks() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    match TICKS.load(Ordering::Relaxed) {
        0 => {
            let ticks = (timer::frequency() / (1_000_000_000 / SLOW_NS)).max(1);
            TICKS.store(ticks, Ordering::Relaxed);
            ticks
        }
        ticks => ticks,
    }
}

/// Rounds of more bytes do not wait for progress where marks come slowly.
const LONG: usize = 16384;
/// How long after another one a mark comes slowly: a piece costs less by far.
const SLOW_NS: u64 = 10_000;
/// How many passes of progress must find no new mark before what is marked goes alone.
const LOOKS: u32 = 16;
/// The most rounds in pieces before one of them proves that the next may go whole.
const PATIENCE: u32 = 1024;
