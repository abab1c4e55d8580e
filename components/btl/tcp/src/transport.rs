//! The transport of this process: its interfaces, its connections, and the epoll descriptor that watches all sockets.

use crate::connection::Connection;
use crate::interfaces;
use crate::params::Limits;
use crate::record::Protect;
use crate::socket;
use crate::state::State;
use crate::tx::Tx;
use crate::wire::AddressRecord;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use opal_core::framework::btl::{Endpoint, Job};
use opal_core::sync::{AtomicBool, AtomicU64, AtomicUsize, ConditionalLock, Once, Ordering};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::OwnedFd;

/// One interface with the addresses on which it listens.
pub struct LocalInterface {
    pub name: String,
    pub mbps: u32,
    pub listeners: Vec<(AddressRecord, OwnedFd)>,
}

/// All of it, except what only polling changes (`poll::Poller`).
pub struct Transport {
    pub job: Job,
    pub limits: Limits,
    pub interfaces: Vec<LocalInterface>,
    /// By address and prefix length: connections within one of these are not protected by default.
    pub unprotected: Vec<(IpAddr, u8)>,
    pub epoll: OwnedFd,
    /// By endpoint: the peer's index times the number of interfaces, plus the interface.
    connections: Box<[Once<Box<Connection>>]>,
    /// Connections that may hold coalesced messages.
    pub corked: ConditionalLock<Vec<u32>>,
    /// Connections that this process makes, for their deadlines and retries.
    pub attempts: ConditionalLock<Vec<u32>>,
    /// How many there are in `attempts`.
    pub attempt_count: AtomicUsize,
    /// When attempts were looked at last.
    pub last_seen_ns: AtomicU64,
    /// Some connection has failed and nobody was told yet.
    pub has_failed: AtomicBool,
    /// Some connection is or was in force.
    pub used: AtomicBool,
    /// Connections that there are or may be.
    pub possible: AtomicUsize,
}

/// What an event of epoll is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// An interface's listener.
    Listener(u8, u8),
    /// An accepted connection that is still in the handshake.
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
            Token::Listener(interface, index) => 1 << 32 | u64::from(interface) << 8 | u64::from(index),
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

impl Transport {
    /// Over interfaces that listen already.
    pub fn new(job: Job, limits: Limits, interfaces: Vec<LocalInterface>) -> rustix::io::Result<Transport> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (number, interface) in interfaces.iter().enumerate() {
            for (index, (_, listener)) in interface.listeners.iter().enumerate() {
                let token = Token::Listener(number as u8, index as u8).encode();
                socket::watch(&epoll, listener, token, EventFlags::IN)?;
            }
        }
        let places = job.size as usize * interfaces.len();
        Ok(Transport {
            job,
            limits,
            interfaces,
            unprotected: Vec::new(),
            epoll,
            connections: (0..places).map(|_| Once::new()).collect(),
            corked: ConditionalLock::new(Vec::new()),
            attempts: ConditionalLock::new(Vec::new()),
            attempt_count: AtomicUsize::new(0),
            last_seen_ns: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            used: AtomicBool::new(false),
            possible: AtomicUsize::new(0),
        })
    }

    /// How many endpoints there may be.
    pub fn endpoints(&self) -> usize {
        self.connections.len()
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

    /// All to one peer.
    pub fn to_peer(&self, peer: u32) -> impl Iterator<Item = &Connection> {
        let first = peer as usize * self.interfaces.len();
        let places = self.connections.get(first..first + self.interfaces.len()).unwrap_or(&[]);
        places.iter().filter_map(|place| place.get()).map(|connection| &**connection)
    }

    /// Adds a connection; `None` if its endpoint is taken or does not exist.
    pub fn add(&self, peer: u32, interface: usize, local: AddressRecord, remote: AddressRecord) -> Option<Endpoint> {
        let id = peer.checked_mul(self.interfaces.len() as u32)?.checked_add(interface as u32)?;
        let place = self.connections.get(id as usize).filter(|place| place.get().is_none())?;
        // Bytes between processes that share all interfaces leave no machine.
        let is_near = local.network == remote.network;
        let protect = match self.limits.protect {
            Some(protect) => protect,
            None if is_near || self.is_unprotected(local.address, remote.address) => Protect::None,
            None => Protect::Auth,
        };
        place.call_once(|| Box::new(Connection::new(id, peer, local, remote, protect)));
        self.possible.fetch_add(1, Ordering::Relaxed);
        Some(Endpoint(id))
    }

    fn is_unprotected(&self, one: IpAddr, other: IpAddr) -> bool {
        let holds = |(network, prefix): &(IpAddr, u8), address| interfaces::same_network(*network, address, *prefix);
        self.unprotected.iter().any(|network| holds(network, one) && holds(network, other))
    }

    /// A connection is over.
    pub fn close(&self, connection: &Connection) {
        let mut tx = connection.tx.lock();
        if !matches!(tx.state, State::Closed | State::FailedOver(_)) {
            self.possible.fetch_sub(1, Ordering::Relaxed);
        }
        tx.close();
    }

    /// Whether everything that was sent has left.
    pub fn is_drained(&self) -> bool {
        self.all().all(|connection| connection.tx.lock().is_drained())
    }

    /// After anything that may have written: sees to a socket that is full or has failed.
    #[inline]
    pub fn after_write(&self, connection: &Connection, tx: &mut Tx) {
        if tx.blocked && !tx.watched {
            tx.watched = true;
            self.rewatch(connection, tx, EventFlags::IN | EventFlags::OUT);
        }
        if let State::Failed(_) = tx.state {
            // Reported by the next poll: the caller of a send may hold what the callback needs.
            self.has_failed.store(true, Ordering::Relaxed);
        }
    }

    /// Changes what a connection's socket is watched for.
    pub fn rewatch(&self, connection: &Connection, tx: &mut Tx, events: EventFlags) {
        let Some(socket) = &tx.socket else { return };
        let token = Token::Connection(connection.id).encode();
        if let Err(errno) = socket::rewatch(&self.epoll, socket, token, events) {
            tx.state = State::Failed(errno);
            self.has_failed.store(true, Ordering::Relaxed);
        }
    }

    /// For people: both ends of a connection.
    pub fn ends(&self, connection: &Connection) -> String {
        let Connection { local, remote, peer, .. } = connection;
        let name = self.interfaces.get(local.interface as usize).map_or("?", |interface| interface.name.as_str());
        let to = SocketAddr::new(remote.address, remote.port);
        format!("from {} (interface {name}) to {to}, process {peer}", local.address)
    }
}
