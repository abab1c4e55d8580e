//! Polling: what this process does with the sockets that epoll names. What ends a connection is in `failure`.

use crate::accept::PendingAccepts;
use crate::backoff::{HostClock, PollBackoff};
use crate::connect;
use crate::connection::Connection;
use crate::frames::Frame;
use crate::rx::{Read, RxEvent};
use crate::rx_table::RxTable;
use crate::search;
use crate::state::State;
use crate::transport::{Token, Transport};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use opal_core::framework::btl;
use opal_core::message;
use opal_core::sync::{ConditionalLock, Once, Ordering};
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::io::Errno;

/// The whole transport.
pub struct Tcp {
    pub transport: Transport,
    pub poller: ConditionalLock<Poller>,
}

/// The one transport, if it runs.
pub static TCP: Once<&'static Tcp> = Once::new();

/// What only polling changes; locked while it does.
pub struct Poller {
    pub rx: RxTable,
    /// Connections whose buffer may hold whole frames although their socket is empty.
    buffered: Vec<u32>,
    pending: PendingAccepts,
    backoff: PollBackoff,
    /// A failover was announced.
    pub said_failover: bool,
    /// The system no longer says what happens to sockets.
    pub is_epoll_lost: bool,
    hosts: HostClock,
}

impl Tcp {
    /// Over a transport that has no connections yet.
    pub fn new(transport: Transport) -> Tcp {
        let poller = Poller {
            rx: RxTable::new(),
            buffered: Vec::new(),
            pending: PendingAccepts::new(),
            backoff: PollBackoff::default(),
            said_failover: false,
            is_epoll_lost: false,
            hosts: HostClock::default(),
        };
        Tcp { transport, poller: ConditionalLock::new(poller) }
    }

    /// Polls all sockets; returns how many things moved.
    pub fn poll(&self) -> usize {
        let (moved, unknown) = {
            let mut poller = self.poller.lock();
            (poller.poll(&self.transport), poller.pending.take_unknown())
        };
        // Nothing is locked: who adds a peer may ask for its address, and close what other transports serve.
        unknown.into_iter().for_each(btl::unknown_peer);
        moved
    }

    /// Sleeps until something happens to any socket, at most this long; returns whether it did.
    pub fn sleep(&self, at_most_us: u64) -> bool {
        // That a peer has ended is told by no socket.
        let is_broken = self.transport.is_broken.load(Ordering::Relaxed);
        let at_most_us = if is_broken { at_most_us.min(BROKEN_US) } else { at_most_us };
        let timeout =
            Timespec { tv_sec: (at_most_us / 1_000_000) as i64, tv_nsec: (at_most_us % 1_000_000 * 1000) as _ };
        let mut place = [const { MaybeUninit::<Event>::uninit() }; 1];
        // The event stays to be found by the next poll, and so does an error.
        let happened = match epoll::wait(&self.transport.epoll, &mut place, Some(&timeout)) {
            Ok((events, _)) => !events.is_empty(),
            Err(errno) => errno != Errno::INTR,
        };
        let mut poller = self.poller.lock();
        poller.poll_now();
        poller.hosts.is_due();
        happened
    }
}

impl Poller {
    /// Polls all sockets; returns how many things moved.
    pub fn poll(&mut self, transport: &Transport) -> usize {
        let mut moved = self.deliver_buffered(transport);
        if self.backoff.skip > 0 && moved == 0 && !transport.has_failed.load(Ordering::Relaxed) {
            self.backoff.skip -= 1;
            return 0;
        }
        connect::note_absence(transport);
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut places = [const { MaybeUninit::uninit() }; EVENTS];
        let events = match epoll::wait(&transport.epoll, &mut places, Some(&now)) {
            Ok((events, _)) => events,
            // Interrupted: nothing happened.
            Err(Errno::INTR) => &mut [],
            Err(errno) => {
                moved += self.lose_epoll(transport, errno);
                &mut []
            }
        };
        for event in events {
            moved += match Token::decode(event.data.u64()) {
                Token::Listener(interface, index) => {
                    self.pending.accept(transport, &mut self.rx, interface, index);
                    0
                }
                Token::Pending(slot) => self.pending.advance(transport, &mut self.rx, slot),
                Token::Connection(id) => self.advance(transport, id, event.flags),
                Token::Waker => 0,
            };
        }
        self.pending.retry_unknown(transport, &mut self.rx);
        moved += self.pending.retry_awaiting_peer(transport, &mut self.rx);
        self.pending.check_clock();
        if self.hosts.is_time(transport.limits.host_timeout_ns()) {
            moved += self.check_hosts(transport);
        }
        let due = connect::check_clock(transport, &mut self.rx);
        self.see_ended(transport, due.ended);
        for (id, reason) in due.late {
            let Some(connection) = transport.connection(id) else { continue };
            self.cannot_connect(transport, connection, reason);
        }
        for connection in due.searching.into_iter().filter_map(|id| transport.connection(id)) {
            if let Some(reason) = search::go_on(transport, connection) {
                self.cannot_connect(transport, connection, reason);
            }
        }
        due.home.into_iter().filter_map(|id| transport.connection(id)).for_each(|it| self.go_home(transport, it));
        if transport.has_failed.swap(false, Ordering::Relaxed) {
            self.report_failed(transport);
            moved += 1;
        }
        self.backoff.after(transport, moved);
        moved
    }

