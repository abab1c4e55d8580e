//! Ports: where a process listens for others of the same user, whatever job they belong to, and the connections that come of it.
//!
//! On its own host a port is an abstract socket of a random name: who calls says a secret first, and the system says which user it
//! is. Where others are to call it from other hosts a port listens by TCP as well: both sides prove that they know the secret
//! ([`crate::oob::handshake`]), and everything after that is encrypted ([`far`]). Strangers are let go and delay nobody.
//!
//! The text of a port, which the user passes on: `ompi-rs:HOST:NAME:SECRET`, then, if it listens by TCP, `:ADDRESS,ADDRESS`.
//!
//! | file | what |
//! |---|---|
//! | `listener` | a port that is open |
//! | `channel` | a connection |
//! | `far` | connections between hosts: calling, proving, encrypting |
//!
//! A connection carries frames: a length of four bytes, little-endian, and so many bytes. Nothing here waits, but for the pauses.

mod channel;
mod far;
mod listener;

pub use channel::Channel;
pub use listener::Listener;

use crate::direct::hex;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;
use opal_core::sys;
use rustix::event::{PollFd, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Result;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with, sockopt};

/// Equal for processes that can reach each other's ports and memory: those of one user on one running system that share its namespaces
/// of networks and processes.
pub fn here() -> u64 {
    let mut bytes = sys::read_file("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    for namespace in ["/proc/self/ns/net", "/proc/self/ns/pid"] {
        if let Ok(stat) = rustix::fs::stat(namespace) {
            bytes.extend(stat.st_dev.to_le_bytes());
            bytes.extend(stat.st_ino.to_le_bytes());
        }
    }
    bytes.extend(rustix::process::geteuid().as_raw().to_le_bytes());
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Whether the port of this text is one of this host, and whether it can be called from others.
pub fn reach(text: &str) -> Option<(bool, bool)> {
    let text = Text::parse(text).ok()?;
    Some((text.host == here(), !text.addresses.is_empty()))
}

/// What people may see of a port's text: all before its secret.
pub fn public_part(text: &str) -> String {
    let words: Vec<&str> = text.splitn(4, ':').take(3).collect();
    format!("{}:…", words.join(":"))
}

/// What the text of a port says.
struct Text {
    host: u64,
    name: Name,
    secret: Secret,
    addresses: Vec<SocketAddr>,
}

impl Text {
    fn encode(&self) -> String {
        let mut text = format!("{PREFIX}:{:016x}:{}:{}", self.host, hex::encode(&self.name), hex::encode(&self.secret));
        for (address, mark) in self.addresses.iter().zip(core::iter::once(':').chain(core::iter::repeat(','))) {
            let more = format!("{mark}{address}");
            if text.len() + more.len() > TEXT_BYTES {
                break;
            }
            text += &more;
        }
        text
    }

    fn parse(text: &str) -> core::result::Result<Text, String> {
        let wrong =
            || String::from("that is no port of this library: pass on what MPI_Open_port or MPI_Lookup_name gave");
        let mut words = text.splitn(5, ':');
        let mut next = || words.next().ok_or_else(wrong);
        if next()? != PREFIX {
            return Err(wrong());
        }
        let host = u64::from_str_radix(next()?, 16).map_err(|_| wrong())?;
        let (name, secret) = (hex::decode(next()?).ok_or_else(wrong)?, hex::decode(next()?).ok_or_else(wrong)?);
        let addresses = words.next().map(|list| list.split(',').map(str::parse).collect());
        let addresses = addresses.unwrap_or(Ok(Vec::new())).map_err(|_| wrong())?;
        Ok(Text { host, name, secret, addresses })
    }
}

/// Sleeps until one of these is ready, at most so long.
fn pause(polls: &mut [PollFd<'_>], at_most_ms: u32) {
    let limit = Timespec { tv_sec: i64::from(at_most_ms / 1000), tv_nsec: (at_most_ms % 1000 * 1_000_000) as _ };
    // The caller looks at everything again in any case.
    let _ = poll(polls, Some(&limit));
}

fn is_own_user(peer: &OwnedFd) -> bool {
    sockopt::socket_peercred(peer).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

fn socket() -> Result<OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
}

/// Readable in /proc/net/unix.
fn address(name: &Name) -> Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(format!("{PREFIX}-port-{}", hex::encode(name)).as_bytes())
}

/// As above.
fn user_address() -> Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(format!("{PREFIX}-names-{}", rustix::process::geteuid().as_raw()).as_bytes())
}

type Name = [u8; 16];
type Secret = crate::oob::Secret;

