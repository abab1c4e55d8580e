//! The sending side of one connection: its state, its socket and the queue of what the socket had no room for.

use crate::candidate::Candidates;
use crate::handshake::Progress;
use crate::handshake_buffer::HandshakeBuffer;
use crate::meter::Meter;
use crate::params::Limits;
use crate::raw;
use crate::record::{Protect, RECORD_MAX, Sealer};
use crate::rx::ACK_BYTES;
use crate::send_queue::SendQueue;
use crate::session::Session;
use crate::socket;
use crate::state::{AttemptEnd, Breaks, Home, Resume, State};
use crate::wire::{self, HEADER_BYTES, Header, Malformed};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use opal_core::framework::btl::{Full, Throughput};
use opal_core::sys;
use rustix::fd::OwnedFd;

/// What the caller of a send must see to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// Nothing.
    None,
    /// Connect: this is the first message.
    Connect,
    /// Later sends are coalesced: have the next call uncork it.
    Corked,
}

/// One connection's sending side.
pub struct Tx {
    pub state: State,
    pub socket: Option<Arc<OwnedFd>>,
    /// Attempts after the first one.
    pub retries: u32,
    /// How often the peer's system was reached and the handshake did not end.
    pub closed: u32,
    /// No connection to the peer could be made: this one tries what other pairs of addresses there are.
    pub candidates: Option<Box<Candidates>>,
    /// Until when the system may connect, or the peer whose connection goes first.
    pub deadline_ns: u64,
    /// This process did not look at the attempt for long.
    pub was_away: bool,
    /// The peer's part of the handshake, as far as it has come.
    pub handshake: HandshakeBuffer,
    /// What the handshake left, for when the peer's verdict comes.
    pub session: Option<Session>,
    /// What the peer had received when it answered.
    pub answered: Progress,
    /// Bytes that had come on the peer's other connections when this one's handshake was late last.
    pub received_elsewhere: Option<u64>,
    /// The connection whose two addresses this one takes: itself, until its own path breaks.
    pub via: Option<u32>,
    /// Attempts of this process so far: each has a number, so that the peer tells an old one from a new one.
    pub attempt: u32,
    /// The number of the peer's last attempt that became a connection.
    pub accepted: u32,
    /// It was in force and is to be made again.
    pub resume: Option<Resume>,
    /// How it broke since anything moved.
    pub breaks: Breaks,
    /// How the last attempt ended, or will if nobody answers.
    pub attempt_end: Option<AttemptEnd>,
    /// How often something came in the handshake that no process of the job says.
    pub unexpected: u32,
    /// The peer said so in the handshake, by a byte that nothing protects: it protects connections otherwise.
    pub refused_for: Option<Protect>,
    /// Until when the peer may leave a broken connection unanswered, while this process waits for nothing but to leave.
    pub leaving_ns: Option<u64>,
    /// Whether it stays on its own path.
    pub home: Home,
    /// It could not be made from here: messages take the connection of this id to the same peer instead, for ever, so that their order
    /// stays. If the peer makes it, this process receives on it and acknowledges.
    pub failover: Option<u32>,
    /// This process proved itself: the peer may have put the connection in force.
    pub has_proved: bool,
    /// An attempt to reach the peer by the connection's own path, while it takes another one.
    pub probe: Option<OwnedFd>,
    /// How fast it is.
    pub meter: Meter,
    /// The socket is full.
    pub blocked: bool,
    /// Epoll reports when the socket becomes writable.
    pub watched: bool,
    queue: SendQueue,
    // Where the connection is protected: what makes records of the queue, and records for which there was no room.
    sealer: Option<Box<Sealer>>,
    records: Vec<u8>,
    records_start: usize,
    messages: usize,
    corked: bool,
}

impl Tx {
    /// Nothing was sent yet.
    pub const fn new() -> Tx {
        Tx {
            state: State::Idle,
            socket: None,
            retries: 0,
            closed: 0,
            candidates: None,
            deadline_ns: 0,
            was_away: false,
            handshake: HandshakeBuffer::new(),
            session: None,
            answered: Progress { received: 0, resumes: false },
            received_elsewhere: None,
            via: None,
            attempt: 0,
            accepted: 0,
            resume: None,
            breaks: Breaks::new(),
            attempt_end: None,
            unexpected: 0,
            refused_for: None,
            leaving_ns: None,
            home: Home::new(),
            failover: None,
            has_proved: false,
            probe: None,
            meter: Meter::new(),
            blocked: false,
            watched: false,
            queue: SendQueue::new(),
            sealer: None,
            records: Vec::new(),
            records_start: 0,
            messages: 0,
            corked: false,
        }
    }

