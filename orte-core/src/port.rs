//! Ports: where a process listens for others of the same user on its host, whatever job they belong to, and the connections that
//! come of it.
//!
//! A port is an abstract socket of a random name. Its text, which the user passes on, says the host, the name and a secret. Who
//! calls says the secret first; the system says which user it is. A stranger is let go and delays nobody.
//!
//! A connection carries frames: a length of four bytes, little-endian, and so many bytes. Nothing here waits, but for the pauses.

use crate::direct::hex;
use crate::segment::mapping;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    recv, send, socket_with, sockopt,
};

/// A port that is open.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    name: [u8; NAME_BYTES],
    secret: [u8; NAME_BYTES],
    knocking: Vec<Knocking>,
}

/// Somebody of this user who has not said the secret.
#[derive(Debug)]
struct Knocking {
    channel: Channel,
    until_ns: u64,
}

impl Listener {
    /// Others can call from now on. `Err` with half a sentence.
    pub fn open() -> core::result::Result<Listener, String> {
        let refused = |errno: Errno| format!("the system refuses a socket ({errno})");
        let socket = socket().map_err(refused)?;
        let name = sys::random().map_err(refused)?;
        bind(&socket, &address(&name).map_err(refused)?).map_err(refused)?;
        listen(&socket, BACKLOG).map_err(refused)?;
        Ok(Listener { socket, name, secret: sys::random().map_err(refused)?, knocking: Vec::new() })
    }

    /// The one port of this user for names, which all mpiruns of the user find without being told; `None` if another process has it.
    /// It has no secret: who may call is decided by the user that the system names. `Err` with half a sentence.
    pub fn of_user() -> core::result::Result<Option<Listener>, String> {
        let refused = |errno: Errno| format!("the system refuses a socket ({errno})");
        let socket = socket().map_err(refused)?;
        match bind(&socket, &user_address().map_err(refused)?) {
            Ok(()) => {}
            Err(Errno::ADDRINUSE) => return Ok(None),
            Err(errno) => return Err(refused(errno)),
        }
        listen(&socket, BACKLOG).map_err(refused)?;
        Ok(Some(Listener { socket, name: NOBODY, secret: NOBODY, knocking: Vec::new() }))
    }

    /// Its text.
    pub fn text(&self) -> String {
        format!("{PREFIX}:{:016x}:{}:{}", here(), hex::encode(&self.name), hex::encode(&self.secret))
    }

    /// A connection of somebody who knows the secret, if there is one.
    pub fn poll(&mut self) -> core::result::Result<Option<Channel>, String> {
        while self.knocking.len() < CROWD {
            match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(socket) if is_own_user(&socket) => {
                    let until_ns = sys::monotonic_ns().saturating_add(STRANGER_NS);
                    self.knocking.push(Knocking { channel: Channel::over(socket), until_ns });
                }
                Ok(_) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => break,
                Err(errno) => return Err(format!("the system refuses a connection ({errno})")),
            }
        }
        let now_ns = sys::monotonic_ns();
        let mut index = 0;
        while let Some(peer) = self.knocking.get_mut(index) {
            match peer.channel.poll() {
                Ok(Some(said)) if is_equal(&said, &self.secret) => {
                    return Ok(Some(self.knocking.remove(index).channel));
                }
                Ok(None) if now_ns < peer.until_ns => index += 1,
                _ => drop(self.knocking.remove(index)),
            }
        }
        Ok(None)
    }

    /// Sleeps until it is time to poll, at most so long.
    pub fn pause(&self, at_most_ms: u32) {
        pause(&self.descriptors().collect::<Vec<_>>(), at_most_ms);
    }

    /// What becomes readable when it is time to poll.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        core::iter::once(self.socket.as_fd()).chain(self.knocking.iter().map(|peer| peer.channel.as_fd()))
    }
}

/// A connection.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    read: Vec<u8>,
    unsent: Vec<u8>,
}

impl Channel {
    /// Calls a port. `Err` with half a sentence.
    pub fn call(text: &str) -> core::result::Result<Channel, String> {
        let (name, secret) = parse(text)?;
        Channel::connected(address(&name), secret)
    }

