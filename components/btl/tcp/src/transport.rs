//! The transport of this process: its interfaces, its connections, and the epoll descriptor that watches all sockets.

use crate::connection::Connection;
use crate::pair::{Own, Pair};
use crate::params::Limits;
use crate::path::Path;
use crate::record::Protect;
use crate::socket;
use crate::state::State;
use crate::table::Table;
use crate::tx::Tx;
use crate::wire::{self, AddressRecord};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use opal_core::framework::btl::{self, BrokenPath, Endpoint, Job};
use opal_core::framework::reachable::same_network;
use opal_core::sparse::OnceTable;
use opal_core::sync::{AtomicBool, AtomicU64, AtomicUsize, ConditionalLock, Once, Ordering};
use opal_core::{message, sys};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::OwnedFd;
use rustix::net::{Shutdown, shutdown};

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
    connections: OnceTable<Box<Connection>>,
    /// To processes of other jobs; their endpoints come behind those.
    beyond_job: Table<Box<Connection>>,
    /// This process, once it has shown itself to other jobs.
    pub own: Once<Own>,
    // How many places `connections` has.
    places: usize,
    /// Connections that may hold coalesced messages.
    pub corked: ConditionalLock<Vec<u32>>,
    /// Connections that this process makes, for their deadlines and retries.
    pub attempts: ConditionalLock<Vec<u32>>,
    /// How many there are in `attempts`.
    pub attempt_count: AtomicUsize,
    /// When attempts were looked at last.
    pub last_seen_ns: AtomicU64,
    /// A connection broke and is made again.
    pub is_broken: AtomicBool,
    /// Some connection has failed and nobody was told yet.
    pub has_failed: AtomicBool,
    /// Some connection is or was in force.
    pub used: AtomicBool,
    /// Connections that there are or may be: those that were added, and one for all processes of other nodes, which may call.
    pub possible: AtomicUsize,
    /// How often a connection went on after it broke.
    pub resumed: AtomicU64,
    /// Bytes that were sent again then.
    pub sent_again: AtomicU64,
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
        let (places, is_alone) = (job.size as usize * interfaces.len(), job.one_node || job.size < 2);
        Ok(Transport {
            job,
            limits,
            interfaces,
            unprotected: Vec::new(),
            epoll,
            beyond_job: Table::new(),
            own: Once::new(),
            connections: OnceTable::new(places),
            places,
            corked: ConditionalLock::new(Vec::new()),
            attempts: ConditionalLock::new(Vec::new()),
            attempt_count: AtomicUsize::new(0),
            last_seen_ns: AtomicU64::new(0),
            is_broken: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            used: AtomicBool::new(false),
            possible: AtomicUsize::new(usize::from(!is_alone)),
            resumed: AtomicU64::new(0),
            sent_again: AtomicU64::new(0),
        })
    }

    /// The connection of an endpoint.
    #[inline(always)]
    pub fn connection(&self, id: u32) -> Option<&Connection> {
        let connection = match (id as usize).checked_sub(self.places) {
            None => self.connections.get(id as usize),
            Some(beyond) => self.beyond_job.get(beyond),
        };
        connection.map(|connection| &**connection)
    }

    /// All that exist.
    pub fn all(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().chain(self.beyond_job.iter()).map(|connection| &**connection)
    }

    /// All to one peer.
    pub fn to_peer(&self, peer: u32) -> impl Iterator<Item = &Connection> {
        let first = peer as usize * self.interfaces.len();
        let is_beyond_job = peer >= self.job.size;
        let places = if is_beyond_job { 0..0 } else { first..first + self.interfaces.len() };
        let own = places.filter_map(|place| self.connections.get(place)).map(|connection| &**connection);
        own.chain(self.beyond_job().filter(move |connection| is_beyond_job && connection.peer == peer))
    }

    /// All to processes of other jobs, the last ones first.
    pub fn beyond_job(&self) -> impl Iterator<Item = &Connection> {
        self.beyond_job.iter().rev().map(|connection| &**connection)
    }

    /// Those of one pair. It may have met before: what is over does not count.
    pub fn of_pair(&self, number: u64) -> impl Iterator<Item = &Connection> {
        let is_of_pair = move |one: &&Connection| one.pair.as_ref().is_some_and(|pair| pair.number == number);
        self.beyond_job().filter(is_of_pair).filter(|one| one.tx.lock().state != State::Closed)
    }

    /// [`Transport::add_guessing`] between its ends alone.
    #[cfg(test)]
    pub fn add(&self, peer: u32, interface: usize, local: AddressRecord, remote: AddressRecord) -> Option<Endpoint> {
        self.add_guessing(peer, interface, (local, remote), Path { local, remote }, Vec::new())
    }

    /// Adds a connection that is made between the addresses `guess` first, and then between `spare`; `None` if its endpoint is taken or
    /// does not exist.
    pub fn add_guessing(
        &self,
        peer: u32,
        interface: usize,
        (local, remote): (AddressRecord, AddressRecord),
        guess: Path,
        spare: Vec<Path>,
    ) -> Option<Endpoint> {
        let id = peer.checked_mul(self.interfaces.len() as u32)?.checked_add(interface as u32)?;
        let place = self.connections.place(id as usize).filter(|place| place.get().is_none())?;
        let protect = self.protection(&local, &remote);
        // Within a machine no path breaks before its ends.
        let resumes = self.limits.failover && local.network != remote.network;
        let connection = || Connection::new(id, (peer, None), local, remote, protect);
        place.call_once(|| Box::new(connection().resuming(resumes).guessing(guess, spare)));
        self.possible.fetch_add(1, Ordering::Relaxed);
        Some(Endpoint(id))
    }

    /// Adds a connection to a process of another job; `None` if there are too many. It ends where it breaks: that process and its
    /// job come and go.
    pub fn add_beyond_job(
        &self,
        peer: u32,
        (local, remote): (AddressRecord, AddressRecord),
        guess: Path,
        spare: Vec<Path>,
        pair: Pair,
    ) -> Option<Endpoint> {
        let protect = self.protection(&local, &remote);
        let first = self.places;
        let index = self.beyond_job.push(|index| {
            let connection = Connection::new((first + index) as u32, (peer, Some(pair)), local, remote, protect);
            Box::new(connection.guessing(guess, spare))
        })?;
        self.possible.fetch_add(1, Ordering::Relaxed);
        Some(Endpoint((first + index) as u32))
    }

    /// How a connection between these addresses is protected.
    pub fn protection(&self, local: &AddressRecord, remote: &AddressRecord) -> Protect {
        // Bytes between processes that share all interfaces leave no machine.
        let is_near = local.network == remote.network;
        match self.limits.protect {
            Some(protect) => protect,
            None if is_near || self.is_unprotected(local.address, remote.address) => Protect::None,
            None => Protect::Auth,
        }
    }

    fn is_unprotected(&self, one: IpAddr, other: IpAddr) -> bool {
        let holds = |(network, prefix): &(IpAddr, u8), address| same_network(*network, address, *prefix);
        self.unprotected.iter().any(|network| holds(network, one) && holds(network, other))
    }

    /// Tells a process of another job that this one does not die, but leaves it: nothing is on its way between both.
    pub fn take_leave(&self, connection: &Connection) {
        let mut tx = connection.tx.lock();
        if connection.pair.is_some() && tx.state == State::Connected {
            // A peer that cannot hear it any more is gone itself.
            let _ = tx.send(&self.limits, &wire::leave(), &[], false);
            tx.uncork();
        }
    }

    /// This process leaves MPI, and may live on: processes of other jobs that it has not taken leave of learn that it is gone. What they
    /// have not read yet stays for them, so the sockets stay open.
    pub fn finish(&self) {
        for connection in self.beyond_job() {
            let tx = connection.tx.lock();
            let Some(socket) = tx.socket.clone().filter(|_| tx.state == State::Connected) else { continue };
            drop(tx);
            // Of a peer that is gone itself nothing is wanted.
            let _ = shutdown(&*socket, Shutdown::Write);
            let _ = epoll::delete(&self.epoll, &*socket);
            self.close(connection);
        }
    }

    /// A connection is over.
    pub fn close(&self, connection: &Connection) {
        let mut tx = connection.tx.lock();
        if !matches!(tx.state, State::Closed | State::FailedOver) {
            self.possible.fetch_sub(1, Ordering::Relaxed);
        }
        connection.is_over.store(true, Ordering::Relaxed);
        tx.close();
    }

    /// The peer makes a connection that this process gave up.
    pub fn revive(&self, connection: &Connection, tx: &Tx) {
        if tx.state == State::FailedOver {
            connection.is_over.store(false, Ordering::Relaxed);
            self.possible.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether everything that was sent has left. Peers that ask themselves the same are told at once what came of them.
    pub fn is_drained(&self) -> bool {
        self.all().for_each(|connection| connection.tx.lock().acknowledge_at_once());
        self.all().filter(|connection| !self.is_done(connection)).count() == 0
    }

    /// Whether everything that was sent on a connection has left, or never will. A broken one is given up where the peer's process
    /// leaves it unanswered for as long as a host may be silent: this process would never end.
    fn is_done(&self, connection: &Connection) -> bool {
        let mut tx = connection.tx.lock();
        let is_drained = tx.is_drained();
        // What a process of another job still has to receive, it may take its time for.
        if is_drained || tx.state == State::Connected || connection.pair.is_some() {
            tx.leaving_ns = None;
            return is_drained;
        }
        let (now, silence_ns) = (sys::monotonic_ns(), self.limits.silence_ns());
        if now < *tx.leaving_ns.get_or_insert(now + silence_ns) {
            return false;
        }
        message!(
            "btl/tcp: this process leaves MPI, and what it sent last is given up: the connection broke, and nobody has answered for \
             {} s (btl_tcp_silence_timeout_s) {}",
            silence_ns / 1_000_000_000,
            self.ends_of(connection, &tx)
        );
        drop(tx);
        self.close(connection);
        true
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

    /// How long an attempt of a connection has for each step: until its system connects, or in which it is the peer's turn.
    pub fn patience_ns(&self, tx: &Tx) -> u64 {
        let Limits { connect_timeout_ns, path_timeout_ns, .. } = self.limits;
        // There may be another path.
        if tx.resume.is_some() && path_timeout_ns > 0 {
            path_timeout_ns.min(connect_timeout_ns)
        } else {
            connect_timeout_ns
        }
    }

    /// The addresses that a connection takes now.
    pub fn path(&self, connection: &Connection, tx: &Tx) -> Path {
        let current = tx.candidates.as_ref().and_then(|candidates| candidates.current);
        current.unwrap_or_else(|| tx.via.and_then(|id| self.connection(id)).unwrap_or(connection).path())
    }

    /// A connection goes on after it broke, and so many bytes were sent again.
    pub fn count_resumed(&self, again: usize) {
        self.resumed.fetch_add(1, Ordering::Relaxed);
        self.sent_again.fetch_add(again as u64, Ordering::Relaxed);
    }

    /// The connections that broke and are made again.
    pub fn broken_paths(&self) -> Vec<BrokenPath> {
        if !self.is_broken.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let broken = |connection: &Connection| {
            let tx = connection.tx.lock();
            let resume = tx.resume.filter(|_| tx.state.is_being_made())?;
            let Path { local, remote } = self.path(connection, &tx);
            let attempts = if resume.tried == 1 { "attempt" } else { "attempts" };
            let tried = format!("{} to {}, {} {attempts}", local.address, remote.address, resume.tried);
            Some(BrokenPath { peer: connection.peer, since_ns: resume.since_ns, tried })
        };
        self.all().filter_map(broken).collect()
    }

    /// For people: both ends of a connection, where they are now.
    pub fn ends_of(&self, connection: &Connection, tx: &Tx) -> String {
        self.ends_by(self.path(connection, tx), connection.peer)
    }

    /// For people: both ends of a connection's own path.
    pub fn ends(&self, connection: &Connection) -> String {
        self.ends_by(connection.path(), connection.peer)
    }

    fn ends_by(&self, Path { local, remote }: Path, peer: u32) -> String {
        let name = self.interfaces.get(local.interface as usize).map_or("?", |interface| interface.name.as_str());
        let to = SocketAddr::new(remote.address, remote.port);
        format!("from {} (interface {name}) to {to}, {}", local.address, btl::peer_named(peer))
    }
}