    /// Sends a message: `lead`, which is its header with what goes before the payload, and the payload. The system takes
    /// a long payload from where it lies, behind what is queued. While the socket is full a long payload is refused rather
    /// than copied. `awaited`: the peer probably waits for just this message.
    #[inline]
    pub fn send(&mut self, limits: &Limits, lead: &[u8], payload: &[u8], awaited: bool) -> Result<FollowUp, Full> {
        let long = payload.len() >= limits.gather_bytes;
        if self.state == State::Connected && !self.blocked && (long || !self.corked && self.queue.unsent().is_empty()) {
            self.reserve_unacknowledged(limits, payload.len())?;
            if payload.len() >= MEASURED_BYTES && !self.meter.is_on() {
                self.begin_to_measure();
            }
            return Ok(self.write_now(lead, payload, awaited));
        }
        if long && self.state == State::Connected {
            return Err(Full);
        }
        self.reserve(limits, payload.len())?;
        self.queue.push(lead);
        self.queue.push(payload);
        Ok(self.after_queueing(limits))
    }

    /// Sends a message whose payload `append` adds to the queue.
    pub fn send_filled(
        &mut self,
        limits: &Limits,
        header: &[u8; HEADER_BYTES],
        bytes: usize,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> Result<FollowUp, Full> {
        self.reserve(limits, bytes)?;
        self.queue.push(header);
        self.queue.push_with(bytes, append);
        Ok(self.after_queueing(limits))
    }

    /// Tells the peer how many bytes have come of it. What is said of connections is part of their streams, and has room
    /// however much waits.
    pub fn send_acknowledgement(&mut self, received: u64) {
        self.queue.push(&Header { kind: wire::ACK, pad: 0, bytes: 0, immediate: received }.encode());
        if !self.blocked {
            self.write();
        }
    }

    /// The peer has so many bytes of this process.
    pub fn acknowledge(&mut self, received: u64) -> Result<(), Malformed> {
        self.queue.acknowledge(received)?;
        if self.meter.is_on() {
            // The peer acknowledges no less.
            let is_idle = self.queue.unsent().is_empty() && self.queue.unacknowledged() < ACK_BYTES as usize;
            self.meter.acknowledged(received, is_idle, sys::monotonic_ns());
        }
        Ok(())
    }

    /// How fast it is, once that was measured.
    pub fn throughput(&self) -> Option<Throughput> {
        // Of what is less than an acknowledgement the peer has all, as far as anybody knows.
        let unacknowledged =
            if self.meter.is_on() { self.queue.unacknowledged() + self.queue.unsent().len() } else { 0 };
        self.meter.mbps(sys::monotonic_ns()).map(|mbps| Throughput { mbps, unacknowledged })
    }

    #[cold]
    fn begin_to_measure(&mut self) {
        if self.queue.retains() {
            // What is on its way counts, or the time that it still takes would be taken for slowness. Sealed it is more than its bytes.
            let on_its_way = self.socket.as_ref().map_or(0, |socket| raw::unacknowledged(socket));
            let unacknowledged = self.queue.unacknowledged();
            let first = self.queue.acknowledged() + (unacknowledged - on_its_way.min(unacknowledged)) as u64;
            self.meter.begin(first, sys::monotonic_ns());
        }
    }

    /// Has the system acknowledge now what it has received; it would wait 40 ms for something to send with that.
    pub fn acknowledge_at_once(&self) {
        if let (Some(socket), State::Connected, true) = (&self.socket, self.state, self.queue.retains()) {
            socket::acknowledge_at_once(socket);
        }
    }

    /// Whether what was sent has left, or never will. What may have to be sent again has left when the peer's system has
    /// it: if this process ended sooner with something unread, its system would drop the rest.
    pub fn is_drained(&self) -> bool {
        if !self.state.is_usable() {
            return true;
        }
        let has_left = || match &self.socket {
            Some(socket) if self.state == State::Connected => raw::unacknowledged(socket) == 0,
            _ => self.queue.unacknowledged() == 0,
        };
        self.queued_bytes() == 0 && (!self.queue.retains() || has_left())
    }

    /// From now on this socket carries the stream, after what the peer has of it. Returns how many bytes go again.
    pub fn carry_on(
        &mut self,
        socket: Arc<OwnedFd>,
        sealer: Option<Box<Sealer>>,
        peer: Progress,
    ) -> Result<usize, Malformed> {
        if self.queue.retains() && !peer.resumes {
            return Err(Malformed);
        }
        // What the peer does not keep need not be kept here.
        self.queue.set_retains(peer.resumes);
        let again = if peer.resumes { self.queue.resume(peer.received)? } else { 0 };
        if self.socket.as_ref().is_some_and(|old| Arc::ptr_eq(old, &socket)) {
            self.socket = None;
        }
        self.abandon_socket();
        (self.state, self.socket, self.sealer) = (State::Connected, Some(socket), sealer);
        self.meter.forget();
        (self.resume, self.attempt_end, self.probe, self.candidates) = (None, None, None, None);
        (self.unexpected, self.refused_for) = (0, None);
        Ok(again)
    }

    /// Gives the socket up, so that the peer does not take it for the end of this process.
    pub fn abandon_socket(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket::abandon(&socket);
        }
        (self.session, self.sealer) = (None, None);
        (self.records, self.records_start) = (Vec::new(), 0);
        (self.blocked, self.watched) = (false, false);
        self.handshake = HandshakeBuffer::new();
    }

