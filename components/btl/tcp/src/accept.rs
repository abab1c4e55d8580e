//! The accepting side: connections that others make to this process, from accept(2) to this process's verdict.

use crate::connect;
use crate::connection::Connection;
use crate::handshake::{self, EndpointIds, HELLO_BYTES, Progress, Refused};
use crate::handshake_buffer::HandshakeBuffer;
use crate::record::Protect;
use crate::rx_table::RxTable;
use crate::session::Session;
use crate::socket;
use crate::state::State;
use crate::transport::{Token, Transport};
use crate::tx::Tx;
use crate::unauthenticated::{Refusal, Unauthenticated};
use crate::wire;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;
use opal_core::framework::btl::{self, Job};
use opal_core::sync::Ordering;
use opal_core::{message, sys, verbose};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::OwnedFd;

/// An accepted connection before the verdict.
struct PendingAccept {
    socket: Arc<OwnedFd>,
    received: HandshakeBuffer,
    step: Step,
    /// What the handshake leaves once it is proved, where the connecting side wants protection.
    session: Option<Session>,
    /// Where it comes from.
    source: IpAddr,
    /// They are numbered: the oldest unauthenticated one of a source is closed when it has too many, first of those without a hello.
    number: u64,
    /// Until then it must have proved that it belongs to the job.
    deadline_ns: u64,
}

/// The step of the handshake that was taken last.
#[derive(Clone, Copy)]
enum Step {
    /// The hello has not come.
    Accepted,
    /// The hello is one between jobs. This process does not know the other one yet: the layer above has not added it.
    Unknown([u8; HELLO_BYTES]),
    /// The hello was of this job and was answered, the proof has not come.
    Answered([u8; HELLO_BYTES], [u8; HELLO_BYTES], EndpointIds, Job),
    /// The proof was valid. This process does not know the peer yet: the layer above has not added it.
    Proved(Proved),
}

/// A peer that has proved itself.
#[derive(Clone, Copy)]
struct Proved {
    ids: EndpointIds,
    /// The number of the job in which the two shook hands.
    job: u64,
    /// What the answer told the peer.
    said: Progress,
}

/// Unauthenticated connections of one source.
struct Crowd {
    source: IpAddr,
    /// Those without a hello.
    silent: usize,
    all: usize,
}

/// All accepted connections before the verdict.
pub struct PendingAccepts {
    slots: Vec<Option<PendingAccept>>,
    last_number: u64,
    awaiting_peer: usize,
    /// At least as many as there are in [`Step::Unknown`].
    unknown_hellos: usize,
    unauthenticated: usize,
    said_full: bool,
    closed: Unauthenticated,
    // Processes of the job that have proved themselves since the last look and were not added.
    unknown: Vec<u32>,
}

impl PendingAccepts {
    /// None.
    pub const fn new() -> PendingAccepts {
        PendingAccepts {
            slots: Vec::new(),
            last_number: 0,
            awaiting_peer: 0,
            unknown_hellos: 0,
            unauthenticated: 0,
            said_full: false,
            closed: Unauthenticated::new(),
            unknown: Vec::new(),
        }
    }

    /// Accepts what waits at a listener, a turn's worth at most. It counts for nothing yet: anybody can connect.
    pub fn accept(&mut self, transport: &Transport, table: &mut RxTable, interface: u8, index: u8) {
        let interface = transport.interfaces.get(interface as usize);
        let Some((_, listener)) = interface.and_then(|interface| interface.listeners.get(index as usize)) else {
            return;
        };
        let mut accepted = 0;
        while accepted < ACCEPTS_PER_TURN {
            match socket::accept(listener) {
                Ok(Some((socket, source))) => self.add(transport, table, socket, source),
                Ok(None) => break,
                Err(errno) => {
                    if !core::mem::replace(&mut self.said_full, true) {
                        message!("btl/tcp: cannot accept a connection: {}", socket::why(errno));
                    }
                    break;
                }
            }
            accepted += 1;
        }
    }