    /// The job is over: says what was only counted.
    pub fn finish(&mut self) {
        self.pending.finish();
    }

    /// The next passes poll the sockets.
    pub fn poll_now(&mut self) {
        self.backoff.reset();
    }

    /// The next frame of one connection, reading from its socket if there is none yet.
    pub fn peek(&mut self, transport: &Transport, id: u32) -> Option<(&[u8], Frame)> {
        let rx = self.rx.get(id)?;
        if rx.has_ended() {
            return None;
        }
        let mut next = rx.next();
        if let RxEvent::Incomplete = next
            && !rx.is_placing()
        {
            match rx.read() {
                Read::Ended(_) => {
                    // The next poll of all sockets finds it again and reports it.
                    self.poll_now();
                    return None;
                }
                Read::More | Read::Empty => next = rx.next(),
            }
            // Perhaps nothing else will come here for long.
            if let RxEvent::Incomplete = next
                && rx.has_acknowledgements()
            {
                self.acknowledge(transport, id);
                return None;
            }
        }
        if !matches!(next, RxEvent::Incomplete) && !self.buffered.contains(&id) {
            self.buffered.push(id);
        }
        let RxEvent::Frame(frame) = next else {
            // A long payload is for the next poll of all sockets; that finds what is malformed, too.
            self.backoff.skip = 0;
            return None;
        };
        Some((self.rx.get(id)?.payload(&frame), frame))
    }

    /// Takes what [`Poller::peek`] returned.
    pub fn consume(&mut self, transport: &Transport, id: u32) {
        let Some(rx) = self.rx.get(id) else { return };
        if let RxEvent::Frame(frame) = rx.next() {
            rx.advance(&frame);
        }
        if rx.has_acknowledgements() {
            self.acknowledge(transport, id);
        }
    }

    /// Receives nothing on a connection any more, and reports nothing.
    pub fn remove(&mut self, id: u32) {
        self.rx.remove(id);
    }

    /// The next poll asks whether hosts are silent.
    #[cfg(test)]
    pub fn hosts_are_due(&mut self) {
        self.hosts.is_due();
    }

    /// How many accepted connections are in the handshake.
    #[cfg(test)]
    pub fn pending_accepts(&self) -> usize {
        self.pending.count()
    }

    /// How many lines were written about outsiders, and how many were closed.
    #[cfg(test)]
    pub fn closed_counts(&self) -> (usize, u64) {
        self.pending.closed_counts()
    }

    fn deliver_buffered(&mut self, transport: &Transport) -> usize {
        let mut moved = 0;
        while let Some(id) = self.buffered.pop() {
            moved += self.deliver(transport, id);
        }
        moved
    }

