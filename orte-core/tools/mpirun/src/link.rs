//! A connection between neighbours in the tree of hosts after the handshake: frames in their envelopes in and out, never waiting.

use orte_core::oob::sealed::LONGEST;
use orte_core::oob::{OobFlaw, Receiver, Resumable, Sender};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketAddrAny, sockopt};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// One end of it, which goes on over another socket when one breaks.
pub struct Link {
    /// None while it is broken.
    wire: Option<Wire>,
    /// The sockets before, until something came over the present one: to the other end the end of a stream is that of this process.
    old: Vec<OwnedFd>,
    session: Resumable,
    /// Both addresses, for people.
    ends: String,
    /// The other one.
    pub peer: Option<SocketAddr>,
    /// When something came last.
    pub heard: Instant,
}

/// A socket with its keys.
pub struct Wire {
    socket: OwnedFd,
    sender: Sender,
    receiver: Receiver,
    waiting: Vec<u8>,
    written: usize,
    /// Why nothing can be sent: the system says it once, and whoever reads then sees an end.
    failed: Option<Errno>,
}

/// What was read.
#[derive(Default)]
pub struct News {
    /// The frames that are complete, in their envelopes.
    pub payloads: Vec<Vec<u8>>,
    /// Nothing more will come, with the reason as half a sentence.
    pub lost: Option<String>,
    /// Nothing more will come over this socket.
    pub broken: Option<Errno>,
}

impl Link {
    /// The first one.
    pub fn new(wire: Wire) -> Link {
        let (ends, peer) = ends_of(&wire.socket);
        Link { wire: Some(wire), old: Vec::new(), session: Resumable::default(), ends, peer, heard: Instant::now() }
    }

    /// The addresses of this end and of the other one, for people.
    pub fn ends(&self) -> &str {
        &self.ends
    }

    /// What to wait for; none while the connection is broken.
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.wire.as_ref().map(|wire| wire.socket.as_fd())
    }

    /// Something waits for room.
    pub fn is_behind(&self) -> bool {
        self.wire.as_ref().is_some_and(Wire::is_behind)
    }

    /// Bytes that wait for room, or for a connection.
    pub fn behind(&self) -> usize {
        self.wire.as_ref().map_or(self.session.kept_bytes(), |wire| wire.waiting.len() - wire.written)
    }

    /// The other end has everything.
    pub fn has_arrived(&self) -> bool {
        self.session.has_arrived()
    }

    /// Frames that came.
    pub fn taken(&self) -> u64 {
        self.session.taken()
    }

    /// Sends a frame in its envelope, now or when there is room. A connection that is lost is noticed by whoever reads it.
    pub fn send(&mut self, frame: &[u8]) {
        if frame.len() > LONGEST {
            return crate::refusal::say(&format!(
                "a message to another host is not sent: {}",
                OobFlaw::TooLong(frame.len() as u64)
            ));
        }
        let payload = self.session.give(frame);
        if let Some(wire) = &mut self.wire {
            wire.send(&payload);
        }
    }

    /// Tells the other end what came.
    pub fn acknowledge(&mut self) {
        if let Some(wire) = &mut self.wire {
            wire.send(&self.session.acknowledgement());
        }
    }

    /// Sends what there is room for.
    pub fn flush(&mut self) {
        if let Some(wire) = &mut self.wire {
            wire.flush();
        }
    }

    /// Nothing more comes over this socket; it stays open until there is another one.
    pub fn break_off(&mut self) {
        if let Some(wire) = self.wire.take() {
            self.old.push(wire.socket);
        }
    }

    /// Goes on over another one: what the other end was told that this one has taken, and what that has.
    pub fn resume(&mut self, wire: Wire, told: u64, theirs: u64) -> Result<(), OobFlaw> {
        let payloads = self.session.resume(told, theirs)?;
        self.break_off();
        (self.ends, self.peer) = ends_of(&wire.socket);
        let wire = self.wire.insert(wire);
        payloads.iter().for_each(|payload| wire.send(payload));
        Ok(())
    }

    /// What came.
    pub fn receive(&mut self) -> News {
        let mut news = News::default();
        let Some(wire) = &mut self.wire else { return news };
        if wire.read(&mut news) {
            self.heard = Instant::now();
            self.old.clear();
        }
        loop {
            match wire
                .receiver
                .next_payload()
                .and_then(|payload| payload.map(|its| self.session.take(&its)).transpose())
            {
                Ok(None) => break,
                Ok(Some(frame)) => news.payloads.extend(frame),
                Err(flaw) => {
                    news.lost = Some(changed(&flaw));
                    break;
                }
            }
        }
        if self.session.owes() {
            self.acknowledge();
        }
        news
    }
}