/// The most that a text has.
pub const TEXT_BYTES: usize = crate::segment::layout::PORT_BYTES;
const PREFIX: &str = "ompi-rs";
const GONE: &str = "the other side has ended or closed the connection";

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
    fn people_see_no_secret() {
        let text =
            Text { host: 1, name: [2; size_of::<Name>()], secret: [0xab; size_of::<Secret>()], addresses: Vec::new() };
        let (text, shown) = (text.encode(), public_part(&text.encode()));
        assert!(text.starts_with(shown.trim_end_matches('…')) && !shown.contains("ab"), "{shown}");
        assert!(text.contains(&"ab".repeat(size_of::<Secret>())));
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
            rustix::net::connect(&socket, &address(port.name()).unwrap()).unwrap();
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

    /// As long as any of them may be silent, and longer than the friend waits.
    #[test]
    fn silent_strangers_keep_nobody_out() {
        let mut port = Listener::open().unwrap();
        port.listen_far().unwrap();
        let text = from_elsewhere(&port.text());
        let far = Text::parse(&text).unwrap().addresses[0];
        let near = address(port.name()).unwrap();
        let strangers: Vec<_> = (0..40)
            .map(|_| {
                let socket = socket().unwrap();
                rustix::net::connect(&socket, &near).unwrap();
                (socket, std::net::TcpStream::connect(far).unwrap())
            })
            .collect();
        let since_ns = sys::monotonic_ns();
        let mut friends = [Channel::call(&port.text()).unwrap(), Channel::call(&text).unwrap()];
        let mut heard = Vec::new();
        while heard.len() < friends.len() {
            heard.push(wait(|| {
                friends.iter_mut().for_each(|friend| assert_eq!(friend.poll(), Ok(None)));
                port.poll().unwrap()
            }));
        }
        assert!(sys::monotonic_ns() - since_ns < 900_000_000, "a stranger of this host has a second");
        drop(strangers);
    }

    #[test]
    fn what_is_no_port_is_refused_with_a_sentence() {
        let text = Listener::open().unwrap().text();
        let elsewhere = text.replacen(&format!("{:016x}", here()), "0000000000000001", 1);
        for (wrong, why) in [("", "no port"), ("tcp://x", "no port"), (&text[..text.len() - 1], "no port")] {
            assert!(Channel::call(wrong).unwrap_err().contains(why), "{wrong}");
        }
        for more in [":1", ":", ":127.0.0.1:1,", ":127.0.0.1:1:2", ":host:1"] {
            assert!(Channel::call(&format!("{text}{more}")).unwrap_err().contains("no port"), "{more}");
        }
        assert!(Channel::call(&elsewhere).unwrap_err().contains("another host"));
    }

    /// As a process of another host sees the port.
    fn from_elsewhere(text: &str) -> String {
        text.replacen(&format!("{:016x}", here()), "0000000000000001", 1)
    }

    #[test]
    fn other_hosts_are_heard_over_the_network() {
        let mut port = Listener::open().unwrap();
        assert_eq!(reach(&port.text()), Some((true, false)));
        port.listen_far().unwrap();
        let text = port.text();
        assert_eq!(reach(&from_elsewhere(&text)), Some((false, true)));
        let mut caller = Channel::call(&from_elsewhere(&text)).unwrap();
        let long: Vec<u8> = (0..1 << 20).map(|number: u32| (number * 7) as u8).collect();
        // It waits until the call is answered.
        caller.send(&long).unwrap();
        let mut heard = wait(|| {
            caller.flush().unwrap();
            port.poll().unwrap()
        });
        let said = wait(|| {
            caller.flush().unwrap();
            heard.poll().unwrap()
        });
        assert_eq!(said, long);
        heard.send(b"answer").unwrap();
        assert_eq!(wait(|| caller.poll().unwrap()), b"answer");
        drop(heard);
        assert_eq!(wait(|| caller.poll().err()), GONE);
    }

    #[test]
    fn strangers_of_other_hosts_are_let_go() {
        let mut port = Listener::open().unwrap();
        port.listen_far().unwrap();
        let text = from_elsewhere(&port.text());
        let known = Text::parse(&text).unwrap();
        let wrong = Text { secret: [7; 32], ..Text::parse(&text).unwrap() }.encode();
        let mut stranger = Channel::call(&wrong).unwrap();
        let why = wait(|| {
            assert!(port.poll().unwrap().is_none());
            stranger.poll().err()
        });
        assert!(why.contains("nobody listens there"), "{why}");
        // Garbage, and a friend who comes behind it.
        let socket = std::net::TcpStream::connect(known.addresses[0]).unwrap();
        std::io::Write::write_all(&mut &socket, &[0xee; 4096]).unwrap();
        let mut friend = Channel::call(&text).unwrap();
        friend.send(b"it is me").unwrap();
        let mut heard = wait(|| {
            let _ = friend.poll().unwrap();
            port.poll().unwrap()
        });
        assert_eq!(wait(|| heard.poll().unwrap()), b"it is me");
        drop(port);
        let mut late = Channel::call(&text).unwrap();
        assert!(wait(|| late.poll().err()).contains("nobody listens there"));
    }
}