    /// Bytes that wait to be sent or acknowledged.
    #[cfg(test)]
    pub fn kept_bytes(&self) -> usize {
        self.queue.all()
    }

    /// How many bytes the peer is known to have.
    pub fn acknowledged(&self) -> u64 {
        self.queue.acknowledged()
    }

    /// Whether the stream goes on after its socket breaks.
    pub fn retains(&self) -> bool {
        self.queue.retains()
    }

    /// Gives up before anything was sent, for the connection `to`: returns the queue, whole messages in their order.
    pub fn fail_over(&mut self, to: u32) -> Vec<u8> {
        debug_assert!(self.state != State::Connected);
        let queue = self.queue.take();
        self.close();
        (self.state, self.failover) = (State::FailedOver, Some(to));
        queue
    }

    /// Takes over the queue of another connection, however long it is.
    pub fn take_over(&mut self, queue: &[u8]) -> FollowUp {
        if queue.is_empty() {
            return FollowUp::None;
        }
        self.queue.push(queue);
        match self.state {
            State::Idle => return FollowUp::Connect,
            _ if !self.blocked => self.write(),
            _ => {}
        }
        FollowUp::None
    }

    /// Ends coalescing: writes as much of the queue as there is room for.
    pub fn uncork(&mut self) {
        self.corked = false;
        if !self.blocked {
            self.write();
        }
    }

    /// Writes as much of the queue as there is room for.
    pub fn write(&mut self) {
        if self.state != State::Connected {
            return;
        }
        if self.sealer.is_some() {
            return self.write_records();
        }
        let Some(socket) = &self.socket else { return };
        while !self.queue.unsent().is_empty() {
            match socket::send(socket, self.queue.unsent()) {
                Ok(0) => {
                    self.blocked = true;
                    return;
                }
                Ok(bytes) => self.queue.sent(bytes),
                Err(errno) => {
                    self.state = State::Failed(errno);
                    return;
                }
            }
        }
        self.all_sent();
    }

    /// Nothing leaves any more.
    pub fn close(&mut self) {
        self.state = State::Closed;
        self.socket = None;
        self.queue.drop_all();
        (self.resume, self.probe, self.candidates) = (None, None, None);
        (self.sealer, self.session) = (None, None);
        (self.records, self.records_start) = (Vec::new(), 0);
        (self.blocked, self.has_proved) = (false, false);
    }

    #[inline]
    fn write_now(&mut self, lead: &[u8], payload: &[u8], awaited: bool) -> FollowUp {
        if self.sealer.is_some() {
            return self.write_protected(lead, payload);
        }
        if self.queue.retains() && payload.len() <= socket::TOGETHER_BYTES {
            return self.write_kept(lead, payload);
        }
        let Some(socket) = &self.socket else {
            self.queue.push(lead);
            self.queue.push(payload);
            return FollowUp::None;
        };
        let queued = self.queue.unsent();
        let whole = queued.len() + lead.len() + payload.len();
        let cut = if awaited && CUT.contains(&payload.len()) { FIRST_BYTES } else { payload.len() };
        let (sent, result) = send_in_two(socket, [queued, lead, payload], cut);
        self.queue.sent_with(sent, [lead, payload]);
        match result {
            Ok(()) if sent == whole => self.all_sent(),
            Ok(()) => {
                self.messages += 1;
                self.blocked = true;
            }
            Err(errno) => self.state = State::Failed(errno),
        }
        self.cork()
    }

    /// As `write_now` of what is short and kept: it leaves from where it is kept, and is copied once.
    #[inline]
    fn write_kept(&mut self, lead: &[u8], payload: &[u8]) -> FollowUp {
        self.queue.push(lead);
        self.queue.push(payload);
        self.write();
        self.messages += usize::from(!self.queue.unsent().is_empty());
        self.cork()
    }