    /// Takes what came on an accepted connection; returns how many things moved, which nobody without the job's secret can
    /// make them do.
    pub fn advance(&mut self, transport: &Transport, table: &mut RxTable, slot: u32) -> usize {
        let Some(mut pending) = self.slots.get_mut(slot as usize).and_then(Option::take) else { return 0 };
        if let Step::Proved(_) = pending.step {
            // It waits for the verdict, and says nothing before that: it has given this attempt up.
            self.awaiting_peer -= 1;
            return 0;
        }
        if let Err(refused) = pending.receive(transport, table) {
            self.unauthenticated -= 1;
            self.say_refused(pending.source, refused);
            return 0;
        }
        let Step::Proved(proved) = pending.step else {
            self.unknown_hellos += usize::from(matches!(pending.step, Step::Unknown(_)));
            self.slots[slot as usize] = Some(pending);
            return 0;
        };
        self.unauthenticated -= 1;
        let _ = epoll::delete(&transport.epoll, &*pending.socket);
        if !give_verdict(transport, table, &mut pending, proved) {
            // Told once, as a hang-up would wake this process again and again otherwise. Who cannot be watched is found gone at the
            // verdict.
            let (token, events) = (Token::Pending(slot).encode(), EventFlags::RDHUP | EventFlags::ET);
            let _ = socket::watch(&transport.epoll, &pending.socket, token, events);
            self.awaiting_peer += 1;
            self.slots[slot as usize] = Some(pending);
            if proved.job == transport.job.number && proved.ids.from < transport.job.size {
                self.unknown.push(proved.ids.from);
            }
        }
        1
    }