    /// Something happened to a connection's socket.
    fn advance(&mut self, transport: &Transport, id: u32, flags: EventFlags) -> usize {
        let Some(connection) = transport.connection(id) else { return 0 };
        let mut tx = connection.tx.lock();
        match tx.state {
            State::Connected => {
                if flags.contains(EventFlags::OUT) {
                    tx.write();
                    if !tx.blocked && core::mem::take(&mut tx.watched) {
                        transport.rewatch(connection, &mut tx, EventFlags::IN);
                    }
                    transport.after_write(connection, &mut tx);
                }
                drop(tx);
                let writable = usize::from(flags.contains(EventFlags::OUT));
                if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                    return writable + self.read(transport, connection);
                }
                writable
            }
            State::Connecting | State::HelloSent(_) | State::ProofSent => {
                let advanced = connect::advance(transport, &mut self.rx, connection, &mut tx);
                drop(tx);
                if let Err(reason) = advanced {
                    self.cannot_connect(transport, connection, reason);
                }
                1
            }
            _ => 0,
        }
    }

    fn read(&mut self, transport: &Transport, connection: &Connection) -> usize {
        let mut moved = 0;
        for _ in 0..READS_PER_TURN {
            let Some(rx) = self.rx.get(connection.id) else { return moved };
            let read = rx.read();
            let taken = self.deliver(transport, connection.id);
            if taken > 0 {
                connection.has_received.store(true, Ordering::Relaxed);
            }
            moved += taken;
            match read {
                Read::More => {}
                Read::Empty => return moved,
                Read::Ended(errno) => {
                    self.ended(transport, connection, errno);
                    return moved + 1;
                }
            }
        }
        moved
    }

    /// Calls the handlers of whole frames; returns how many.
    pub fn deliver(&mut self, transport: &Transport, id: u32) -> usize {
        let Some(rx) = self.rx.get(id) else { return 0 };
        let mut taken = 0;
        let why = loop {
            match rx.next() {
                RxEvent::Frame(frame) => rx.deliver(&frame),
                RxEvent::Placed => {}
                RxEvent::Incomplete if rx.has_acknowledgements() => {
                    self.acknowledge(transport, id);
                    return taken;
                }
                RxEvent::Incomplete => return taken,
                RxEvent::Malformed => break MALFORMED,
                RxEvent::Forged if self.is_forgery_borne(transport, id) => return taken + 1,
                RxEvent::Forged => break FORGED,
            }
            taken += 1;
        };
        if let Some(connection) = transport.connection(id)
            && connection.pair.is_some()
            && self.rx.get(id).is_some_and(|rx| rx.is_leave())
        {
            transport.close(connection);
            self.remove(id);
            return taken + 1;
        }
        self.end_malformed(transport, id, why);
        taken + 1
    }

    /// Tells the peer what has come, and notes what it has.
    #[cold]
    fn acknowledge(&mut self, transport: &Transport, id: u32) {
        let (Some(rx), Some(connection)) = (self.rx.get(id), transport.connection(id)) else { return };
        let (has, received) = (rx.take_acknowledged(), rx.acknowledgement());
        let mut tx = connection.tx.lock();
        let noted = has.map_or(Ok(()), |has| tx.acknowledge(has));
        if let Some(received) = received.filter(|_| tx.retains()) {
            tx.send_acknowledgement(received);
            transport.after_write(connection, &mut tx);
        }
        drop(tx);
        if noted.is_err() {
            self.end_malformed(transport, id, MALFORMED);
        }
    }

    /// What came on a socket is not what the peer sent. Where the peer still has it, it sends it again by another socket; `false`
    /// if it does not, or if that was so too often.
    #[cold]
    fn is_forgery_borne(&mut self, transport: &Transport, id: u32) -> bool {
        let (Some(rx), Some(connection)) = (self.rx.get(id), transport.connection(id)) else { return false };
        let tx = connection.tx.lock();
        if !tx.retains() || rx.count_forgery() > FORGERIES_MAX {
            return false;
        }
        let ends = transport.ends_of(connection, &tx);
        drop(tx);
        message!("btl/tcp: {FORGED}; it is sent again: {ends}");
        self.break_off(transport, connection, Errno::BADMSG);
        true
    }

    #[cold]
    fn end_malformed(&mut self, transport: &Transport, id: u32, why: &str) {
        let Some(connection) = transport.connection(id) else { return };
        message!("btl/tcp: {why}; the connection is closed: {}", transport.ends(connection));
        self.fail_peer(transport, connection.peer);
    }
}

const MALFORMED: &str = "what arrived does not follow the format";
const FORGED: &str = "what arrived is not what the peer sent: it was changed, repeated or left out on the way";
/// Somebody on the way changes more than chance does.
const FORGERIES_MAX: u32 = 8;
/// How long a process sleeps at most while a connection is made again.
const BROKEN_US: u64 = 1000;
const EVENTS: usize = 32;
const READS_PER_TURN: usize = 8;
