//! The side that sends.

use crate::active::{self, Operation};
use crate::marks::{Marked, Marks, Taken};
use crate::pace::Pace;
use crate::raw::{Line, Parcel, Region, is_done, status_of};
use crate::wire::{self, CAN_COPY, CANNOT_COPY, Head, INLINE, Setup};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::data::no_room;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::pml::{BusySend, Mode};
use ompi_core::request::{self, Id, Request};
use ompi_core::status::Status;
use opal_core::progress;
use opal_core::sync::{AtomicBool, ConditionalLock, Ordering, threads_possible};

/// A send in partitions.
pub struct PartitionedSend {
    // None to MPI_PROC_NULL.
    line: Option<Line>,
    region: Region,
    tag: i32,
    channel: i32,
    marks: Marks,
    // Of long rounds.
    pace: Option<Pace>,
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
    // The last round proved it by a head that it waited for.
    proven: bool,
    // What the receiver will say of itself; and whether it can copy alone what is lent to it.
    answer: Option<Parcel>,
    may_lend: bool,
    // Pieces of this round are lent: its last message is synchronous, since whoever takes that has copied them.
    has_lent: bool,
    requests: VecDeque<Request>,
    // Those of which the receiver does all.
    left_to_receiver: VecDeque<Request>,
    parcels: VecDeque<Parcel>,
    // Of the last head that left at once, for the next one.
    spare: Vec<u8>,
    failed: i32,
    // For progress: marks that were missing at the last look, and how many looks ago that changed.
    seen: usize,
    looks: u32,
}

