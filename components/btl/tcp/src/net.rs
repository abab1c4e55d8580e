//! All of it: own interfaces, connections, the descriptor that everything is watched with.

use crate::handshake::Nonce;
use crate::outbound::{Next, Outbound, Stage};
use crate::params::Limits;
use crate::poll::Receiving;
use crate::wire::{Entry, HEADER_BYTES, Header, LONG_AT, PAD_MAX};
use crate::{attempt, socket};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;
use opal_core::framework::btl::{AmId, Endpoint, Full, Job};
use opal_core::progress;
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock, Once, Ordering};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::OwnedFd;

/// One interface with the addresses that it listens on.
pub struct Port {
    pub name: String,
    pub mbps: u32,
    pub listeners: Vec<(Entry, OwnedFd)>,
}

/// One connection: to a peer, from one of the own interfaces.
pub struct Connection {
    pub id: u32,
    pub peer: u32,
    /// The own end.
    pub local: Entry,
    /// The peer's end.
    pub remote: Entry,
    pub outbound: ConditionalLock<Outbound>,
    /// Something came since the last long message to the peer: who waits for an answer probably waits for the next one.
    pub heard: AtomicBool,
}

/// The network as this process sees it.
pub struct Net {
    pub job: Job,
    pub limits: Limits,
    pub ports: Vec<Port>,
    pub epoll: OwnedFd,
    /// By endpoint: peer index times number of ports, plus port.
    connections: Box<[Once<Box<Connection>>]>,
    pub receiving: ConditionalLock<Receiving>,
    /// Connections that may have gathered something.
    warm: ConditionalLock<Vec<u32>>,
    /// Connections that this process began to make, for their deadlines.
    pub started: ConditionalLock<Vec<u32>>,
    pub starts: AtomicUsize,
    /// Some connection is broken and nobody was told yet.
    pub broken: AtomicBool,
    /// Some connection is or was in force.
    pub used: AtomicBool,
    /// Connections that there are or may be.
    pub possible: AtomicUsize,
}

/// What an event of epoll is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A port's listener.
    Listener(u8, u8),
    /// A connection that somebody made to this process and that is not proved yet.
    Pending(u32),
    /// A connection.
    Connection(u32),
    /// Nothing but a reason to wake up.
    Waker,
}

impl Token {
    /// For epoll.
    pub fn encode(self) -> u64 {
        match self {
            Token::Listener(port, index) => 1 << 32 | u64::from(port) << 8 | u64::from(index),
            Token::Pending(slot) => 2 << 32 | u64::from(slot),
            Token::Connection(id) => 3 << 32 | u64::from(id),
            Token::Waker => 4 << 32,
        }
    }

    /// From epoll.
    pub fn decode(token: u64) -> Token {
        match token >> 32 {
            1 => Token::Listener((token >> 8) as u8, token as u8),
            2 => Token::Pending(token as u32),
            3 => Token::Connection(token as u32),
            _ => Token::Waker,
        }
    }
}