    /// As `write_now` on a protected connection.
    #[inline(never)]
    fn write_protected(&mut self, lead: &[u8], payload: &[u8]) -> FollowUp {
        self.queue.push(lead);
        self.queue.push(payload);
        self.messages += 1;
        self.write_records();
        self.cork()
    }

    /// Makes records of the queue and writes them, as far as there is room. A record that is made leaves before the next one is.
    fn write_records(&mut self) {
        let (Some(socket), Some(sealer)) = (&self.socket, &mut self.sealer) else { return };
        loop {
            while self.records_start < self.records.len() {
                match socket::send(socket, &self.records[self.records_start..]) {
                    Ok(0) => {
                        self.blocked = true;
                        return;
                    }
                    Ok(bytes) => self.records_start += bytes,
                    Err(errno) => {
                        self.state = State::Failed(errno);
                        return;
                    }
                }
            }
            self.records.clear();
            self.records_start = 0;
            let body = self.queue.unsent();
            let body = &body[..body.len().min(RECORD_MAX)];
            if body.is_empty() {
                break;
            }
            sealer.seal(body, &mut self.records);
            let bytes = body.len();
            self.queue.sent(bytes);
        }
        self.all_sent();
    }

    fn after_queueing(&mut self, limits: &Limits) -> FollowUp {
        self.messages += 1;
        match self.state {
            State::Idle => FollowUp::Connect,
            State::Connected => {
                let enough = self.queued_bytes() >= limits.gather_bytes || self.messages >= limits.gather_messages;
                if !self.blocked && (!self.corked || enough) {
                    self.messages = 0;
                    self.write();
                }
                self.cork()
            }
            _ => FollowUp::None,
        }
    }

    /// `Err(Full)` if so many bytes do not fit into the queue, or nothing leaves any more.
    fn reserve(&mut self, limits: &Limits, bytes: usize) -> Result<(), Full> {
        if matches!(self.state, State::Failed(_) | State::Refused(_) | State::Closed) {
            return Err(Full);
        }
        let queued = self.queued_bytes();
        if queued > 0 && queued + HEADER_BYTES + bytes > limits.queue_bytes {
            return Err(Full);
        }
        self.reserve_unacknowledged(limits, bytes)?;
        self.queue.compact();
        Ok(())
    }

    /// `Err(Full)` if the peer has to acknowledge something before so many bytes are sent.
    #[inline]
    fn reserve_unacknowledged(&self, limits: &Limits, bytes: usize) -> Result<(), Full> {
        let kept = self.queue.unacknowledged();
        if kept > 0 && kept + bytes > limits.unacknowledged_bytes { Err(Full) } else { Ok(()) }
    }

    #[inline]
    fn cork(&mut self) -> FollowUp {
        if core::mem::replace(&mut self.corked, true) { FollowUp::None } else { FollowUp::Corked }
    }

    fn queued_bytes(&self) -> usize {
        self.queue.unsent().len() + self.records.len() - self.records_start
    }

    fn all_sent(&mut self) {
        (self.messages, self.blocked) = (0, false);
    }
}

/// The receiver copies the first part of a payload while the system still copies the rest. That pays where a message is
/// little longer than what the loopback carries in one piece (65483 bytes), whose end would come by itself: 64 KiB one way 26
/// instead of 31 µs, as a raw socket; 48 KiB 22.6 instead of 21.1, 1 MiB 292 instead of 276, so those go in one call. In a
/// stream both sides copy at the same time anyway: 4.0 instead of 4.8 GB/s.
///
/// Returns how much has left, also where the connection broke after that: the peer may have it.
fn send_in_two(socket: &OwnedFd, [queued, lead, payload]: [&[u8]; 3], cut: usize) -> (usize, rustix::io::Result<()>) {
    let (first, rest) = payload.split_at(cut);
    let sent = match socket::send_all(socket, [queued, lead, first]) {
        Ok(sent) => sent,
        Err(errno) => return (0, Err(errno)),
    };
    if rest.is_empty() || sent < queued.len() + lead.len() + first.len() {
        return (sent, Ok(()));
    }
    #[cfg(test)]
    crate::tests::sent_first_part();
    match socket::send_all(socket, [rest, &[], &[]]) {
        Ok(more) => (sent + more, Ok(())),
        Err(errno) => (sent, Err(errno)),
    }
}

/// What begins a measurement: as much as a peer acknowledges.
const MEASURED_BYTES: usize = ACK_BYTES as usize;
const CUT: RangeInclusive<usize> = 63 << 10..=96 << 10;
const FIRST_BYTES: usize = 32 << 10;
