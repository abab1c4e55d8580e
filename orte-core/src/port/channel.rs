//! A connection: frames in and out, never waiting but for the pause.

use super::far::{Calls, Session, TAG_BYTES, Trusted};
use super::{GONE, Secret, Text, address, here, is_own_user, pause, socket, user_address};
use crate::segment::mapping;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sys;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketAddrUnix, SocketType, connect, recv, send, sockopt};

/// A connection.
pub struct Channel {
    link: Link,
    read: Vec<u8>,
    unsent: Vec<u8>,
}

enum Link {
    /// To a process of this host.
    Near(OwnedFd),
    /// To one of another host.
    Far(OwnedFd, Session),
    /// It will be; these frames wait for it.
    Calling(Calls, Vec<Vec<u8>>),
}

impl Channel {
    /// Calls a port. `Err` with half a sentence.
    pub fn call(text: &str) -> Result<Channel, String> {
        let Text { host, name, secret, addresses } = Text::parse(text)?;
        if host == here() {
            return Channel::connected(address(&name), &secret);
        }
        if addresses.is_empty() {
            return Err(String::from(
                "it is a port of another host, or of another network or process namespace, and listens on no network",
            ));
        }
        Ok(Channel::of(Link::Calling(Calls::begin(&addresses, secret), Vec::new())))
    }

    /// Calls the port of [`Listener::of_user`](super::Listener::of_user). `Err` with half a sentence.
    pub fn call_user() -> Result<Channel, String> {
        Channel::connected(user_address(), &[0; 32])
    }

    fn connected(address: rustix::io::Result<SocketAddrUnix>, secret: &Secret) -> Result<Channel, String> {
        let refused = |errno: Errno| match errno {
            Errno::CONNREFUSED => String::from(
                "nobody listens there any more: the port was closed, or the process that opened it has ended",
            ),
            Errno::AGAIN => String::from("too many processes call it at the same time"),
            errno => format!("the system refused ({errno})"),
        };
        let (socket, address) = (socket().map_err(refused)?, address.map_err(refused)?);
        let until_ns = sys::monotonic_ns().saturating_add(BUSY_NS);
        loop {
            match connect(&socket, &address) {
                Ok(()) => break,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if sys::monotonic_ns() < until_ns => sys::nap_us(1000),
                Err(errno) => return Err(refused(errno)),
            }
        }
        if !is_own_user(&socket) {
            return Err(String::from("it belongs to another user"));
        }
        let mut channel = Channel::over(socket);
        channel.send(secret)?;
        Ok(channel)
    }

    /// Over a socket of the program's, which keeps it. `Err` with half a sentence.
    pub fn beside(descriptor: i32) -> Result<Channel, String> {
        if descriptor < 0 {
            return Err(format!("{descriptor} is no descriptor"));
        }
        let socket = mapping::inherited(descriptor);
        let kind =
            sockopt::socket_type(socket).map_err(|errno| format!("descriptor {descriptor} is no socket ({errno})"))?;
        if kind != SocketType::STREAM {
            return Err(format!("descriptor {descriptor} is no stream socket"));
        }
        let own = rustix::io::fcntl_dupfd_cloexec(socket, 3)
            .map_err(|errno| format!("the system refuses a descriptor ({errno})"))?;
        Ok(Channel::over(own))
    }

    /// Over a socket that is connected; whether it blocks does not count.
    pub fn over(socket: OwnedFd) -> Channel {
        Channel::of(Link::Near(socket))
    }

    /// With somebody of another host.
    pub(super) fn trusted(trusted: Trusted) -> Channel {
        let Trusted { socket, session, rest } = trusted;
        Channel { read: rest, ..Channel::of(Link::Far(socket, session)) }
    }

    fn of(link: Link) -> Channel {
        Channel { link, read: Vec::new(), unsent: Vec::new() }
    }

    /// Sends a frame, now or in later polls.
    pub fn send(&mut self, frame: &[u8]) -> Result<(), String> {
        match &mut self.link {
            Link::Near(_) => {
                self.unsent.extend_from_slice(&(frame.len() as u32).to_le_bytes());
                self.unsent.extend_from_slice(frame);
            }
            Link::Far(_, session) => session.seal(frame, &mut self.unsent),
            Link::Calling(_, waiting) => waiting.push(frame.to_vec()),
        }
        self.flush()
    }

    /// Sleeps until something can be read, at most so long.
    pub fn pause(&self, at_most_ms: u32) {
        match &self.link {
            Link::Near(socket) | Link::Far(socket, _) => {
                pause(&mut [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)], at_most_ms);
            }
            Link::Calling(calls, _) => pause(&mut calls.interests().collect::<Vec<_>>(), at_most_ms),
        }
    }

    /// Whether something waits to be sent.
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Sends what there is room for. `Err` with half a sentence if the other side is gone.
    pub fn flush(&mut self) -> Result<(), String> {
        self.connect()?;
        let socket = match &self.link {
            Link::Near(socket) | Link::Far(socket, _) => socket,
            Link::Calling(..) => return Ok(()),
        };
        while !self.unsent.is_empty() {
            match send(socket, &self.unsent, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => return Err(String::from(GONE)),
            }
        }
        Ok(())
    }

    /// The next frame, if all of it is here. `Err` with half a sentence if none can come any more.
    pub fn poll(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.connect()?;
        // What was sent before the other side ended is still to be read.
        let flushed = self.flush();
        loop {
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            let socket = match &self.link {
                Link::Near(socket) | Link::Far(socket, _) => socket,
                Link::Calling(..) => return Ok(None),
            };
            let mut bytes = [0; 4096];
            match recv(socket, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(String::from(GONE)),
                Ok((count, _)) => self.read.extend_from_slice(&bytes[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return flushed.map(|()| None),
                Err(_) => return Err(String::from(GONE)),
            }
        }
    }

    /// What becomes readable when something comes; `None` while it is only being called.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.link {
            Link::Near(socket) | Link::Far(socket, _) => Some(socket.as_fd()),
            Link::Calling(..) => None,
        }
    }

    /// Takes the next step of a call that goes to another host.
    fn connect(&mut self) -> Result<(), String> {
        let Link::Calling(calls, waiting) = &mut self.link else { return Ok(()) };
        let Some(trusted) = calls.advance()? else { return Ok(()) };
        let waiting = core::mem::take(waiting);
        *self = Channel::trusted(trusted);
        waiting.iter().try_for_each(|frame| self.send(frame))
    }

    fn take(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Some((length, rest)) = self.read.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > FRAME_MAX {
            return Err(String::from(OTHER));
        }
        let sealed = if matches!(self.link, Link::Far(..)) { length + TAG_BYTES } else { length };
        let Some(frame) = rest.get(..sealed) else { return Ok(None) };
        let frame = match &mut self.link {
            Link::Far(_, session) => session.open(frame).map_err(|()| String::from(CHANGED))?,
            _ => frame.to_vec(),
        };
        self.read.drain(..4 + sealed);
        Ok(Some(frame))
    }
}

impl core::fmt::Debug for Channel {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        to.debug_struct("Channel").finish_non_exhaustive()
    }
}

const FRAME_MAX: usize = 256 << 20;
const BUSY_NS: u64 = 10_000_000_000;
const OTHER: &str = "the other side does not speak as processes of this library do";
const CHANGED: &str = "what came was changed, repeated or left out on the way";
