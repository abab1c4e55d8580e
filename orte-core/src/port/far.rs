//! Connections between hosts. Whoever calls tries all addresses of the port at once, and goes on with the first one where somebody
//! proves to know the secret. Then both encrypt each frame with AES-256-GCM, under keys that no other connection has:
//!
//! | offset | bytes | of a frame |
//! |---|---|---|
//! | 0 | 4 | length of the text, little-endian |
//! | 4 | length | encrypted text |
//! | 4 + length | 16 | tag over length and text |
//!
//! The nonce is the number of the frame and never travels. So a frame that was changed, left out, repeated or moved is noticed.

use super::{GONE, Secret};
use crate::oob::handshake::{Accepting, Calling, Keys, Step};
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit, Tag};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use opal_core::sys;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, connect, getpeername, getsockname, listen,
    recv, send, socket_with, sockopt,
};

/// A connection whose other side has proven that it knows the secret.
pub struct Trusted {
    pub socket: OwnedFd,
    pub session: Session,
    /// What came behind the handshake.
    pub rest: Vec<u8>,
}

/// What a connection is encrypted with.
pub struct Session {
    out: Box<Direction>,
    back: Box<Direction>,
}

struct Direction {
    cipher: Aes256Gcm,
    number: u64,
}

impl Session {
    fn calling(keys: &Keys) -> Session {
        Session { out: Direction::new(&keys.daemon), back: Direction::new(&keys.mpirun) }
    }

    fn accepting(keys: &Keys) -> Session {
        Session { out: Direction::new(&keys.mpirun), back: Direction::new(&keys.daemon) }
    }

    /// Appends a frame as it travels.
    pub fn seal(&mut self, text: &[u8], to: &mut Vec<u8>) {
        let length = (text.len() as u32).to_le_bytes();
        to.extend_from_slice(&length);
        let start = to.len();
        to.extend_from_slice(text);
        let nonce = self.out.next_nonce();
        let tag = self.out.cipher.encrypt_inout_detached(&nonce.into(), &length, (&mut to[start..]).into());
        to.extend_from_slice(&tag.expect("a frame is far shorter than GCM allows"));
    }

    /// The text of a frame that came as text and tag. `Err` if it is not the one that was sent next.
    pub fn open(&mut self, sealed: &[u8]) -> core::result::Result<Vec<u8>, ()> {
        let (text, tag) = sealed.split_last_chunk::<TAG_BYTES>().ok_or(())?;
        let length = (text.len() as u32).to_le_bytes();
        let mut text = text.to_vec();
        let nonce = self.back.next_nonce();
        let opened =
            self.back.cipher.decrypt_inout_detached(&nonce.into(), &length, (&mut text[..]).into(), &Tag::from(*tag));
        opened.map(|()| text).map_err(|_| ())
    }
}

impl Direction {
    fn new(key: &[u8; 32]) -> Box<Direction> {
        Box::new(Direction { cipher: Aes256Gcm::new(key.into()), number: 0 })
    }

    fn next_nonce(&mut self) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&self.number.to_le_bytes());
        self.number += 1;
        nonce
    }
}

/// A socket that listens at this address, and where.
pub fn listening(address: IpAddr) -> Result<(OwnedFd, SocketAddr)> {
    let socket = stream(address)?;
    bind(&socket, &SocketAddr::new(address, 0))?;
    listen(&socket, BACKLOG)?;
    let bound = SocketAddr::try_from(getsockname(&socket)?)?;
    Ok((socket, bound))
}

/// Somebody who has called and not proven anything.
pub struct Knock {
    socket: OwnedFd,
    accepting: Accepting,
}

impl Knock {
    /// Over an accepted socket.
    pub fn new(socket: OwnedFd, secret: Secret) -> Result<Knock> {
        Ok(Knock { socket, accepting: Accepting::new(secret, sys::random()?) })
    }

    /// Takes what came. `Err`: it is a stranger, or has gone.
    pub fn advance(mut self) -> core::result::Result<Progress, ()> {
        loop {
            let mut bytes = [0; 512];
            let read = match receive(&self.socket, &mut bytes) {
                Ok(Some(read)) => read,
                Ok(None) => return Ok(Progress::Waiting(self)),
                Err(_) => return Err(()),
            };
            match self.accepting.push(&bytes[..read]).map_err(|_| ())? {
                Step::Wait => {}
                Step::Send(answer) => send_all(&self.socket, &answer)?,
                Step::Trusted { keys, rest, .. } => {
                    watch(&self.socket).map_err(|_| ())?;
                    return Ok(Progress::Trusted(Trusted {
                        socket: self.socket,
                        session: Session::accepting(&keys),
                        rest,
                    }));
                }
            }
        }
    }
}

/// How far a [`Knock`] is.
pub enum Progress {
    Waiting(Knock),
    Trusted(Trusted),
}

impl AsFd for Knock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// All attempts to call one port.
pub struct Calls {
    tries: Vec<Try>,
    failures: Vec<String>,
}

struct Try {
    socket: OwnedFd,
    address: SocketAddr,
    secret: Secret,
    /// Once it is connected.
    calling: Option<Calling>,
}

