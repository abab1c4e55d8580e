//! The side that receives.

use crate::active::{self, Operation};
use crate::raw::{Line, Parcel, Region, cancel, status_of};
use crate::wire::{self, CAN_COPY, CANNOT_COPY, Head, INLINE, Setup};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::data::no_room;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::pml::Mode;
use ompi_core::request::{self, Id, Request};
use ompi_core::status::Status;
use opal_core::progress;
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock, Ordering};

/// A receive in partitions.
pub struct PartitionedRecv {
    // None from MPI_PROC_NULL.
    line: Option<Line>,
    tag: i32,
    region: Region,
    partitions: usize,
    // Bytes of each partition that have not arrived, while a round comes in pieces.
    missing: Box<[AtomicUsize]>,
    in_pieces: AtomicBool,
    active: AtomicBool,
    listed: AtomicBool,
    incoming: ConditionalLock<Incoming>,
}

/// What has arrived, and what is posted.
struct Incoming {
    id: Id,
    round: u32,
    // What the send says of itself, once it was found.
    setup: Option<Setup>,
    // This round may come whole.
    may_be_whole: bool,
    whole: Option<Request>,
    head: Option<Parcel>,
    // A head of a later round, with what came behind it.
    early: Option<Vec<u8>>,
    long: Vec<Long>,
    arrived: usize,
    failed: i32,
    // What was lent could not be copied, with this error code: the round goes on to its end, since its sender waits for that.
    spoiled: i32,
    // Why no round can come any more.
    lost: i32,
}

/// A long piece that is under way.
struct Long {
    offset: usize,
    bytes: usize,
    body: Body,
}

enum Body {
    /// To its place.
    Direct(Request),
    /// To memory of our own, since its place cannot be described.
    Packed(Parcel),
}

impl PartitionedRecv {
    /// Not paired with a send yet.
    pub fn new(line: Option<Line>, region: Region, partitions: usize, tag: i32) -> Result<Arc<PartitionedRecv>> {
        let mut missing = Vec::new();
        missing.try_reserve_exact(partitions).map_err(|_| no_room(8 * partitions))?;
        missing.extend((0..partitions).map(|_| AtomicUsize::new(0)));
        let incoming = Incoming {
            id: Id::default(),
            round: 0,
            setup: None,
            may_be_whole: true,
            whole: None,
            head: None,
            early: None,
            long: Vec::new(),
            arrived: 0,
            failed: 0,
            spoiled: 0,
            lost: 0,
        };
        Ok(Arc::new(PartitionedRecv {
            line,
            tag,
            region,
            partitions,
            missing: missing.into(),
            in_pieces: AtomicBool::new(false),
            active: AtomicBool::new(false),
            listed: AtomicBool::new(false),
            incoming: ConditionalLock::new(incoming),
        }))
    }

    /// The other side; `None` for MPI_PROC_NULL.
    pub fn line(&self) -> Option<&Line> {
        self.line.as_ref()
    }

    /// The user's tag.
    pub fn tag(&self) -> i32 {
        self.tag
    }

    /// This send's rounds are its.
    pub fn pair(&self, setup: Setup) {
        let mut incoming = self.incoming.lock();
        incoming.setup = Some(setup);
        if let Some(line) = &self.line {
            answer(line, setup, line.is_lent(setup.lent_at, setup.bytes as usize));
        }
        if self.is_active() {
            self.post(&mut incoming);
        }
    }

    /// There will be no send for it, with this error code.
    pub fn fail(&self, code: i32) {
        let mut incoming = self.incoming.lock();
        incoming.lost = code;
        if self.is_active() {
            incoming.failed = code;
        }
    }

