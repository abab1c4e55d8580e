//! Receiving, and everything else that happens when this process looks at its sockets.

use crate::accept::{self, Door};
use crate::attempt;
use crate::frames::Frame;
use crate::inbound::{Inbound, Next, Read};
use crate::net::{Connection, Net, Token};
use crate::outbound::{Outbound, Stage};
use crate::socket;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use opal_core::framework::btl;
use opal_core::sync::Ordering;
use opal_core::{message, sys, verbose, wait};
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// The receiving side's state; held by who polls.
pub struct Receiving {
    inbound: Vec<Option<Inbound>>,
    /// Connections whose buffer may hold whole frames although their socket is empty.
    leftover: Vec<u32>,
    pub door: Door,
    // Looks at the sockets cost a system call each: how many passes to leave out, and looks in vain since the last one
    // that found something.
    skip: u32,
    in_vain: u32,
    said_detour: bool,
}

impl Receiving {
    /// For so many connections.
    pub fn new(places: usize) -> Receiving {
        Receiving {
            inbound: (0..places).map(|_| None).collect(),
            leftover: Vec::new(),
            door: Door::new(),
            skip: 0,
            in_vain: 0,
            said_detour: false,
        }
    }

    /// Looks at everything; returns how many things moved.
    pub fn poll(&mut self, net: &Net) -> usize {
        let mut moved = self.take_leftovers(net);
        if self.skip > 0 && moved == 0 && !net.broken.load(Ordering::Relaxed) {
            self.skip -= 1;
            return 0;
        }
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut places = [const { MaybeUninit::uninit() }; EVENTS];
        // Interrupted: nothing happened.
        let events = epoll::wait(&net.epoll, &mut places, Some(&now)).map_or(&mut [][..], |(events, _)| events);
        for event in events {
            moved += match Token::decode(event.data.u64()) {
                Token::Listener(port, index) => self.door.admit(net, port, index),
                Token::Pending(slot) => accept::heard(net, self, slot),
                Token::Connection(id) => self.moved(net, id, event.flags),
                Token::Waker => 0,
            };
        }
        moved += accept::reconsider(net, self);
        self.look_at_clock(net);
        if net.broken.swap(false, Ordering::Relaxed) {
            self.tell_broken(net);
            moved += 1;
        }
        self.pace(net, moved);
        moved
    }

    /// The next passes look.
    pub fn urge(&mut self) {
        (self.skip, self.in_vain) = (0, 0);
    }

    /// A connection is in force that this process made.
    pub fn open(&mut self, net: &Net, connection: &Connection, outbound: &mut Outbound, socket: Arc<OwnedFd>) {
        outbound.stage = Stage::Open;
        (outbound.stuck, outbound.watched) = (false, false);
        self.inbound[connection.id as usize] = Some(Inbound::new(socket, connection.peer));
        net.used.store(true, Ordering::Relaxed);
        verbose!(btl::FRAMEWORK, 30, "tcp: connected {}", net.ends(connection));
        outbound.write();
        net.after_write(connection, outbound);
    }

    /// A connection is in force that the peer made; an attempt of this process is given up.
    pub fn adopt(&mut self, net: &Net, connection: &Connection, outbound: &mut Outbound, socket: Arc<OwnedFd>) {
        outbound.socket = Some(socket.clone());
        self.open(net, connection, outbound, socket);
    }

    /// The next frame of one connection, looking at its socket if there is none yet.
    pub fn peek(&mut self, id: u32) -> Option<(&[u8], Frame)> {
        let inbound = self.inbound.get_mut(id as usize)?.as_mut()?;
        if inbound.ended {
            return None;
        }
        let mut next = inbound.next();
        if let Next::Nothing = next
            && !inbound.is_landing()
        {
            match inbound.read() {
                Read::Ended(_) => {
                    // The next look at all sockets finds it again and tells.
                    inbound.ended = true;
                    self.urge();
                    return None;
                }
                Read::More | Read::Empty => next = inbound.next(),
            }
        }
        if !matches!(next, Next::Nothing) && !self.leftover.contains(&id) {
            self.leftover.push(id);
        }
        let Next::Frame(frame) = next else {
            // A long message is for the next look at all sockets; that finds what is malformed, too.
            self.skip = 0;
            return None;
        };
        let inbound = self.inbound.get(id as usize)?.as_ref()?;
        Some((inbound.payload(&frame), frame))
    }