impl Calls {
    /// At all of these addresses.
    pub fn begin(addresses: &[SocketAddr], secret: Secret) -> Calls {
        let mut calls = Calls { tries: Vec::new(), failures: Vec::new() };
        for address in addresses {
            let began = stream(address.ip()).and_then(|socket| match connect(&socket, address) {
                Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
                Err(errno) => Err(errno),
            });
            match began {
                Ok(socket) => calls.tries.push(Try { socket, address: *address, secret, calling: None }),
                Err(errno) => calls.failures.push(format!("{address}: {errno}")),
            }
        }
        calls
    }

    /// The first one that got an answer; `None` while one may come. `Err` with half a sentence.
    pub fn advance(&mut self) -> core::result::Result<Option<Trusted>, String> {
        let mut place = 0;
        while place < self.tries.len() {
            match self.tries[place].advance() {
                Ok(None) => place += 1,
                Ok(Some((session, rest))) => {
                    let socket = self.tries.swap_remove(place).socket;
                    return Ok(Some(Trusted { socket, session, rest }));
                }
                Err(why) => {
                    let address = self.tries.swap_remove(place).address;
                    self.failures.push(format!("{address}: {why}"));
                }
            }
        }
        match self.tries.is_empty() {
            true => Err(format!(
                "nobody listens there any more, or no network leads there ({}); oob_tcp_if_include names the interfaces on \
                 which ports listen",
                self.failures.join(", ")
            )),
            false => Ok(None),
        }
    }

    /// What to wait for.
    pub fn interests(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.tries.iter().map(|one| {
            let awaited = if one.calling.is_some() { PollFlags::IN } else { PollFlags::OUT };
            PollFd::from_borrowed_fd(one.socket.as_fd(), awaited)
        })
    }
}

impl Try {
    fn advance(&mut self) -> core::result::Result<Option<(Session, Vec<u8>)>, String> {
        let failed = |errno: Errno| format!("{errno}");
        let Some(calling) = &mut self.calling else {
            sockopt::socket_error(&self.socket).and_then(|error| error).map_err(failed)?;
            if getpeername(&self.socket).is_ok() {
                let calling = Calling::new(self.secret, 0, sys::random().map_err(failed)?);
                send_all(&self.socket, calling.call()).map_err(|()| String::from(GONE))?;
                self.calling = Some(calling);
            }
            return Ok(None);
        };
        let mut bytes = [0; 4096];
        while let Some(read) = receive(&self.socket, &mut bytes)? {
            let step = calling.push(&bytes[..read]).map_err(|_| String::from("another process listens there"))?;
            if let Step::Trusted { keys, rest, send, .. } = step {
                send_all(&self.socket, &send).map_err(|()| String::from(GONE))?;
                watch(&self.socket).map_err(failed)?;
                return Ok(Some((Session::calling(&keys), rest)));
            }
        }
        Ok(None)
    }
}

fn stream(address: IpAddr) -> Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
}

/// Has the connection end when the other host is silent.
fn watch(socket: &OwnedFd) -> Result<()> {
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, core::time::Duration::from_secs(5))?;
    sockopt::set_tcp_keepintvl(socket, core::time::Duration::from_secs(5))?;
    sockopt::set_tcp_keepcnt(socket, 3)
}

/// What came; `None` if nothing has.
fn receive(socket: &OwnedFd, to: &mut [u8]) -> core::result::Result<Option<usize>, String> {
    loop {
        match recv(socket, &mut to[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) => return Err(String::from(GONE)),
            Ok((read, _)) => return Ok(Some(read)),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(None),
            Err(errno) => return Err(format!("{errno}")),
        }
    }
}

/// Of the handshake: a new connection's buffer has room for its messages.
fn send_all(socket: &OwnedFd, bytes: &[u8]) -> core::result::Result<(), ()> {
    match send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
        Ok(sent) if sent == bytes.len() => Ok(()),
        _ => Err(()),
    }
}

/// Bytes of a frame behind its text.
pub const TAG_BYTES: usize = 16;
const BACKLOG: i32 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys { daemon: [1; 32], mpirun: [2; 32] }
    }

    #[test]
    fn a_frame_is_opened_once_in_its_turn_and_unchanged() {
        let (mut caller, mut other) = (Session::calling(&keys()), Session::accepting(&keys()));
        let mut sent = Vec::new();
        caller.seal(b"secret", &mut sent);
        let first = sent.split_off(4);
        assert_eq!(sent, 6u32.to_le_bytes());
        assert!(!first.windows(6).any(|bytes| bytes == b"secret"));
        assert_eq!(other.open(&first), Ok(b"secret".to_vec()));
        assert_eq!(other.open(&first), Err(()), "again");
        let (mut caller, mut other) = (Session::calling(&keys()), Session::accepting(&keys()));
        let mut sent = Vec::new();
        caller.seal(b"secret", &mut sent);
        sent[5] ^= 1;
        assert_eq!(other.open(&sent[4..]), Err(()), "changed");
        assert_eq!(other.open(&[1; 3]), Err(()), "too short");
    }
}