    /// MPI_Start.
    pub fn start(self: &Arc<Self>, id: Id) {
        let mut incoming = self.incoming.lock();
        incoming.id = id;
        incoming.round = incoming.round.wrapping_add(1);
        incoming.arrived = 0;
        (incoming.failed, incoming.spoiled) = (incoming.lost, 0);
        self.in_pieces.store(false, Ordering::Relaxed);
        if self.line.is_none() {
            request::complete(id, Status::NO_PROC);
            return;
        }
        active::set(&self.active, true);
        self.post(&mut incoming);
        drop(incoming);
        active::enlist(self);
    }

    /// Whether a partition is there, of a receive that is under way.
    pub fn has_arrived(&self, partition: usize) -> bool {
        // Acquire pairs with the Release in `begin_pieces`, and in `count`: who finds it there sees the data.
        self.in_pieces.load(Ordering::Acquire) && self.missing[partition].load(Ordering::Acquire) == 0
    }

    /// Whether there is such a partition.
    pub fn check(&self, partition: usize) -> Result<()> {
        if partition < self.partitions {
            return Ok(());
        }
        let why = alloc::format!("{partition} is not one of {} partitions", self.partitions);
        let context = self.line.as_ref().map(|line| line.comm.get().context);
        Err(Fault::new(Class::Arg).because(why).on(context))
    }

    /// Nothing is posted any more, if it is not under way.
    pub fn withdraw(&self) {
        let mut incoming = self.incoming.lock();
        if self.is_active() || incoming.head.as_ref().is_none_or(Parcel::has_ended) {
            return;
        }
        let Some(head) = incoming.head.take() else { return };
        head.cancel();
        if head.has_ended() {
            let (status, mut memory) = head.end();
            memory.truncate(status.bytes() as usize);
            incoming.early = (!status.cancelled()).then_some(memory);
        } else {
            incoming.head = Some(head);
        }
    }

    /// Posts what a round begins with.
    fn post(&self, incoming: &mut Incoming) {
        let (Some(line), Some(setup)) = (&self.line, incoming.setup) else { return };
        if incoming.may_be_whole {
            match self.region.receive(line, wire::whole_tag(setup.channel)) {
                Ok(request) => incoming.whole = Some(request),
                Err(fault) => incoming.failed = fault.get(),
            }
        }
        if setup.bytes > 0 && incoming.head.is_none() && incoming.early.is_none() {
            self.post_head(incoming, line, setup, Vec::new());
        }
    }

    fn post_head(&self, incoming: &mut Incoming, line: &Line, setup: Setup, mut memory: Vec<u8>) {
        let room = Head::BYTES + INLINE.min(setup.bytes as usize);
        if memory.try_reserve(room.saturating_sub(memory.len())).is_err() {
            incoming.failed = Class::NoMem as i32;
            return;
        }
        memory.resize(room, 0);
        match Parcel::receive(memory, line, wire::head_tag(setup.channel)) {
            Ok(parcel) => incoming.head = Some(parcel),
            Err(fault) => incoming.failed = fault.get(),
        }
    }

    #[inline(never)]
    fn look(&self, incoming: &mut Incoming) -> usize {
        let Some(line) = &self.line else { return 0 };
        let Some(setup) = incoming.setup.or((incoming.failed != 0).then_some(NOT_FOUND)) else { return 0 };
        if incoming.whole.as_ref().is_some_and(Request::is_complete)
            && let Some(request) = incoming.whole.take()
        {
            let mut status = status_of(request);
            (status.source, status.tag) = (line.peer, self.tag);
            self.end(incoming, status);
            return 1;
        }
        let mut moved = 0;
        while incoming.failed == 0 && self.take_head(incoming, line, setup) {
            moved += 1;
        }
        moved += self.take_long(incoming);
        if incoming.failed != 0 {
            if incoming.long.is_empty() && give_up_whole(incoming) {
                let mut status = Status::new(line.peer, self.tag, incoming.arrived as u64);
                status.fail(incoming.failed, line.comm.get().context);
                self.end(incoming, status);
            }
        } else if self.in_pieces.load(Ordering::Relaxed) && incoming.arrived == setup.bytes as usize {
            let mut status = Status::new(line.peer, self.tag, setup.bytes.min(self.region.bytes() as u64));
            if setup.bytes > self.region.bytes() as u64 {
                status.fail_truncated(setup.bytes, line.comm.get().context);
            }
            if incoming.spoiled != 0 {
                status.fail(incoming.spoiled, line.comm.get().context);
            }
            self.end(incoming, status);
        }
        moved + usize::from(!self.is_active())
    }

