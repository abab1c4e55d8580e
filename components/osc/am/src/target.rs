//! The side that is accessed: does what origins ask for. What is short is done when its packet arrives, the rest in passes of progress.

use crate::arrival::{Arrivals, Asked, Waiting};
use crate::directory::{self, Served};
use crate::perform::{self, combine, perform};
use crate::raw::{Buffer, SHORT_BYTES, Transfer};
use crate::window::{Peer, Window};
use crate::wire::{
    ANSWER_BYTES, Failure, Head, Kind, ReadId, Record, SyncKind, Tags, push_ack, push_answer, push_post, push_refused,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::data::no_room;
use ompi_core::datatype::Datatype;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::osc::Lock;
use opal_core::sync::{AtomicBool, ConditionalLock, Ordering};
use opal_core::wait;

/// A window that is served.
pub struct Service {
    /// The window.
    pub window: Window,
    // What others ask for; not here while somebody works on it.
    arrivals: ConditionalLock<Option<Box<Arrivals>>>,
    // Records that came meanwhile, with their origins.
    incoming: ConditionalLock<VecDeque<(usize, Vec<u8>)>>,
    is_active: AtomicBool,
}

impl Service {
    /// Begins: packets for the window find it as long as it lives.
    pub fn of(window: Window) -> Arc<Service> {
        let arrivals = ConditionalLock::new(Some(Box::new(Arrivals::new(window.comm.size()))));
        let incoming = ConditionalLock::new(VecDeque::new());
        let service = Arc::new(Service { window, arrivals, incoming, is_active: AtomicBool::new(false) });
        directory::enter(service.clone());
        service
    }

    /// From now on passes of progress look at it, until there is nothing to do.
    #[inline]
    pub fn activate(self: &Arc<Self>) {
        if !self.is_active.load(Ordering::Relaxed) {
            directory::activate(self.clone());
        }
    }

    /// Whether nothing that others asked for, and nothing that this process asked for, is under way.
    pub fn is_idle(&self) -> bool {
        self.has_no_arrivals() && self.window.is_quiet() && self.window.is_settled()
    }

    /// Whether passes of progress look at it.
    pub fn is_watched(&self) -> bool {
        self.is_active.load(Ordering::Relaxed)
    }

    fn has_no_arrivals(&self) -> bool {
        let none = self.arrivals.lock().as_ref().is_some_and(|arrivals| arrivals.is_empty());
        none && self.incoming.lock().is_empty()
    }

    /// Asks a rank for something: a record of at most `bytes` bytes, which travels with those that come after it until somebody sends
    /// them. At the same time it is noted. This process asks itself for nothing: it does it.
    #[inline(always)]
    pub fn ask(
        self: &Arc<Self>,
        rank: usize,
        bytes: usize,
        append: impl FnOnce(&mut Vec<u8>) -> Result<()>,
        note: impl FnOnce(&mut Peer),
    ) -> Result<()> {
        if rank == self.window.me() {
            let mut records = Vec::new();
            append(&mut records)?;
            self.window.with_peer(rank, note);
            self.clone().arrived(rank, &records);
            return Ok(());
        }
        self.window.with_peer(rank, |peer| {
            append(peer.outbox.for_record(bytes)?)?;
            note(peer);
            Ok::<_, Fault>(())
        })?;
        self.activate();
        Ok(())
    }

    /// MPI_Win_post for an origin.
    pub fn post(self: &Arc<Self>, origin: usize) -> Result<()> {
        if origin == self.window.me() {
            self.window.handle(origin, &Record::Post);
            return Ok(());
        }
        self.window.with_peer(origin, |peer| {
            push_post(peer.outbox.for_record(size_of::<u64>())?);
            peer.outbox.send().map(drop)
        })
    }

    fn take_incoming(self: &Arc<Self>) {
        let Some(mut arrivals) = self.arrivals.lock().take() else { return };
        self.handle_incoming(&mut arrivals);
        self.put_back(arrivals);
    }

    fn put_back(self: &Arc<Self>, arrivals: Box<Arrivals>) {
        let is_empty = arrivals.is_empty();
        *self.arrivals.lock() = Some(arrivals);
        if !is_empty {
            self.activate();
        }
        if !self.incoming.lock().is_empty() {
            self.take_incoming();
        }
    }

    fn handle_incoming(&self, arrivals: &mut Arrivals) {
        loop {
            let Some((origin, records)) = self.incoming.lock().pop_front() else { return };
            self.handle(arrivals, origin, &records);
            wait::wake_threads();
        }
    }

    /// Does what records ask for, or keeps it for a pass of progress. Makes no call of the PML but to send packets.
    fn handle(&self, arrivals: &mut Arrivals, origin: usize, mut records: &[u8]) -> bool {
        let window = &self.window;
        let mut known = true;
        while known && !records.is_empty() {
            let Some((record, rest)) = Record::split(records) else {
                known = false;
                break;
            };
            records = rest;
            match record {
                Record::Access(head, description, data) if !head.apart && arrivals.is_ready(origin, None) => {
                    let ended = arrivals
                        .target_type(&head, description)
                        .and_then(|datatype| access_here(window, origin, &head, datatype.get(), data));
                    end_access(window, arrivals, origin, &head, ended);
                }
                Record::Access(head, description, data) => {
                    arrivals.push(origin, Asked::Access(Box::new(Waiting::new(head, description, data))));
                }
                Record::Sync(sync) if arrivals.is_ready(origin, Some(sync)) => {
                    synchronize(window, arrivals, origin, sync);
                }
                Record::Sync(sync) => arrivals.push(origin, Asked::Sync(sync)),
                Record::Offer(address) => perform::answer_offer(window, origin, address),
                answer => known = window.handle(origin, &answer),
            }
        }
        // A process that is gone needs no answer.
        let _sent = window.send_outboxes(Some(origin));
        known
    }
}

impl Served for Service {
    fn comm(&self) -> &Communicator {
        &self.window.comm
    }

    fn is_active(&self) -> &AtomicBool {
        &self.is_active
    }

    fn arrived(self: Arc<Self>, origin: usize, records: &[u8]) -> bool {
        let Some(mut arrivals) = self.arrivals.lock().take() else {
            self.incoming.lock().push_back((origin, records.into()));
            // Who works may have looked for the last time just before.
            self.take_incoming();
            return true;
        };
        self.handle_incoming(&mut arrivals);
        let known = self.handle(&mut arrivals, origin, records);
        self.put_back(arrivals);
        wait::wake_threads();
        known
    }

    fn poll(self: Arc<Self>) -> usize {
        let moved = self.go_on();
        // Relaxed: whoever asks for something meanwhile does so under one of the locks that `is_quiet` takes, and looks at this afterwards.
        self.is_active.store(false, Ordering::Relaxed);
        if !(self.has_no_arrivals() && self.window.is_quiet()) {
            directory::activate(self);
        }
        moved
    }
}

impl Service {
    fn go_on(self: &Arc<Self>) -> usize {
        let window = &self.window;
        let mut moved = window.sweep();
        // A process that is gone is noticed by who waits for it.
        moved += window.send_outboxes(None).unwrap_or(0);
        let Some(mut arrivals) = self.arrivals.lock().take() else { return moved };
        self.handle_incoming(&mut arrivals);
        let mut busy = core::mem::take(&mut arrivals.busy);
        for origin in busy.drain(..) {
            moved += serve(window, &mut arrivals, origin);
        }
        arrivals.answers.retain(|(_, answer)| !answer.is_complete());
        self.put_back(arrivals);
        moved
    }
}

/// Does what can be done of what one origin asked for; how many things.
fn serve(window: &Window, arrivals: &mut Arrivals, origin: usize) -> usize {
    let mut queue = core::mem::take(&mut arrivals.queues[origin]);
    prepare(window, arrivals, origin, &mut queue);
    let mut done = 0;
    while let Some(asked) = queue.pop_front_if(|next| next.is_here() && arrivals.may_follow(origin, next.sync())) {
        done += 1;
        match asked {
            Asked::Sync(sync) => {
                synchronize(window, arrivals, origin, sync);
                if sync.is_lock() {
                    prepare(window, arrivals, origin, &mut queue);
                }
            }
            Asked::Access(access) => {
                let ended = waited(window, arrivals, origin, &access);
                end_access(window, arrivals, origin, &access.head, ended);
            }
        }
    }
    if !queue.is_empty() {
        arrivals.busy.push(origin);
    }
    arrivals.queues[origin] = queue;
    // As in `handle`.
    let _sent = window.send_outboxes(Some(origin));
    done
}

/// Lets data come that an origin has sent, also before what stands before it is done; but nothing that stands behind a lock which it has not
/// got: another process may have the memory alone (MPI 5.0 §12.5.3).
fn prepare(window: &Window, arrivals: &Arrivals, origin: usize, queue: &mut VecDeque<Asked>) {
    if arrivals.waits_for_lock[origin] {
        return;
    }
    let before_locks = queue.iter_mut().take_while(|asked| !asked.sync().is_some_and(SyncKind::is_lock));
    before_locks.for_each(|asked| asked.prepare(window, origin));
}

fn synchronize(window: &Window, arrivals: &mut Arrivals, origin: usize, sync: SyncKind) {
    match sync {
        SyncKind::Flush => acknowledge(window, arrivals, origin),
        SyncKind::LockShared | SyncKind::LockExclusive => {
            let lock = if sync == SyncKind::LockShared { Lock::Shared } else { Lock::Exclusive };
            arrivals.waits_for_lock[origin] = true;
            arrivals.locks.ask(origin as u32, lock);
            grant(arrivals);
        }
        SyncKind::Unlock => {
            if !arrivals.locks.release(origin as u32) {
                arrivals.failures[origin].get_or_insert(Failure { class: Class::RmaSync as i32, displacement: 0 });
            }
            acknowledge(window, arrivals, origin);
            grant(arrivals);
        }
        SyncKind::Complete => window.with_peer(origin, |peer| peer.completes += 1),
    }
}

/// What they asked for behind their lock is done in the next pass of progress.
fn grant(arrivals: &mut Arrivals) {
    while let Some(origin) = arrivals.locks.next_granted() {
        arrivals.waits_for_lock[origin as usize] = false;
    }
}

fn acknowledge(window: &Window, arrivals: &mut Arrivals, origin: usize) {
    let failure = arrivals.failures[origin].take();
    if origin == window.me() {
        window.handle(origin, &Record::Ack(failure));
        return;
    }
    window.with_peer(origin, |peer| {
        // A process that is gone needs no answer.
        if let Ok(packet) = peer.outbox.for_record(2 * size_of::<u64>()) {
            push_ack(packet, failure);
        }
    });
}

/// Answers an access with data that was read, in as many pieces as there must be.
fn answer(window: &Window, origin: usize, number: u32, mut data: &[u8]) {
    if origin == window.me() {
        window.handle(origin, &Record::Answer(number, data));
        return;
    }
    window.with_peer(origin, |peer| {
        loop {
            let Ok(room) = peer.outbox.room() else { return };
            let (now, later) = data.split_at(data.len().min(room - ANSWER_BYTES));
            let Ok(packet) = peer.outbox.for_record(ANSWER_BYTES + now.len()) else { return };
            push_answer(packet, number, now.len());
            packet.extend_from_slice(now);
            data = later;
            if data.is_empty() {
                return;
            }
        }
    });
}

/// Who reads waits for an answer, and learns so what went wrong; others with their next flush.
fn end_access(window: &Window, arrivals: &mut Arrivals, origin: usize, head: &Head, ended: Result<()>) {
    let Err(fault) = ended else { return };
    let failure = Failure { class: fault.get(), displacement: head.displacement };
    if !head.kind.reads() && !head.lent {
        arrivals.failures[origin].get_or_insert(failure);
        return;
    }
    let read = ReadId { number: head.number, apart: head.apart };
    if origin == window.me() {
        window.handle(origin, &Record::Refused(read, failure));
        return;
    }
    window.with_peer(origin, |peer| {
        // As in `acknowledge`.
        if let Ok(packet) = peer.outbox.for_record(2 * size_of::<u64>()) {
            push_refused(packet, read, failure);
        }
    });
}

/// Does an access that had to wait.
fn waited(window: &Window, arrivals: &mut Arrivals, origin: usize, access: &Waiting) -> Result<()> {
    let Waiting { head, datatype, data, placed, .. } = access;
    if *placed {
        return Ok(());
    }
    let datatype = datatype.as_ref().map_err(Clone::clone)?.get();
    if !head.apart {
        return access_here(window, origin, head, datatype, data);
    }
    let place = Buffer::in_window(window.memory.place(head.displacement, head.count, datatype)?);
    let route = window.route(origin, Tags::of(head.number).result);
    let sent = match head.kind {
        Kind::Get => place.send(route)?,
        _ => match perform(&place, head, data)? {
            None => return Ok(()),
            Some(old) => Transfer::send(old.into_vec(), route)?,
        },
    };
    arrivals.answers.push((origin, sent));
    Ok(())
}

/// Does an access whose data came along, and answers in a packet.
#[inline]
fn access_here(window: &Window, origin: usize, head: &Head, datatype: &Datatype, data: &[u8]) -> Result<()> {
    // Looked at now: what was attached when the record came may have been detached.
    let place = Buffer::in_window(window.memory.place(head.displacement, head.count, datatype)?);
    if head.lent {
        perform::copy_lent(window, origin, head, &place, data)?;
        answer(window, origin, head.number, &[]);
        return Ok(());
    }
    if matches!(head.kind, Kind::Get | Kind::GetAccumulate) && answers_by_itself(window, origin, head.number, &place)? {
        return if data.is_empty() { Ok(()) } else { combine(&place, head, data) };
    }
    if let Some(old) = perform(&place, head, data)? {
        answer(window, origin, head.number, old.bytes());
    }
    Ok(())
}

/// Answers with data that is longer than an element, and fits in one packet, which it is copied to from its place.
#[inline]
fn answers_by_itself(window: &Window, origin: usize, number: u32, place: &Buffer<'_>) -> Result<bool> {
    let bytes = place.bytes();
    if bytes <= SHORT_BYTES || origin == window.me() {
        return Ok(false);
    }
    window.with_peer(origin, |peer| {
        if ANSWER_BYTES + bytes > peer.outbox.room()? {
            return Ok(false);
        }
        let packet = peer.outbox.for_record(ANSWER_BYTES + bytes)?;
        packet.try_reserve(ANSWER_BYTES + bytes).map_err(|_| no_room(bytes))?;
        push_answer(packet, number, bytes);
        place.append_to(packet).map(|()| true)
    })
}