    /// The processes that wait for being added, each attempt of one once.
    pub fn take_unknown(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.unknown)
    }

    /// Closes connections that have proved nothing until their deadline.
    pub fn check_clock(&mut self) {
        if self.unauthenticated == 0 {
            return;
        }
        let now = sys::monotonic_ns();
        for place in &mut self.slots {
            let Some(late) = place.take_if(|pending| pending.is_unauthenticated() && pending.deadline_ns < now) else {
                continue;
            };
            self.unauthenticated -= 1;
            self.closed.closed(Refusal::TooLate, late.source, || {
                verbose!(
                    btl::FRAMEWORK,
                    20,
                    "tcp: a connection from {} proved nothing until its deadline",
                    late.source
                );
            });
        }
    }

    /// The job is over: says what was only counted.
    pub fn finish(&mut self) {
        self.closed.finish();
    }

    /// Goes on with connections between jobs whose other process has been added since their hello came.
    pub fn retry_unknown(&mut self, transport: &Transport, table: &mut RxTable) {
        if self.unknown_hellos == 0 {
            return;
        }
        self.unknown_hellos = 0;
        for place in 0..self.slots.len() {
            let Some(mut pending) = self.slots[place].take_if(|pending| matches!(pending.step, Step::Unknown(_)))
            else {
                continue;
            };
            // As in `add`: `advance` takes the proof, however soon it comes.
            match pending.receive_one(transport, table) {
                Ok(_) => {
                    self.unknown_hellos += usize::from(matches!(pending.step, Step::Unknown(_)));
                    self.slots[place] = Some(pending);
                }
                Err(refused) => {
                    self.unauthenticated -= 1;
                    self.say_refused(pending.source, refused);
                }
            }
        }
    }

    /// Gives the verdict on connections whose peer has been added since they were proved; returns how many.
    pub fn retry_awaiting_peer(&mut self, transport: &Transport, table: &mut RxTable) -> usize {
        if self.awaiting_peer == 0 {
            return 0;
        }
        let mut decided = 0;
        for slot in &mut self.slots {
            let Some(PendingAccept { step: Step::Proved(proved), .. }) = *slot else { continue };
            if of_process(transport, proved.ids, proved.job).is_empty() {
                continue;
            }
            let Some(mut pending) = slot.take() else { continue };
            let _ = epoll::delete(&transport.epoll, &*pending.socket);
            give_verdict(transport, table, &mut pending, proved);
            self.awaiting_peer -= 1;
            decided += 1;
        }
        if decided > 0 {
            self.give_back();
        }
        decided
    }

    /// After many processes have connected at once: the memory of their places.
    fn give_back(&mut self) {
        while self.slots.pop_if(|slot| slot.is_none()).is_some() {}
        self.slots.shrink_to(2 * self.slots.len());
    }

    /// How many there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// How many lines were written about outsiders, and how many were closed.
    #[cfg(test)]
    pub fn closed_counts(&self) -> (usize, u64) {
        self.closed.counts()
    }

    fn add(&mut self, transport: &Transport, table: &mut RxTable, socket: OwnedFd, source: IpAddr) {
        let timeout_ns = transport.limits.connect_timeout_ns;
        let mut pending = PendingAccept {
            socket: Arc::new(socket),
            received: HandshakeBuffer::new(),
            step: Step::Accepted,
            session: None,
            source,
            number: self.last_number + 1,
            // A peer of the job that computes for longer connects again (`connect::note_absence`).
            deadline_ns: sys::monotonic_ns() + PATIENCE * timeout_ns,
        };
        // A hello that is there already keeps its connection from being crowded out, and a wrong one takes no place. The proof may
        // follow at once; `advance` takes it, which gives the verdict.
        if let Err(refused) = pending.receive_one(transport, table) {
            return self.say_refused(source, refused);
        }
        self.make_room(transport, source);
        let slot = self.slots.iter().position(|place| place.is_none()).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let socket = &pending.socket;
        let watched = socket::detect_silence(socket, timeout_ns).and_then(|()| {
            socket::watch(&transport.epoll, socket, Token::Pending(slot as u32).encode(), EventFlags::IN)
        });
        if watched.is_ok() {
            self.last_number += 1;
            self.unauthenticated += 1;
            self.unknown_hellos += usize::from(matches!(pending.step, Step::Unknown(_)));
            self.slots[slot] = Some(pending);
        }
    }

    /// Closes the oldest unauthenticated connection of a source that has too many; of the source that has most, if there are
    /// too many in all. All processes of a node may have the same source, and strangers there as well: those that sent no hello
    /// of the job go first, and take only a part of this process's descriptors, however large the job is.
    fn make_room(&mut self, transport: &Transport, source: IpAddr) {
        let mut crowds: Vec<Crowd> = Vec::new();
        for pending in self.slots.iter().flatten().filter(|pending| pending.is_unauthenticated()) {
            let silent = usize::from(matches!(pending.step, Step::Accepted | Step::Unknown(_)));
            match crowds.iter_mut().find(|crowd| crowd.source == pending.source) {
                Some(crowd) => (crowd.silent, crowd.all) = (crowd.silent + silent, crowd.all + 1),
                None => crowds.push(Crowd { source: pending.source, silent, all: 1 }),
            }
        }
        let (size, descriptors) = (transport.job.size as usize, transport.limits.descriptors);
        let is_too_large = |crowd: &Crowd| {
            crowd.source == source && (crowd.all >= PER_SOURCE_MAX + size || crowd.silent >= descriptors / 8)
        };
        let silent: usize = crowds.iter().map(|crowd| crowd.silent).sum();
        let are_too_many = self.unauthenticated >= UNAUTHENTICATED_MAX + size || silent >= descriptors / 4;
        let crowd = match crowds.iter().max_by_key(|crowd| (crowd.silent, crowd.all)) {
            _ if crowds.iter().any(is_too_large) => source,
            Some(crowd) if are_too_many => crowd.source,
            _ => return,
        };
        let of_crowd = |pending: &&PendingAccept| pending.source == crowd && pending.is_unauthenticated();
        let rank = |pending: &&PendingAccept| (matches!(pending.step, Step::Answered(..)), pending.number);
        let first = self.slots.iter().flatten().filter(of_crowd).min_by_key(rank).map(|pending| pending.number);
        let is_first = |place: &&mut Option<PendingAccept>| place.as_ref().map(|pending| pending.number) == first;
        if let Some(place) = self.slots.iter_mut().find(is_first) {
            *place = None;
            self.unauthenticated -= 1;
            self.closed.closed(Refusal::TooMany, crowd, || {
                verbose!(
                    btl::FRAMEWORK,
                    20,
                    "tcp: too many connections from {crowd} prove nothing; the oldest is closed"
                );
            });
        }
    }

    fn say_refused(&mut self, source: IpAddr, refused: Refused) {
        match refused {
            Refused::OtherFormat(theirs) => self.closed.closed(Refusal::OtherFormat, source, || {
                message!(
                    "btl/tcp: a process that speaks wire format {theirs:#010x} connected from {source}, this process speaks \
                     {:#010x} ({}); all processes of a job need the same version of this library. More of the kind from there \
                     are only counted",
                    wire::WIRE_ID,
                    wire::FORMAT
                );
            }),
            Refused::Invalid => self.closed.closed(Refusal::NoHandshake, source, || {
                verbose!(btl::FRAMEWORK, 20, "tcp: closed a connection from {source} that does not follow the handshake");
            }),
        }
    }
}