    /// Calls the port of [`Listener::of_user`]. `Err` with half a sentence.
    pub fn call_user() -> core::result::Result<Channel, String> {
        Channel::connected(user_address(), NOBODY)
    }

    fn connected(address: Result<SocketAddrUnix>, secret: [u8; NAME_BYTES]) -> core::result::Result<Channel, String> {
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
        channel.send(&secret)?;
        Ok(channel)
    }

    /// Over a socket of the program's, which keeps it. `Err` with half a sentence.
    pub fn beside(descriptor: i32) -> core::result::Result<Channel, String> {
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
        Channel { socket, read: Vec::new(), unsent: Vec::new() }
    }

    /// Sends a frame, now or in later polls.
    pub fn send(&mut self, frame: &[u8]) -> core::result::Result<(), String> {
        self.unsent.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        self.unsent.extend_from_slice(frame);
        self.flush()
    }

    /// Sleeps until something can be read, at most so long.
    pub fn pause(&self, at_most_ms: u32) {
        pause(&[self.as_fd()], at_most_ms);
    }

    /// Whether something waits to be sent.
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Sends what there is room for. `Err` with half a sentence if the other side is gone.
    pub fn flush(&mut self) -> core::result::Result<(), String> {
        while !self.unsent.is_empty() {
            match send(&self.socket, &self.unsent, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => return Err(String::from(GONE)),
            }
        }
        Ok(())
    }