impl Wire {
    /// Takes over a socket that does not block.
    pub fn new(socket: OwnedFd, sender: Sender, receiver: Receiver) -> Wire {
        Wire { socket, sender, receiver, waiting: Vec::new(), written: 0, failed: None }
    }

    /// Its socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn is_behind(&self) -> bool {
        self.written < self.waiting.len()
    }

    fn send(&mut self, payload: &[u8]) {
        match self.sender.seal(payload) {
            Ok(bytes) => self.waiting.extend_from_slice(&bytes),
            Err(flaw) => crate::refusal::say(&format!("a message to another host is not sent: {flaw}")),
        }
        self.flush();
    }

    fn flush(&mut self) {
        while self.is_behind() {
            match rustix::net::send(
                &self.socket,
                &self.waiting[self.written..],
                SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            ) {
                Ok(sent) => self.written += sent,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(errno) => {
                    self.failed = Some(errno);
                    self.written = self.waiting.len();
                }
            }
        }
        if !self.is_behind() {
            self.waiting.clear();
            self.written = 0;
        } else if self.written > COMPACT {
            self.waiting.drain(..self.written);
            self.written = 0;
        }
    }

    /// Whether anything came.
    fn read(&mut self, news: &mut News) -> bool {
        let (mut chunk, mut has_come) = (vec![0; CHUNK], false);
        // So much at once, then others have their turn.
        for _ in 0..TURNS {
            match rustix::net::recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
                // Whoever calls again keeps the old socket: the process has ended.
                Ok((0, _)) => match self.failed {
                    Some(_) => news.broken = self.failed,
                    None => news.lost = Some("its end of the connection was closed".to_owned()),
                },
                Ok((read, _)) => {
                    has_come = true;
                    self.receiver.push(&chunk[..read]);
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {}
                Err(errno) => news.broken = Some(errno),
            }
            break;
        }
        has_come
    }
}

/// Why a connection is worth nothing after bytes that no daemon sends.
pub fn changed(flaw: &OobFlaw) -> String {
    format!("{flaw}; a third party on the way changes frames")
}

/// Why a host that says nothing is given up, as half a sentence. `ends` are those of the connection.
pub fn silent(silence: Duration, ends: &str) -> String {
    format!(
        "nothing was heard of it for {} s (--mca oob_tcp_silence_timeout_s): the host, or the network between {ends}, is down, or its \
         daemon is stopped",
        silence.as_secs()
    )
}

fn ends_of(socket: &OwnedFd) -> (String, Option<SocketAddr>) {
    let parsed = |address: Option<SocketAddrAny>| address.and_then(|address| SocketAddr::try_from(address).ok());
    let (own, other) = (rustix::net::getsockname(socket).ok(), rustix::net::getpeername(socket).ok().flatten());
    let (own, other) = (parsed(own), parsed(other));
    let text = |address: Option<SocketAddr>| {
        address.map_or_else(|| "an unknown address".to_owned(), |address| address.to_string())
    };
    (format!("{} and {}", text(own), text(other)), other)
}

/// So long a path may reject connections before the other end counts as lost, where nobody says that it has ended.
pub const REJECTED: Duration = Duration::from_secs(30);

/// After so long without an acknowledgement a path counts as broken, and a daemon calls over another one.
pub fn path(silence: Duration) -> Duration {
    PATH.min(silence / 2)
}

/// How often one says that one is alive.
pub fn beat(silence: Duration) -> Duration {
    (path(silence) / 4).max(Duration::from_millis(50))
}

/// Makes a connection fail where the other host no longer answers, or takes nothing.
pub fn notice_silence(socket: BorrowedFd<'_>, silence: Duration) -> Result<(), Errno> {
    notice_silent_host(socket, silence)?;
    sockopt::set_tcp_user_timeout(socket, u32::try_from(silence.as_millis()).unwrap_or(u32::MAX))
}

/// Makes a connection fail where the other host no longer answers while nothing is under way; for the rest of the time there is
/// [`sys::is_silent`]. A process that is merely stopped does no harm, however much it is to be sent.
pub fn notice_silent_host(socket: BorrowedFd<'_>, silence: Duration) -> Result<(), Errno> {
    let probe = (silence / 4).max(Duration::from_secs(1));
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, probe)?;
    sockopt::set_tcp_keepintvl(socket, probe)?;
    sockopt::set_tcp_keepcnt(socket, 3)?;
    sockopt::set_tcp_nodelay(socket, true)
}

const PATH: Duration = Duration::from_secs(5);
const CHUNK: usize = 64 << 10;
const TURNS: usize = 16;
const COMPACT: usize = 1 << 20;