    /// Takes a piece whose head has arrived, if it belongs to this round. Whether there may be another one.
    fn take_head(&self, incoming: &mut Incoming, line: &Line, setup: Setup) -> bool {
        let Some(memory) = incoming.arrived_head() else { return false };
        let Some((head, behind)) = Head::decode(&memory, setup.bytes) else {
            incoming.failed = Class::Intern as i32;
            return false;
        };
        // By another way than the rest of this round, which was earlier.
        if head.round != incoming.round {
            incoming.early = Some(memory);
            return false;
        }
        if !self.in_pieces.load(Ordering::Relaxed) {
            self.begin_pieces(incoming);
        }
        if head.proves {
            incoming.may_be_whole = true;
        }
        let (offset, bytes) = (head.offset as usize, head.bytes as usize);
        let coming: usize = incoming.long.iter().map(|long| long.bytes).sum();
        let is_last = incoming.arrived + coming + bytes >= setup.bytes as usize;
        if head.lent {
            self.copy_lent(incoming, line, setup, offset..offset + bytes);
        } else if behind.is_empty() {
            match self.begin_long(line, setup, offset..offset + bytes, is_last) {
                Ok(long) => incoming.long.push(long),
                Err(fault) => incoming.failed = fault.get(),
            }
        } else {
            self.region.unpack(offset, behind);
            self.count(incoming, offset..offset + bytes);
        }
        // Behind the last piece of a round the next head belongs to the next one.
        if !is_last {
            self.post_head(incoming, line, setup, memory);
        }
        !is_last
    }

    /// Copies a piece from the sender's memory.
    fn copy_lent(&self, incoming: &mut Incoming, line: &Line, setup: Setup, part: Range<usize>) {
        // No overflow: what lies behind the end of the round was refused, and so was a round that ends behind the last address.
        match self.region.copy_lent(part.clone(), line, setup.lent_at + part.start as u64) {
            Ok(()) => self.count(incoming, part),
            // It never arrives, but the round comes to its end.
            Err(fault) => {
                incoming.spoiled = fault.get();
                incoming.arrived += part.len();
            }
        }
    }

    fn begin_pieces(&self, incoming: &mut Incoming) {
        incoming.may_be_whole = false;
        // By the crate's invariant no message for it was sent, so that it ends at once.
        if !give_up_whole(incoming) {
            incoming.failed = Class::Intern as i32;
        }
        let size = self.region.partition_bytes();
        self.missing.iter().for_each(|missing| missing.store(size, Ordering::Relaxed));
        // Release pairs with the Acquire in `has_arrived`.
        self.in_pieces.store(true, Ordering::Release);
    }

    fn begin_long(&self, line: &Line, setup: Setup, part: Range<usize>, is_last: bool) -> Result<Long> {
        let (tag, offset, bytes) = (wire::data_tag(setup.channel), part.start, part.len());
        let body = match self.region.receive_part(part, line, tag, is_last) {
            Some(direct) => Body::Direct(direct?),
            None => {
                let mut memory = Vec::new();
                memory.try_reserve_exact(bytes).map_err(|_| no_room(bytes))?;
                memory.resize(bytes, 0);
                Body::Packed(Parcel::receive(memory, line, tag)?)
            }
        };
        Ok(Long { offset, bytes, body })
    }