    /// The next frame, if all of it is here. `Err` with half a sentence if none can come any more.
    pub fn poll(&mut self) -> core::result::Result<Option<Vec<u8>>, String> {
        // What was sent before the other side ended is still to be read.
        let flushed = self.flush();
        loop {
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            let mut bytes = [0; 4096];
            match recv(&self.socket, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(String::from(GONE)),
                Ok((count, _)) => self.read.extend_from_slice(&bytes[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return flushed.map(|()| None),
                Err(_) => return Err(String::from(GONE)),
            }
        }
    }

    fn take(&mut self) -> core::result::Result<Option<Vec<u8>>, String> {
        let Some((length, rest)) = self.read.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > FRAME_MAX {
            return Err(String::from("the other side does not speak as processes of this library do"));
        }
        if rest.len() < length {
            return Ok(None);
        }
        let frame = rest[..length].to_vec();
        self.read.drain(..4 + length);
        Ok(Some(frame))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Sleeps until one of these becomes readable, at most so long.
fn pause(descriptors: &[BorrowedFd<'_>], at_most_ms: u32) {
    let mut polls: Vec<PollFd<'_>> =
        descriptors.iter().map(|descriptor| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN)).collect();
    let limit = Timespec { tv_sec: i64::from(at_most_ms / 1000), tv_nsec: (at_most_ms % 1000 * 1_000_000) as _ };
    // The caller looks at everything again in any case.
    let _ = poll(&mut polls, Some(&limit));
}

/// Equal for processes that can reach each other's ports and memory: those of one running system that share its namespaces of
/// networks and processes.
pub fn here() -> u64 {
    let mut bytes = sys::read_file("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    for namespace in ["/proc/self/ns/net", "/proc/self/ns/pid"] {
        if let Ok(stat) = rustix::fs::stat(namespace) {
            bytes.extend(stat.st_dev.to_le_bytes());
            bytes.extend(stat.st_ino.to_le_bytes());
        }
    }
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn parse(text: &str) -> core::result::Result<([u8; NAME_BYTES], [u8; NAME_BYTES]), String> {
    let wrong = || String::from("that is no port of this library: pass on what MPI_Open_port or MPI_Lookup_name gave");
    let mut words = text.split(':');
    let mut next = || words.next().ok_or_else(wrong);
    if next()? != PREFIX {
        return Err(wrong());
    }
    let host = u64::from_str_radix(next()?, 16).map_err(|_| wrong())?;
    let (name, secret) = (hex::decode(next()?).ok_or_else(wrong)?, hex::decode(next()?).ok_or_else(wrong)?);
    if words.next().is_some() {
        return Err(wrong());
    }
    match host == here() {
        true => Ok((name, secret)),
        false => Err(String::from(
            "it is a port of another host, or of another network or process namespace; processes connect on one host only",
        )),
    }
}

/// Every byte is looked at: how long it takes tells nothing.
fn is_equal(said: &[u8], secret: &[u8; NAME_BYTES]) -> bool {
    said.len() == secret.len() && said.iter().zip(secret).fold(0, |all, (left, right)| all | (left ^ right)) == 0
}

fn is_own_user(peer: &OwnedFd) -> bool {
    sockopt::socket_peercred(peer).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

fn socket() -> Result<OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
}

/// Readable in /proc/net/unix.
fn address(name: &[u8; NAME_BYTES]) -> Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(format!("{PREFIX}-port-{}", hex::encode(name)).as_bytes())
}

/// As above.
fn user_address() -> Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(format!("{PREFIX}-names-{}", rustix::process::geteuid().as_raw()).as_bytes())
}

const PREFIX: &str = "ompi-rs";
/// Name and secret where there are none.
const NOBODY: [u8; NAME_BYTES] = [0; NAME_BYTES];
const GONE: &str = "the other side has ended or closed the connection";
const NAME_BYTES: usize = 16;
const BACKLOG: i32 = 1024;
const FRAME_MAX: usize = 256 << 20;
const STRANGER_NS: u64 = 1_000_000_000;
const BUSY_NS: u64 = 10_000_000_000;
/// So many are heard at once; more wait.
const CROWD: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<T>(mut what: impl FnMut() -> Option<T>) -> T {
        let until_ns = sys::monotonic_ns() + 5_000_000_000;
        loop {
            if let Some(found) = what() {
                return found;
            }
            assert!(sys::monotonic_ns() < until_ns, "nothing came");
            sys::nap_us(100);
        }
    }

    #[test]
    fn who_knows_the_port_is_heard() {
        let mut port = Listener::open().unwrap();
        let mut caller = Channel::call(&port.text()).unwrap();
        let mut heard = wait(|| port.poll().unwrap());
        let long: Vec<u8> = (0..1 << 20).map(|number: u32| number as u8).collect();
        caller.send(&long).unwrap();
        caller.send(b"").unwrap();
        let take = |from: &mut Channel, other: &mut Channel| {
            wait(|| {
                other.flush().unwrap();
                from.poll().unwrap()
            })
        };
        assert_eq!(take(&mut heard, &mut caller), long);
        assert_eq!(take(&mut heard, &mut caller), b"");
        heard.send(b"answer").unwrap();
        assert_eq!(take(&mut caller, &mut heard), b"answer");
        drop(heard);
        assert_eq!(wait(|| caller.poll().err()), GONE);
    }

    #[test]
    fn strangers_are_let_go_and_stale_ports_refused() {
        let mut port = Listener::open().unwrap();
        let text = port.text();
        let (front, secret) = text.rsplit_once(':').unwrap();
        let wrong: String = secret.chars().rev().collect();
        let mut stranger = Channel::call(&format!("{front}:{wrong}")).unwrap();
        let mut silent = Channel::over({
            let socket = socket().unwrap();
            connect(&socket, &address(&port.name).unwrap()).unwrap();
            socket
        });
        assert!(port.poll().unwrap().is_none() || wrong == secret);
        let _friend = Channel::call(&text).unwrap();
        wait(|| port.poll().unwrap());
        assert!(wait(|| stranger.poll().err()).contains("closed"));
        assert_eq!(silent.poll(), Ok(None), "one that says nothing has a second");
        drop(port);
        assert!(Channel::call(&text).unwrap_err().contains("nobody listens"));
        assert!(silent.poll().is_err());
    }

    #[test]
    fn what_is_no_port_is_refused_with_a_sentence() {
        let text = Listener::open().unwrap().text();
        let elsewhere = text.replacen(&format!("{:016x}", here()), "0000000000000001", 1);
        for (wrong, why) in [("", "no port"), ("tcp://x", "no port"), (&text[..text.len() - 1], "no port")] {
            assert!(Channel::call(wrong).unwrap_err().contains(why), "{wrong}");
        }
        assert!(Channel::call(&format!("{text}:1")).unwrap_err().contains("no port"));
        assert!(Channel::call(&elsewhere).unwrap_err().contains("another host"));
    }
}