impl PartitionedSend {
    /// The peer does not know of it yet.
    pub fn new(line: Option<Line>, region: Region, partitions: usize, tag: i32) -> Result<Arc<PartitionedSend>> {
        let (marks, taken) = Marks::new(partitions)?;
        let channel = line.as_ref().map_or(Ok(0), |line| line.comm.get().coll().tags().channel())?;
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
            proven: false,
            answer: None,
            may_lend: false,
            has_lent: false,
            requests: VecDeque::new(),
            left_to_receiver: VecDeque::new(),
            parcels: VecDeque::new(),
            spare: Vec::new(),
            failed: 0,
            seen: 0,
            looks: 0,
        };
        Ok(Arc::new(PartitionedSend {
            // To nobody the last mark alone does something, and finds nobody else at it.
            pace: (line.is_some() && region.bytes() > LONG).then(|| Pace::new(partitions)),
            line,
            region,
            tag,
            channel,
            marks,
            active: AtomicBool::new(false),
            listed: AtomicBool::new(false),
            out: ConditionalLock::new(out),
        }))
    }

    /// Tells the peer of it, once: from then on the peer has a receive for it.
    pub fn tell(&self) -> Result<()> {
        let Some(line) = &self.line else { return Ok(()) };
        let mut out = self.out.lock();
        let lent_at = self.region.lent_at(line).filter(|_| self.pace.is_some()).unwrap_or(0);
        if lent_at != 0 {
            out.answer = Some(Parcel::receive(CANNOT_COPY.to_vec(), line, wire::answer_tag(self.channel))?);
        }
        let setup = Setup { tag: self.tag, channel: self.channel, bytes: self.region.bytes() as u64, lent_at };
        let tag = ompi_core::framework::coll::PART_SETUP;
        out.parcels.push_back(Parcel::send(setup.encode().to_vec(), line, tag, Mode::Standard)?);
        drop(out);
        progress::flush();
        Ok(())
    }

    /// MPI_Start.
    pub fn start(self: &Arc<Self>, id: Id) {
        let mut out = self.out.lock();
        self.marks.clear(&mut out.taken);
        out.id = id;
        out.round = out.round.wrapping_add(1);
        (out.has_begun, out.has_lent) = (false, false);
        out.failed = 0;
        out.looks = 0;
        out.take_answer();
        active::set(&self.active, true);
        if let Some(pace) = &self.pace {
            pace.start();
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

    /// Where marks may go without this component, and those that may not: partitions all of whose bits in this mask are set.
    pub fn open_marks(&self) -> (&Marks, usize) {
        (&self.marks, self.pace.as_ref().map_or(usize::MAX, Pace::lookers))
    }

    /// The request is gone.
    pub fn forget_marks(&self) {
        request::forget_marks(self.out.lock().id);
    }

    /// The other side.
    pub fn line(&self) -> Option<&Line> {
        self.line.as_ref()
    }

    /// Nothing is posted any more: what the receiver would say of itself is not heard, and nothing is lent.
    pub fn withdraw(&self) {
        self.out.lock().answer = None;
    }

    /// Whether all partitions of the round are marked.
    pub fn is_marked(&self) -> bool {
        self.marks.is_full()
    }

    /// MPI_Pready. Other threads may complete and free the request as soon as they have marked the rest.
    pub fn mark(self: &Arc<Self>, partitions: Range<usize>) -> Result<()> {
        if partitions.end > self.marks.partitions() {
            return Err(self.absent(&partitions));
        }
        // Before the mark: from the last one on the request may end, and the time is nobody's business any more.
        let is_slow = self.pace.as_ref().is_some_and(|pace| pace.is_slow(&partitions));
        let mut held = None;
        let mut hold = || {
            if threads_possible() {
                held.get_or_insert_with(|| self.clone());
            }
        };
        if is_slow {
            hold();
        }
        match self.marks.mark(partitions.clone(), hold) {
            Marked::Some if !is_slow => return Ok(()),
            Marked::Twice => {
                // The others of the range count.
                if self.marks.is_full() {
                    self.push_marked();
                }
                return Err(self.twice(&partitions));
            }
            Marked::Some | Marked::All => {}
        }
        self.push_marked();
        if let Some(pace) = self.pace.as_ref().filter(|_| is_slow) {
            // What that took is not the program's.
            pace.start();
        }
        Ok(())
    }

    /// Sends what is marked; if another thread is at it, progress does it.
    #[inline(never)]
    fn push_marked(&self) {
        if let Some(mut out) = self.out.try_lock() {
            if self.pace.as_ref().is_some_and(Pace::is_watched) {
                // Those that follow look at the clock.
                request::forget_marks(out.id);
            }
            self.push(&mut out);
            // The receiver may ask for what was left to it all the same, if it cannot copy it alone.
            let may_be_asked =
                !out.left_to_receiver.is_empty() && out.left_to_receiver.len().is_multiple_of(PIECES_PER_LOOK);
            let is_under_way = !out.requests.is_empty() || may_be_asked;
            drop(out);
            progress::flush();
            if is_under_way {
                // A program that computes until the next mark gives no other occasion to answer the receiver.
                progress::pass();
            }
        }
    }

    /// Sends what is marked.
    fn push(&self, out: &mut Outgoing) {
        if !self.active.load(Ordering::Relaxed) {
            return;
        }
        let all = self.marks.is_full();
        let Some(line) = &self.line else {
            if all {
                self.end(out);
            }
            return;
        };
        if !out.has_begun && !out.may_be_whole {
            let proof = out.proof.take();
            out.may_be_whole = out.proven || proof.is_some_and(|proof| proof.has_ended() && proof.end().0.error == 0);
        }
        if all && out.may_be_whole && !out.has_begun {
            // What was taken before would have gone in pieces.
            self.marks.take_all(&mut out.taken);
            let sent =
                self.region.send(0..self.marks.partitions(), line, wire::whole_tag(self.channel), Mode::Standard);
            (out.pieces, out.rounds_in_pieces) = (0, 0);
            if let Some(pace) = &self.pace {
                pace.was_quick();
            }
            out.patience = (out.patience / 2).max(1);
            out.has_begun = true;
            out.keep(sent);
        } else if self.region.bytes() > 0 && out.taken.count < self.marks.partitions() {
            let mut taken = core::mem::take(&mut out.taken);
            self.marks.take(&mut taken, |run, is_last| self.send_piece(out, line, run, is_last));
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
        let lent = out.may_lend && !is_last && (LEAST_LENT..=MOST_LENT).contains(&bytes);
        out.has_lent |= lent;
        let head = Head { round: out.round, proves, lent, offset: offset as u64, bytes: bytes as u64 };
        let is_inline = bytes <= INLINE && !lent;
        // A synchronous send is complete when it was matched: the receive for a head was posted after the one before was taken, and
        // what was lent with that copied.
        let ends_loan = is_last && out.has_lent;
        let mode = if proves || (ends_loan && is_inline) { Mode::Synchronous } else { Mode::Standard };
        let sent = self
            .behind(core::mem::take(&mut out.spare), &head, is_inline.then(|| run.clone()))
            .and_then(|memory| Parcel::send(memory, line, wire::head_tag(self.channel), mode));
        match sent {
            // The memory is our own, so that the operation need not wait for it.
            Ok(parcel) if proves && !ends_loan => out.proof = Some(parcel),
            Ok(parcel) if parcel.has_ended() => {
                let (status, memory) = parcel.end();
                out.note(status);
                out.spare = memory;
            }
            Ok(parcel) => out.parcels.push_back(parcel),
            Err(fault) => out.failed = fault.get(),
        }
        if !is_inline && !lent {
            let tag = wire::data_tag(self.channel);
            let mode = if ends_loan { Mode::Synchronous } else { Mode::Standard };
            match is_last {
                true => out.keep(self.region.send(run, line, tag, mode)),
                false => out.keep_busy(self.region.send_piece(run, line, tag)),
            }
        }
        if is_last {
            out.proven = proves && ends_loan;
            out.rounds_in_pieces = if proves { 0 } else { out.rounds_in_pieces + 1 };
            out.patience = if proves { (2 * out.patience).min(PATIENCE) } else { out.patience };
        }
        // Also where this was not seen to be the last: another thread may have marked it meanwhile.
        out.may_be_whole = false;
    }

    /// A head, and the partitions that travel with it, in memory that nobody needs any more.
    fn behind(&self, mut memory: Vec<u8>, head: &Head, partitions: Option<Range<usize>>) -> Result<Vec<u8>> {
        let bytes = Head::BYTES + if partitions.is_some() { head.bytes as usize } else { 0 };
        memory.clear();
        memory.try_reserve_exact(bytes).map_err(|_| no_room(bytes))?;
        memory.extend_from_slice(&head.encode());
        if let Some(partitions) = partitions {
            self.region.pack(partitions, &mut memory)?;
        }
        Ok(memory)
    }

    /// Completes the request if all is sent.
    fn settle(&self, out: &mut Outgoing, all: bool) -> usize {
        // Until all is marked nobody wants to know what became of those that are the receiver's business.
        if out.requests.is_empty() && out.parcels.is_empty() && !all {
            return 0;
        }
        let before = out.left();
        if all {
            out.requests.append(&mut out.left_to_receiver);
        }
        // They end in about this order, and all have to: a look at the first of thousands is enough.
        while out.requests.front().is_some_and(Request::is_complete)
            && let Some(request) = out.requests.pop_front()
        {
            out.note(status_of(request));
        }
        while out.parcels.front().is_some_and(Parcel::has_ended)
            && let Some(parcel) = out.parcels.pop_front()
        {
            out.note(parcel.end().0);
        }
        let moved = before - out.left();
        if all && out.taken.count == self.marks.partitions() && out.left() == 0 {
            self.end(out);
            return moved + 1;
        }
        moved
    }

    fn end(&self, out: &mut Outgoing) {
        let mut status = Status::EMPTY;
        match &self.line {
            Some(line) if out.failed != 0 => status.fail(out.failed, line.comm.get().context),
            Some(line) => line.count(false, self.tag, self.region.bytes()),
            None => {}
        }
        active::set(&self.active, false);
        request::complete(out.id, status);
    }

    /// What progress does: what is marked goes when nothing more was marked for a while.
    fn look(&self, out: &mut Outgoing) -> usize {
        let all = self.marks.is_full();
        if all && out.taken.count < self.marks.partitions() {
            self.push(out);
            return 1;
        }
        let moved = self.settle(out, all);
        let left = self.marks.left();
        let marked = self.marks.partitions() - left;
        if all || marked <= out.taken.count || self.region.bytes() == 0 {
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

impl Drop for PartitionedSend {
    fn drop(&mut self) {
        let answer = self.out.lock().answer.take();
        if let (Some(answer), Some(line)) = (answer, self.line.take()) {
            answer.leave(line);
        }
    }
}

impl Outgoing {
    /// Whether the receiver can copy alone, once it has said so.
    fn take_answer(&mut self) {
        if self.answer.as_ref().is_some_and(Parcel::has_ended)
            && let Some((status, said)) = self.answer.take().map(Parcel::end)
        {
            self.may_lend = status.error == 0 && said == CAN_COPY;
        }
    }

    fn keep(&mut self, sent: Result<Request>) {
        match sent {
            Ok(request) if is_done(&request) => {}
            Ok(request) => self.requests.push_back(request),
            Err(fault) => self.failed = fault.get(),
        }
    }

    fn keep_busy(&mut self, sent: Result<BusySend>) {
        match sent {
            Ok(BusySend::LeftToReceiver(request)) => self.left_to_receiver.push_back(request),
            Ok(BusySend::Shared(request)) => self.keep(Ok(request)),
            Err(fault) => self.keep(Err(fault)),
        }
    }

    /// Messages that have not left.
    fn left(&self) -> usize {
        self.requests.len() + self.left_to_receiver.len() + self.parcels.len()
    }

    fn note(&mut self, status: Status) {
        if status.error != 0 {
            self.failed = status.error;
        }
    }
}

/// Rounds of more bytes do not wait for progress where marks come slowly.
const LONG: usize = 16384;
/// How many passes of progress must find no new mark before what is marked goes alone.
const LOOKS: u32 = 16;
/// After how many pieces that are left to the receiver the sender looks whether it asks for them.
const PIECES_PER_LOOK: usize = 4;
/// Pieces that are lent, in bytes: shorter ones cost their sender less as messages than their receiver a call of the system; longer
/// ones would keep the receiver's progress too long.
const LEAST_LENT: usize = 1024;
const MOST_LENT: usize = 1 << 20;
/// The most rounds in pieces before one of them proves that the next may go whole.
const PATIENCE: u32 = 1024;