impl PendingAccept {
    fn is_unauthenticated(&self) -> bool {
        matches!(self.step, Step::Accepted | Step::Unknown(_) | Step::Answered(..))
    }

    /// Takes what has come. `Err` if the connection is to be closed.
    fn receive(&mut self, transport: &Transport, table: &mut RxTable) -> Result<(), Refused> {
        while self.receive_one(transport, table)? {}
        Ok(())
    }

    /// Takes the next message; `false` if it is not there yet, or was the last.
    fn receive_one(&mut self, transport: &Transport, table: &mut RxTable) -> Result<bool, Refused> {
        match self.step {
            Step::Accepted => {
                let Some(hello) = self.message()? else {
                    // A hello of another format may be shorter.
                    return handshake::check_beginning(self.received.so_far()).map(|()| false);
                };
                return self.answer(transport, table, hello);
            }
            Step::Unknown(hello) => {
                // Nobody says more before it has an answer.
                if self.message::<1>()?.is_some() {
                    return Err(Refused::Invalid);
                }
                return self.answer(transport, table, hello);
            }
            Step::Answered(hello, answer, ids, job) => {
                let Some(proof) = self.message()? else { return Ok(false) };
                if !handshake::is_proof_valid(&job, &hello, &answer, &proof) {
                    return Err(Refused::Invalid);
                }
                self.session = (ids.protect != Protect::None).then(|| {
                    let keys = handshake::keys(&job, &hello, &handshake::nonce_of(&answer));
                    Session::accepting(ids.protect, &keys)
                });
                self.step = Step::Proved(Proved { ids, job: job.number, said: handshake::progress_of(&answer) });
            }
            Step::Proved(..) => return Ok(false),
        }
        Ok(true)
    }

    /// Answers the first message; `false` if its sender is not known yet.
    fn answer(
        &mut self,
        transport: &Transport,
        table: &mut RxTable,
        hello: [u8; HELLO_BYTES],
    ) -> Result<bool, Refused> {
        let number = handshake::job_of(&hello)?;
        let job = match number == transport.job.number {
            true => transport.job,
            false => {
                match transport.of_pair(number).next() {
                    Some(connection) => connection.job(&transport.job),
                    // Whoever has not shown itself is met by nobody.
                    None if transport.own.get().is_none() => return Err(Refused::Invalid),
                    None => {
                        self.step = Step::Unknown(hello);
                        return Ok(false);
                    }
                }
            }
        };
        let ids = handshake::check_hello(&job, &hello)?;
        let nonce = sys::random().map_err(|_| Refused::Invalid)?;
        let connection = named(&of_process(transport, ids, number), ids);
        let answer = handshake::answer(&job, &hello, &nonce, progress(transport, table, connection, ids));
        if socket::send(&self.socket, &answer) != Ok(answer.len()) {
            return Err(Refused::Invalid);
        }
        #[cfg(test)]
        crate::tests::answered();
        self.step = Step::Answered(hello, answer, ids, job);
        Ok(true)
    }

    fn message<const WANTED: usize>(&mut self) -> Result<Option<[u8; WANTED]>, Refused> {
        self.received.receive(&self.socket).map_err(|_| Refused::Invalid)
    }
}

/// All connections to a process, which is known by its index in the job, or the pair with it by its number.
fn of_process(transport: &Transport, ids: EndpointIds, job: u64) -> Vec<&Connection> {
    match job == transport.job.number {
        true => transport.to_peer(ids.from).collect(),
        false => transport.of_pair(job).collect(),
    }
}

/// The connection that a hello names.
fn named<'c>(all: &[&'c Connection], ids: EndpointIds) -> Option<&'c Connection> {
    let is_named = |connection: &&&Connection| {
        connection.local.interface == ids.to_interface && connection.remote.interface == ids.from_interface
    };
    all.iter().find(is_named).copied()
}

/// How far this process is with the stream of a connection.
fn progress(transport: &Transport, table: &mut RxTable, connection: Option<&Connection>, ids: EndpointIds) -> Progress {
    let rx = connection.and_then(|connection| table.get(connection.id));
    // The peer knows whether the two are on one machine. Those of two jobs never resume.
    let may_resume = transport.limits.failover && connection.is_none_or(|connection| connection.pair.is_none());
    Progress { received: rx.map_or(0, |rx| rx.received()), resumes: may_resume && ids.progress.resumes }
}