impl Net {
    /// Over ports that listen already.
    pub fn new(job: Job, limits: Limits, ports: Vec<Port>) -> rustix::io::Result<Net> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (number, port) in ports.iter().enumerate() {
            for (index, (_, listener)) in port.listeners.iter().enumerate() {
                let token = Token::Listener(number as u8, index as u8).encode();
                socket::watch(&epoll, listener, token, EventFlags::IN)?;
            }
        }
        let places = job.size as usize * ports.len();
        Ok(Net {
            job,
            limits,
            epoll,
            connections: (0..places).map(|_| Once::new()).collect(),
            receiving: ConditionalLock::new(Receiving::new(places)),
            ports,
            warm: ConditionalLock::new(Vec::new()),
            started: ConditionalLock::new(Vec::new()),
            starts: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            used: AtomicBool::new(false),
            possible: AtomicUsize::new(0),
        })
    }

    /// The connection of an endpoint.
    #[inline(always)]
    pub fn connection(&self, id: u32) -> Option<&Connection> {
        self.connections.get(id as usize)?.get().map(|connection| &**connection)
    }

    /// All that exist.
    pub fn all(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().filter_map(|place| place.get()).map(|connection| &**connection)
    }

    /// Those to one peer.
    pub fn to_peer(&self, peer: u32) -> impl Iterator<Item = &Connection> {
        let first = peer as usize * self.ports.len();
        let places = self.connections.get(first..first + self.ports.len()).unwrap_or(&[]);
        places.iter().filter_map(|place| place.get()).map(|connection| &**connection)
    }

    /// Makes a connection known; `None` if its place is taken or does not exist.
    pub fn add(&self, peer: u32, port: usize, local: Entry, remote: Entry) -> Option<Endpoint> {
        let id = peer.checked_mul(self.ports.len() as u32)?.checked_add(port as u32)?;
        let place = self.connections.get(id as usize).filter(|place| place.get().is_none())?;
        let outbound = ConditionalLock::new(Outbound::new());
        place.call_once(|| Box::new(Connection { id, peer, local, remote, outbound, heard: AtomicBool::new(false) }));
        self.possible.fetch_add(1, Ordering::Relaxed);
        Some(Endpoint(id))
    }

    /// Sends a payload that lies somewhere.
    #[inline]
    pub fn send(&self, to: Endpoint, am: AmId, immediate: u64, payload: &[u8]) -> Result<(), Full> {
        if payload.len() >= self.limits.gather_bytes {
            return self.send_behind(to, am, immediate, &[], payload);
        }
        let connection = self.connection(to.0).ok_or(Full)?;
        let header = Header { kind: am, pad: 0, bytes: payload.len(), immediate }.encode();
        self.with(connection, |outbound| outbound.send(&self.limits, &header, payload, false))
    }

    /// Sends a short prefix and a payload that lies somewhere.
    pub fn send_behind(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        payload: &[u8],
    ) -> Result<(), Full> {
        let connection = self.connection(to.0).ok_or(Full)?;
        let long = payload.len() >= self.limits.gather_bytes;
        let pad = if long { PAD_MAX - prefix.len() } else { 0 };
        let mut lead = [0; LONG_AT];
        let (before, end) = (HEADER_BYTES + pad, HEADER_BYTES + pad + prefix.len());
        let header = Header { kind: am, pad, bytes: prefix.len() + payload.len(), immediate };
        lead[..HEADER_BYTES].copy_from_slice(&header.encode());
        lead[before..end].copy_from_slice(prefix);
        let awaited = long && connection.heard.swap(false, Ordering::Relaxed);
        self.with(connection, |outbound| outbound.send(&self.limits, &lead[..end], payload, awaited))
    }

    /// Sends a payload of `bytes` bytes that `append` adds to the queue.
    pub fn send_filled(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Full> {
        let connection = self.connection(to.0).ok_or(Full)?;
        let header: [u8; HEADER_BYTES] = Header { kind: am, pad: 0, bytes, immediate }.encode();
        self.with(connection, |outbound| outbound.send_filled(&self.limits, &header, bytes, append))
    }

    #[inline]
    fn with(
        &self,
        connection: &Connection,
        send: impl FnOnce(&mut Outbound) -> Result<Next, Full>,
    ) -> Result<(), Full> {
        let mut outbound = connection.outbound.lock();
        if let Stage::Detour(id) = outbound.stage {
            drop(outbound);
            return self.with(self.connection(id).ok_or(Full)?, send);
        }
        let next = send(&mut outbound)?;
        if next == Next::Connect {
            attempt::begin(self, connection, &mut outbound);
        }
        self.after_write(connection, &mut outbound);
        drop(outbound);
        if next == Next::Warm {
            self.warm.lock().push(connection.id);
            progress::gathered();
        }
        Ok(())
    }

    /// Gives up a connection that was never made, for another one to the same peer. `None` if there is none.
    pub fn detour(&self, connection: &Connection) -> Option<&Connection> {
        let promising = |other: &&Connection| other.id != connection.id && other.outbound.lock().is_promising();
        let other = self.to_peer(connection.peer).find(promising)?;
        let mut given_up = connection.outbound.lock();
        // Locked second: nobody takes a detour to a connection that takes one.
        let mut outbound = other.outbound.lock();
        let waited = given_up.give_up(other.id);
        self.possible.fetch_sub(1, Ordering::Relaxed);
        if outbound.take_over(&waited) == Next::Connect {
            attempt::begin(self, other, &mut outbound);
        }
        self.after_write(other, &mut outbound);
        Some(other)
    }

    /// Writes what was gathered for anybody.
    pub fn flush(&self) {
        let mut warm = self.warm.lock();
        for id in warm.drain(..) {
            if let Some(connection) = self.connection(id) {
                self.flush_one(connection);
            }
        }
    }

    /// Writes what was gathered for one.
    pub fn flush_one(&self, connection: &Connection) {
        let mut outbound = connection.outbound.lock();
        outbound.cool();
        self.after_write(connection, &mut outbound);
    }

    /// After anything that may have written: sees to a socket that is full or broken.
    #[inline]
    pub fn after_write(&self, connection: &Connection, outbound: &mut Outbound) {
        if outbound.stuck && !outbound.watched {
            outbound.watched = true;
            self.rewatch(connection, outbound, EventFlags::IN | EventFlags::OUT);
        }
        if let Stage::Broken(_) = outbound.stage {
            // Told by the next poll: the caller of a send may hold what the callback needs.
            self.broken.store(true, Ordering::Relaxed);
        }
    }

    /// Changes what a connection's socket is watched for.
    pub fn rewatch(&self, connection: &Connection, outbound: &mut Outbound, events: EventFlags) {
        let Some(socket) = &outbound.socket else { return };
        let token = Token::Connection(connection.id).encode();
        if let Err(errno) = socket::rewatch(&self.epoll, socket, token, events) {
            outbound.stage = Stage::Broken(errno);
            self.broken.store(true, Ordering::Relaxed);
        }
    }

    /// A connection is over.
    pub fn close(&self, connection: &Connection) {
        let mut outbound = connection.outbound.lock();
        if !matches!(outbound.stage, Stage::Closed | Stage::Detour(_)) {
            self.possible.fetch_sub(1, Ordering::Relaxed);
        }
        outbound.close();
    }

    /// Whether everything has left.
    pub fn is_drained(&self) -> bool {
        self.all().all(|connection| connection.outbound.lock().is_drained())
    }

    /// For people: both ends of a connection.
    pub fn ends(&self, connection: &Connection) -> String {
        let Connection { local, remote, peer, .. } = connection;
        let name = self.ports.get(local.interface as usize).map_or("?", |port| port.name.as_str());
        let to = SocketAddr::new(remote.address, remote.port);
        format!("from {} (interface {name}) to {to}, process {peer}", local.address)
    }
}

/// Random bytes.
pub fn nonce() -> rustix::io::Result<Nonce> {
    let mut bytes = [0; 32];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if got == bytes.len() { Ok(bytes) } else { Err(rustix::io::Errno::IO) }
}
