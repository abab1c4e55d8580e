//! Polling: what this process does with the sockets that epoll names. What ends a connection is in `failure`.

use crate::accept::PendingAccepts;
use crate::backoff::{HostClock, PollBackoff};
use crate::connect;
use crate::connection::Connection;
use crate::frames::Frame;
use crate::rx::{Read, RxEvent};
use crate::rx_table::RxTable;
use crate::state::State;
use crate::transport::{Token, Transport};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use opal_core::message;
use opal_core::sync::{ConditionalLock, Ordering};
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::io::Errno;

/// The whole transport.
pub struct Tcp {
    pub transport: Transport,
    pub poller: ConditionalLock<Poller>,
}

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
            rx: RxTable::new(transport.endpoints()),
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
        self.poller.lock().poll(&self.transport)
    }

    /// Sleeps until something happens to any socket, at most this long; returns whether it did.
    pub fn sleep(&self, at_most_us: u64) -> bool {
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
                    self.pending.accept(transport, interface, index);
                    0
                }
                Token::Pending(slot) => self.pending.advance(transport, &mut self.rx, slot),
                Token::Connection(id) => self.advance(transport, id, event.flags),
                Token::Waker => 0,
            };
        }
        moved += self.pending.retry_awaiting_peer(transport, &mut self.rx);
        self.pending.check_clock();
        if self.hosts.is_time(transport.limits.silence_timeout_ns) {
            moved += self.check_hosts(transport);
        }
        for connection in connect::check_clock(transport).into_iter().filter_map(|id| transport.connection(id)) {
            self.cannot_connect(transport, connection, connect::too_late(transport));
        }
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
    pub fn peek(&mut self, id: u32) -> Option<(&[u8], Frame)> {
        let rx = self.rx.get(id)?;
        if rx.ended {
            return None;
        }
        let mut next = rx.next();
        if let RxEvent::Incomplete = next
            && !rx.is_placing()
        {
            match rx.read() {
                Read::Ended(_) => {
                    // The next poll of all sockets finds it again and reports it.
                    rx.ended = true;
                    self.poll_now();
                    return None;
                }
                Read::More | Read::Empty => next = rx.next(),
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
    pub fn consume(&mut self, id: u32) {
        let Some(rx) = self.rx.get(id) else { return };
        if let RxEvent::Frame(frame) = rx.next() {
            rx.advance(&frame);
        }
    }

    /// Receives nothing on a connection any more, and reports nothing.
    pub fn remove(&mut self, id: u32) {
        self.rx.remove(id);
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
                RxEvent::Incomplete => return taken,
                RxEvent::Malformed(why) => break why,
            }
            taken += 1;
        };
        if let Some(connection) = transport.connection(id) {
            message!("btl/tcp: {why}; the connection is closed: {}", transport.ends(connection));
            self.fail_peer(transport, connection.peer);
        }
        taken + 1
    }
}

const EVENTS: usize = 32;
const READS_PER_TURN: usize = 8;