/// Gives the verdict on a proved connection: puts it in force, has it yield, or closes it. `false` if this process does not know
/// the peer yet.
fn give_verdict(transport: &Transport, table: &mut RxTable, pending: &mut PendingAccept, proved: Proved) -> bool {
    let Proved { ids, job, said } = proved;
    let all = of_process(transport, ids, job);
    let known = !all.is_empty();
    let Some(connection) = named(&all, ids) else {
        if known {
            verbose!(
                btl::FRAMEWORK,
                20,
                "tcp: process {} names a pair of interfaces that does not exist here",
                ids.from
            );
        }
        return known;
    };
    let is_current = said == progress(transport, table, Some(connection), ids);
    let mut tx = connection.tx.lock();
    match verdict(transport, connection, &tx, ids) {
        // More has come on the old socket since, or this process did not know the peer yet: the peer tries again.
        Some(handshake::WELCOME) if !is_current => {}
        Some(_) if ids.protect != connection.protect => {
            let verdict = handshake::OTHER_PROTECTION + connection.protect as u8;
            _ = socket::send(&pending.socket, &[verdict]);
            // It would come to the same if this process connected.
            tx.state = State::Refused(ids.protect);
            transport.has_failed.store(true, Ordering::Relaxed);
        }
        Some(handshake::WELCOME) => {
            let token = Token::Connection(connection.id).encode();
            // Watched first: a peer that was welcomed takes the end of the socket for the end of this process.
            let welcomed = socket::watch(&transport.epoll, &pending.socket, token, EventFlags::IN).is_ok()
                && socket::send(&pending.socket, &[handshake::WELCOME]) == Ok(1);
            // A peer that went away meanwhile connects again, or reports why not.
            if welcomed {
                let session = pending.session.take();
                transport.revive(connection, &tx);
                tx.accepted = ids.attempt;
                tx.via = None;
                if connection.resumes && said.resumes {
                    tx.via = path_from(transport, connection, pending.source);
                }
                if tx.via.is_some() {
                    connect::list(transport, connection);
                }
                let peer = Progress { received: ids.progress.received, resumes: said.resumes };
                table.connected(transport, connection, &mut tx, pending.socket.clone(), session, peer);
            }
        }
        Some(verdict) => _ = socket::send(&pending.socket, &[verdict]),
        None => {}
    }
    true
}

/// The connection whose path a peer at this address took, if it is not that of its own connection.
fn path_from(transport: &Transport, connection: &Connection, source: IpAddr) -> Option<u32> {
    if connection.remote.address == source {
        return None;
    }
    transport.to_peer(connection.peer).find(|other| other.remote.address == source).map(|other| other.id)
}

/// Of two connections that are made at the same time the one stays that the process with the lower index began: its other
/// end gives way, it does not. Before its hello it gives way, too: the peer knows nothing of its attempt. A peer that
/// connects again has given the connection in force up.
fn verdict(transport: &Transport, connection: &Connection, tx: &Tx, ids: EndpointIds) -> Option<u8> {
    match tx.state {
        _ if connection.resumes && ids.progress.resumes && ids.attempt <= tx.accepted => None,
        State::Idle | State::Backoff { .. } | State::Connecting | State::Yielded => Some(handshake::WELCOME),
        // A way that is open from there alone leads in both directions.
        State::FailedOver => Some(handshake::WELCOME),
        State::HelloSent(_) | State::ProofSent if is_lower(transport, connection) => Some(handshake::YIELD),
        State::HelloSent(_) | State::ProofSent => Some(handshake::WELCOME),
        State::Connected | State::Failed(_) if tx.retains() && ids.progress.resumes => Some(handshake::WELCOME),
        State::Connected | State::Failed(_) | State::Refused(_) | State::Closed => None,
    }
}

fn is_lower(transport: &Transport, connection: &Connection) -> bool {
    let job = connection.job(&transport.job);
    job.index < connection.peer_in(&job)
}

const ACCEPTS_PER_TURN: usize = 64;
/// A process of the job takes three calls of MPI for the handshake, and may compute in between. Floods do not wait for the
/// deadline: `make_room`.
const PATIENCE: u64 = 20;
/// So many connections of one source may be in the handshake at the same time, beside one per process of the job.
const PER_SOURCE_MAX: usize = 64;
/// And so many of all sources.
const UNAUTHENTICATED_MAX: usize = 256;
