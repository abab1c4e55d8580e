//! A connection between mpirun and a daemon after the handshake: frames in and out, never waiting.

use opal_core::sys;
use orte_core::oob::{Frame, Receiver, Sender};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::time::{Duration, Instant};

/// One end of it.
pub struct Link {
    socket: OwnedFd,
    sender: Sender,
    receiver: Receiver,
    waiting: Vec<u8>,
    written: usize,
    /// When something came last.
    pub heard: Instant,
}

/// What was read.
pub struct News {
    /// The frames that are complete.
    pub frames: Vec<Frame>,
    /// Nothing more will come, with the reason as half a sentence.
    pub lost: Option<String>,
}

impl Link {
    /// Takes over a socket that does not block.
    pub fn new(socket: OwnedFd, sender: Sender, receiver: Receiver) -> Link {
        Link { socket, sender, receiver, waiting: Vec::new(), written: 0, heard: Instant::now() }
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

    /// Sends a frame, now or when there is room. A connection that is lost is noticed by whoever reads it.
    pub fn send(&mut self, frame: &Frame) {
        match self.sender.seal(&frame.encode()) {
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
        let mut news = News { frames: Vec::new(), lost: None };
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
            let frame = match self.receiver.next_payload() {
                Ok(None) => return,
                Ok(Some(payload)) => Frame::decode(&payload),
                Err(flaw) => Err(flaw),
            };
            match frame {
                Ok(frame) => news.frames.push(frame),
                Err(flaw) => {
                    news.lost = Some(format!("{flaw}; a third party on the way changes frames"));
                    return;
                }
            }
        }
    }
}

/// Makes a connection fail where the other host no longer answers; a process that is merely stopped does no harm.
pub fn notice_silence(socket: BorrowedFd<'_>, silence: Duration) -> Result<(), Errno> {
    use rustix::net::sockopt;
    let probe = (silence / 4).max(Duration::from_secs(1));
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, probe)?;
    sockopt::set_tcp_keepintvl(socket, probe)?;
    sockopt::set_tcp_keepcnt(socket, 3)?;
    sockopt::set_tcp_user_timeout(socket, u32::try_from(silence.as_millis()).unwrap_or(u32::MAX))?;
    sockopt::set_tcp_nodelay(socket, true)
}

const CHUNK: usize = 64 << 10;
const TURNS: usize = 16;
const COMPACT: usize = 1 << 20;