    fn take_long(&self, incoming: &mut Incoming) -> usize {
        let (mut index, mut moved) = (0, 0);
        while index < incoming.long.len() {
            let has_ended = match &incoming.long[index].body {
                Body::Direct(request) => request.is_complete(),
                Body::Packed(parcel) => parcel.has_ended(),
            };
            if !has_ended {
                index += 1;
                continue;
            }
            let Long { offset, bytes, body } = incoming.long.swap_remove(index);
            let status = match body {
                Body::Direct(request) => status_of(request),
                Body::Packed(parcel) => {
                    let (status, memory) = parcel.end();
                    self.region.unpack(offset, &memory);
                    status
                }
            };
            if status.error != 0 {
                incoming.failed = status.error;
            }
            self.count(incoming, offset..offset + bytes);
            moved += 1;
        }
        moved
    }

    /// These bytes of the packed data are there.
    fn count(&self, incoming: &mut Incoming, bytes: Range<usize>) {
        incoming.arrived += bytes.len();
        let size = self.region.partition_bytes();
        let end = bytes.end.min(self.region.bytes());
        let mut at = bytes.start;
        while at < end {
            let partition = at / size;
            let until = end.min((partition + 1) * size);
            let before = self.missing[partition].load(Ordering::Relaxed);
            // Release pairs with the Acquire in `has_arrived`. Only who has the lock stores.
            self.missing[partition].store(before.saturating_sub(until - at), Ordering::Release);
            at = until;
        }
    }

    fn end(&self, incoming: &mut Incoming, status: Status) {
        if let Some(line) = self.line.as_ref().filter(|_| status.error == 0) {
            line.count(true, self.tag, status.bytes() as usize);
        }
        active::set(&self.active, false);
        request::complete(incoming.id, status);
    }
}

/// Says whether this process can copy what the send lends, if it lends anything. If that fails nothing is lent.
pub fn answer(line: &Line, setup: Setup, can_copy: bool) {
    if setup.lent_at == 0 {
        return;
    }
    let said = if can_copy { CAN_COPY } else { CANNOT_COPY };
    if let Ok(parcel) = Parcel::send(said.to_vec(), line, wire::answer_tag(setup.channel), Mode::Standard)
        && parcel.has_ended()
    {
        let _left = parcel.end();
    }
    progress::flush();
}

/// Whether no message can be received whole any more.
fn give_up_whole(incoming: &mut Incoming) -> bool {
    let Some(request) = incoming.whole.take() else { return true };
    cancel(&request);
    if !request.is_complete() {
        incoming.whole = Some(request);
        return false;
    }
    let _cancelled = status_of(request);
    true
}

impl Incoming {
    /// Nothing of a round has come, and nothing went wrong: what nearly every pass finds.
    #[inline(always)]
    fn awaits_the_first(&self) -> bool {
        let is_open = |request: &Request| !request.is_complete();
        self.whole.as_ref().is_some_and(is_open)
            && self.head.as_ref().is_some_and(|head| !head.has_ended())
            && self.failed == 0
            && self.early.is_none()
            && self.long.is_empty()
    }

    /// The next head that has arrived, with what came behind it.
    fn arrived_head(&mut self) -> Option<Vec<u8>> {
        if let Some(early) = self.early.take() {
            return Some(early);
        }
        if !self.head.as_ref()?.has_ended() {
            return None;
        }
        let (status, mut memory) = self.head.take()?.end();
        memory.truncate(status.bytes() as usize);
        if status.error != 0 {
            self.failed = status.error;
            return None;
        }
        Some(memory)
    }
}

impl Operation for PartitionedRecv {
    fn advance(&self) -> Option<usize> {
        if !self.is_active() {
            return None;
        }
        let Some(mut incoming) = self.incoming.try_lock() else { return Some(0) };
        let has_news = self.is_active() && !incoming.awaits_the_first();
        Some(if has_news { self.look(&mut incoming) } else { 0 })
    }

    fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst)
    }

    fn listed(&self) -> &AtomicBool {
        &self.listed
    }
}

/// Stands for the send of a receive that failed before its own was found.
const NOT_FOUND: Setup = Setup { tag: 0, channel: 0, bytes: 0, lent_at: 0 };
