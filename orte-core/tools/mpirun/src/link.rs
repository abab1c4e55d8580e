//! A connection between neighbours in the tree of hosts after the handshake: frames in their envelopes in and out, never waiting.

use opal_core::sys;
use orte_core::oob::{OobFlaw, Receiver, Sender};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketAddrAny, sockopt};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// One end of it.
pub struct Link {
    socket: OwnedFd,
    sender: Sender,
    receiver: Receiver,
    waiting: Vec<u8>,
    written: usize,
    /// Both addresses, for people.
    ends: String,
    /// When something came last.
    pub heard: Instant,
}

/// What was read.
pub struct News {
    /// The frames that are complete, in their envelopes.
    pub payloads: Vec<Vec<u8>>,
    /// Nothing more will come, with the reason as half a sentence.
    pub lost: Option<String>,
}

impl Link {
    /// Takes over a socket that does not block.
    pub fn new(socket: OwnedFd, sender: Sender, receiver: Receiver) -> Link {
        let ends = ends_of(&socket);
        Link { socket, sender, receiver, waiting: Vec::new(), written: 0, ends, heard: Instant::now() }
    }

    /// The addresses of this end and of the other one, for people.
    pub fn ends(&self) -> &str {
        &self.ends
    }

    /// What to wait for.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Something waits for room.
    pub fn is_behind(&self) -> bool {
        self.written < self.waiting.len()
    }

    /// Bytes that wait for room.
    pub fn behind(&self) -> usize {
        self.waiting.len() - self.written
    }

    /// Sends a frame in its envelope, now or when there is room. A connection that is lost is noticed by whoever reads it.
    pub fn send(&mut self, payload: &[u8]) {
        match self.sender.seal(payload) {
            Ok(bytes) => self.waiting.extend_from_slice(&bytes),
            Err(flaw) => crate::refusal::say(&format!("a message to another host is not sent: {flaw}")),
        }
        self.flush();
    }

    /// Sends what there is room for.
    pub fn flush(&mut self) {
        while self.is_behind() {
            match rustix::net::send(
                &self.socket,
                &self.waiting[self.written..],
                SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            ) {
                Ok(sent) => self.written += sent,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // Reading tells why.
                Err(_) => self.written = self.waiting.len(),
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

    /// Sends everything, waiting for room at most this long.
    pub fn drain(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        while self.is_behind() && Instant::now() < end {
            sys::nap_us(500);
            self.flush();
        }
    }

    /// What came.
    pub fn receive(&mut self) -> News {
        let mut news = News { payloads: Vec::new(), lost: None };
        let mut chunk = vec![0; CHUNK];
        // So much at once, then others have their turn.
        for _ in 0..TURNS {
            match rustix::net::recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => news.lost = Some("its end of the connection was closed".to_owned()),
                Ok((read, _)) => {
                    self.heard = Instant::now();
                    self.receiver.push(&chunk[..read]);
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                Err(errno) => news.lost = Some(format!("the connection to it failed: {errno}")),
            }
            if news.lost.is_some() {
                break;
            }
        }
        self.open(&mut news);
        news
    }

    fn open(&mut self, news: &mut News) {
        loop {
            match self.receiver.next_payload() {
                Ok(None) => return,
                Ok(Some(payload)) => news.payloads.push(payload),
                Err(flaw) => {
                    news.lost = Some(changed(&flaw));
                    return;
                }
            }
        }
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

fn ends_of(socket: &OwnedFd) -> String {
    let text = |address: Option<SocketAddrAny>| {
        let address = address.and_then(|address| SocketAddr::try_from(address).ok());
        address.map_or_else(|| "an unknown address".to_owned(), |address| address.to_string())
    };
    let (own, other) = (rustix::net::getsockname(socket).ok(), rustix::net::getpeername(socket).ok().flatten());
    format!("{} and {}", text(own), text(other))
}

/// How often one says that one is alive.
pub fn beat(silence: Duration) -> Duration {
    (silence / 4).max(Duration::from_millis(50))
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

const CHUNK: usize = 64 << 10;
const TURNS: usize = 16;
const COMPACT: usize = 1 << 20;