    /// Takes what `peek` returned.
    pub fn consume(&mut self, id: u32) {
        let Some(Some(inbound)) = self.inbound.get_mut(id as usize) else { return };
        if let Next::Frame(frame) = inbound.next() {
            inbound.advance(&frame);
        }
    }

    /// Forgets a peer's connection without a word.
    pub fn dismiss(&mut self, id: u32) {
        if let Some(place) = self.inbound.get_mut(id as usize) {
            *place = None;
        }
    }

    fn take_leftovers(&mut self, net: &Net) -> usize {
        let mut moved = 0;
        while let Some(id) = self.leftover.pop() {
            moved += self.deliver(net, id);
        }
        moved
    }

    fn moved(&mut self, net: &Net, id: u32, flags: EventFlags) -> usize {
        let Some(connection) = net.connection(id) else { return 0 };
        let mut outbound = connection.outbound.lock();
        match outbound.stage {
            Stage::Open => {
                if flags.contains(EventFlags::OUT) {
                    outbound.write();
                    if !outbound.stuck && core::mem::take(&mut outbound.watched) {
                        net.rewatch(connection, &mut outbound, EventFlags::IN);
                    }
                    net.after_write(connection, &mut outbound);
                }
                drop(outbound);
                let writable = usize::from(flags.contains(EventFlags::OUT));
                if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                    return writable + self.read(net, connection);
                }
                writable
            }
            Stage::Connecting { .. } | Stage::Greeted(_) | Stage::Proved => {
                drop(outbound);
                if let Err(reason) = attempt::moved(net, self, connection) {
                    self.cannot(net, connection, reason);
                }
                1
            }
            _ => 0,
        }
    }

    fn read(&mut self, net: &Net, connection: &Connection) -> usize {
        let mut moved = 0;
        for _ in 0..READS_PER_TURN {
            let Some(Some(inbound)) = self.inbound.get_mut(connection.id as usize) else { return moved };
            let read = inbound.read();
            let taken = self.deliver(net, connection.id);
            if taken > 0 {
                connection.heard.store(true, Ordering::Relaxed);
            }
            moved += taken;
            match read {
                Read::More => {}
                Read::Empty => return moved,
                Read::Ended(errno) => {
                    self.ended(net, connection, errno);
                    return moved + 1;
                }
            }
        }
        moved
    }

    /// Hands whole frames to their receivers.
    fn deliver(&mut self, net: &Net, id: u32) -> usize {
        let Some(Some(inbound)) = self.inbound.get_mut(id as usize) else { return 0 };
        let mut taken = 0;
        loop {
            match inbound.next() {
                Next::Frame(frame) => inbound.deliver(&frame),
                Next::Landed => {}
                Next::Nothing => return taken,
                Next::Malformed => break,
            }
            taken += 1;
        }
        if let Some(connection) = net.connection(id) {
            message!(
                "btl/tcp: what arrived does not follow the format; the connection is closed: {}",
                net.ends(connection)
            );
            self.fail(net, connection.peer);
        }
        taken + 1
    }

    fn ended(&mut self, net: &Net, connection: &Connection, errno: Option<Errno>) {
        match errno {
            // A process that ended, which the launcher says better.
            None | Some(Errno::CONNRESET | Errno::PIPE) => {
                verbose!(btl::FRAMEWORK, 10, "tcp: the peer closed the connection {}", net.ends(connection));
            }
            Some(errno) => message!("btl/tcp: the connection {} is lost: {}", net.ends(connection), socket::why(errno)),
        }
        self.fail(net, connection.peer);
    }

    /// A connection cannot be made: another one to the same peer does its work, or the peer is out of reach.
    #[cold]
    fn cannot(&mut self, net: &Net, connection: &Connection, reason: String) {
        let said = attempt::cannot(net, connection, &reason);
        match net.detour(connection) {
            Some(other) if core::mem::replace(&mut self.said_detour, true) => {
                verbose!(btl::FRAMEWORK, 10, "tcp: {said}; messages go {} instead", net.ends(other));
            }
            Some(other) => message!(
                "btl/tcp: {said}. Messages go {} instead; more of the kind are told with `--mca btl_base_verbose 10`",
                net.ends(other)
            ),
            None => {
                message!("btl/tcp: {said}");
                self.fail(net, connection.peer);
            }
        }
    }

    /// Closes all connections to a peer and tells.
    fn fail(&mut self, net: &Net, peer: u32) {
        for connection in net.to_peer(peer) {
            net.close(connection);
            self.dismiss(connection.id);
        }
        btl::failed(peer);
    }

    #[cold]
    fn tell_broken(&mut self, net: &Net) {
        let mut broken: Vec<(u32, Errno)> = Vec::new();
        for connection in net.all() {
            if let Stage::Broken(errno) = connection.outbound.lock().stage {
                broken.push((connection.id, errno));
            }
        }
        for (id, errno) in broken {
            let Some(connection) = net.connection(id) else { continue };
            if self.inbound[id as usize].is_none() {
                self.cannot(net, connection, socket::why(errno));
                continue;
            }
            // What the peer sent before it went is still there.
            self.read_rest(net, connection);
            if connection.outbound.lock().stage == Stage::Broken(errno) {
                self.ended(net, connection, Some(errno));
            }
        }
    }

    fn read_rest(&mut self, net: &Net, connection: &Connection) {
        while let Some(Some(inbound)) = self.inbound.get_mut(connection.id as usize) {
            let read = inbound.read();
            self.deliver(net, connection.id);
            if !matches!(read, Read::More) {
                return;
            }
        }
    }

    fn look_at_clock(&mut self, net: &Net) {
        if net.starts.load(Ordering::Relaxed) == 0 {
            return;
        }
        let now = sys::monotonic_ns();
        let (mut late, mut over): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        // A copy: who begins an attempt locks the connection first and the list second.
        let ids = net.started.lock().clone();
        for id in ids {
            match net.connection(id).map(|connection| connection.outbound.lock().stage) {
                Some(Stage::Connecting { deadline_ns }) if deadline_ns < now => late.push(id),
                Some(Stage::Connecting { .. }) => {}
                _ => over.push(id),
            }
        }
        let mut started = net.started.lock();
        started.retain(|id| !late.contains(id) && !over.contains(id));
        net.starts.store(started.len(), Ordering::Relaxed);
        drop(started);
        for connection in late.into_iter().filter_map(|id| net.connection(id)) {
            self.cannot(net, connection, attempt::too_late(net));
        }
    }

    /// How many passes to leave out before the next look.
    fn pace(&mut self, net: &Net, moved: usize) {
        if moved > 0 {
            return self.urge();
        }
        self.in_vain = self.in_vain.saturating_add(1);
        if net.possible.load(Ordering::Relaxed) == 0 {
            // Only strangers can call, and have time.
            self.skip = SKIP_UNUSED;
            return;
        }
        self.skip = match (net.used.load(Ordering::Relaxed), wait::may_spin()) {
            (true, _) if self.in_vain < LOOKS_IN_VAIN => 0,
            (true, true) => 7,
            (true, false) => 1,
            (false, true) => 63,
            (false, false) => 7,
        };
    }
}

/// Sleeps until something happens to any socket, at most this long; returns whether it did.
pub fn sleep(net: &Net, at_most_us: u64) -> bool {
    let timeout = Timespec { tv_sec: (at_most_us / 1_000_000) as i64, tv_nsec: (at_most_us % 1_000_000 * 1000) as _ };
    let mut place = [const { MaybeUninit::<Event>::uninit() }; 1];
    // What happened stays to be seen by the next look.
    let happened = epoll::wait(&net.epoll, &mut place, Some(&timeout)).is_ok_and(|(events, _)| !events.is_empty());
    net.receiving.lock().urge();
    happened
}

const EVENTS: usize = 32;
const READS_PER_TURN: usize = 8;
const LOOKS_IN_VAIN: u32 = 4096;
const SKIP_UNUSED: u32 = 4095;
