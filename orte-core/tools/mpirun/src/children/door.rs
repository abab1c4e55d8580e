//! Where daemons call: listening sockets on the chosen interfaces, and callers that have not proven who they are. Strangers are
//! told to go, and nothing else happens.

use crate::link::Wire;
use crate::refusal::{Refusal, say};
use orte_core::oob::handshake::Step;
use orte_core::oob::interfaces::Chosen;
use orte_core::oob::{Accepting, Receiver, Secret, Sender};
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrAny, SocketFlags, SocketType, sockopt};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// All doors of this process.
pub struct Door {
    secret: Secret,
    listeners: Vec<OwnedFd>,
    callers: Vec<Caller>,
    /// Strangers of whom something was said.
    said: u32,
}

struct Caller {
    socket: OwnedFd,
    from: String,
    accepting: Accepting,
    until: Instant,
    has_spoken: bool,
}

/// Something that [`Door`] waits for.
#[derive(Clone, Copy, Debug)]
pub enum DoorInterest {
    Listener(usize),
    Caller(usize),
}

/// A daemon that proved who it is.
pub struct Guest {
    pub node: u32,
    pub wire: Wire,
    /// So many of its frames it was told to have come.
    pub told: u64,
    /// So many frames it has; none: it calls for the first time.
    pub theirs: u64,
}

impl Door {
    /// Listens on ports from the first to the last of these, or on any; the second value is where.
    pub fn open(secret: Secret, chosen: &Chosen, range: (u16, u16)) -> Result<(Door, Vec<SocketAddr>), Refusal> {
        let (mut listeners, mut addresses, mut refused) = (Vec::new(), Vec::new(), None);
        for address in &chosen.addresses {
            match listen_in(*address, range) {
                Ok((listener, address)) => {
                    listeners.push(listener);
                    addresses.push(address);
                }
                // One family may be switched off.
                Err(why) => refused = Some(format!("{address}: {why}")),
            }
        }
        match (listeners.is_empty(), refused) {
            (false, _) => Ok((Door { secret, listeners, callers: Vec::new(), said: 0 }, addresses)),
            (true, why) => {
                Err(Refusal::system("listening for the daemons of other hosts", why.unwrap_or_else(|| chosen.none())))
            }
        }
    }

    /// Nobody is let in.
    pub fn shut() -> Door {
        Door { secret: [0; orte_core::oob::SECRET_BYTES], listeners: Vec::new(), callers: Vec::new(), said: 0 }
    }

    /// Hangs up on whoever is in the middle of proving who it is.
    pub fn hang_up(&mut self) {
        self.callers.clear();
    }

    /// Nobody else is let in.
    pub fn close(&mut self) {
        self.listeners.clear();
        self.callers.clear();
    }

    /// Appends what has to be waited for; hand the result and the answers to [`Door::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) -> Vec<DoorInterest> {
        let mut interests = Vec::new();
        for (index, listener) in self.listeners.iter().enumerate() {
            polls.push(PollFd::new(listener, PollFlags::IN));
            interests.push(DoorInterest::Listener(index));
        }
        for (index, caller) in self.callers.iter().enumerate() {
            polls.push(PollFd::new(&caller.socket, PollFlags::IN));
            interests.push(DoorInterest::Caller(index));
        }
        interests
    }

    /// Who has proven to be a daemon: `ready` are the answers for `interests`, in their order. `taken` says how many frames of a node
    /// have come.
    pub fn pump(&mut self, interests: &[DoorInterest], ready: &[PollFlags], taken: impl Fn(u32) -> u64) -> Vec<Guest> {
        let (mut guests, mut gone) = (Vec::new(), Vec::new());
        let known = self.callers.len();
        for (interest, _) in interests.iter().zip(ready).filter(|(_, flags)| !flags.is_empty()) {
            match *interest {
                DoorInterest::Listener(index) => self.let_in(index),
                DoorInterest::Caller(index) if index < known => match self.callers[index].hear(&taken) {
                    Ok(None) => {}
                    Ok(Some(trusted)) => gone.push((index, Some(trusted), None)),
                    Err(why) => gone.push((index, None, Some(why))),
                },
                DoorInterest::Caller(_) => {}
            }
        }
        let now = Instant::now();
        for (index, caller) in self.callers.iter().enumerate().take(known) {
            if now >= caller.until && gone.iter().all(|(other, ..)| *other != index) {
                gone.push((index, None, Some("it said nothing that a daemon says".to_owned())));
            }
        }
        gone.sort_by_key(|(index, ..)| core::cmp::Reverse(*index));
        for (index, trusted, why) in gone {
            let caller = self.callers.swap_remove(index);
            match (trusted, why) {
                (Some(Trusted { node, sender, receiver, told, theirs }), _) => {
                    guests.push(Guest { node, wire: Wire::new(caller.socket, sender, receiver), told, theirs });
                }
                // A daemon that calls again, and then over another path.
                (None, _) if caller.accepting.is_answered() => {}
                (None, why) => self.complain(&caller.from, &why.unwrap_or_default()),
            }
        }
        self.thin_out();
        guests
    }

    /// Of too many callers those go that have waited longest, first of all those that say nothing: a daemon speaks at once.
    fn thin_out(&mut self) {
        while self.callers.len() > CROWD {
            let oldest = self.callers.iter().enumerate().min_by_key(|(_, caller)| (caller.has_spoken, caller.until));
            let Some((index, _)) = oldest else { break };
            let caller = self.callers.swap_remove(index);
            self.complain(&caller.from, "there are too many of them, and it said nothing that a daemon says");
        }
    }

    fn let_in(&mut self, index: usize) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // The job may have ended since the door was looked at: then it is closed.
        let Some(listener) = self.listeners.get(index) else { return };
        // Whoever left again is not here; lack of descriptors passes.
        let Ok((socket, from)) = rustix::net::acceptfrom_with(listener, flags) else { return };
        let from = from.and_then(|address| SocketAddr::try_from(address).ok());
        let from = from.map_or_else(|| "an unknown address".to_owned(), |address| address.to_string());
        let Ok(nonce) = opal_core::sys::random() else { return };
        let accepting = Accepting::new(self.secret, nonce);
        self.callers.push(Caller { socket, from, accepting, until: Instant::now() + PATIENCE, has_spoken: false });
    }

    /// One line a stranger, and of crowds no more.
    fn complain(&mut self, from: &str, why: &str) {
        if why.is_empty() {
            return;
        }
        self.said += 1;
        if self.said <= SAID {
            say(&format!("a connection from {from} was closed: {why}; the job goes on"));
        }
        if self.said == SAID {
            say("nothing is said of further ones");
        }
    }
}

struct Trusted {
    node: u32,
    sender: Sender,
    receiver: Receiver,
    told: u64,
    theirs: u64,
}

impl Caller {
    fn hear(&mut self, taken: &impl Fn(u32) -> u64) -> Result<Option<Trusted>, String> {
        let mut chunk = [0; 256];
        loop {
            let read = match rustix::net::recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
                // A daemon tries all addresses, and goes on with one of them.
                Ok((0, _)) if !self.has_spoken => return Err(String::new()),
                Ok((0, _)) => return Err("it was closed before it proved to come from a daemon".to_owned()),
                Ok((read, _)) => {
                    self.has_spoken = true;
                    read
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(errno.to_string()),
            };
            match self.accepting.push_with(&chunk[..read], taken) {
                Ok(Step::Wait) => {}
                // 72 bytes fit into every new connection's buffer.
                Ok(Step::Send(bytes)) => {
                    let sent = rustix::net::send(&self.socket, &bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
                    if sent != Ok(bytes.len()) {
                        return Err("it takes no answer".to_owned());
                    }
                }
                Ok(Step::Trusted { node, keys, rest, told, theirs, .. }) => {
                    let (sender, receiver) = (Sender::new(keys.mpirun), Receiver::new(keys.daemon, rest));
                    return Ok(Some(Trusted { node, sender, receiver, told, theirs }));
                }
                Err(flaw) => return Err(flaw.to_string()),
            }
        }
    }
}

/// The first port of the range that is free. `Err` with a few words.
fn listen_in(address: IpAddr, (first, last): (u16, u16)) -> Result<(OwnedFd, SocketAddr), String> {
    for port in first..=last {
        match listen(SocketAddr::new(address, port)) {
            Err(Errno::ADDRINUSE) if port != 0 => {}
            Err(errno) if port != 0 => return Err(format!("{errno} (oob_tcp_port is {first}-{last})")),
            other => return other.map_err(|errno| errno.to_string()),
        }
    }
    Err(format!("all ports of oob_tcp_port {first}-{last} are in use; name a longer range"))
}

fn listen(address: SocketAddr) -> Result<(OwnedFd, SocketAddr), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    // A port that was named is free as soon as nobody listens there, whatever is left of connections that ended.
    sockopt::set_socket_reuseaddr(&socket, address.port() != 0)?;
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    let bound: SocketAddrAny = rustix::net::getsockname(&socket)?;
    Ok((socket, SocketAddr::try_from(bound)?))
}

/// Callers that may be in the middle of proving who they are.
const CROWD: usize = if cfg!(test) { 8 } else { 1024 };
const BACKLOG: i32 = 1024;
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Strangers of whom something is said.
const SAID: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use orte_core::oob::Calling;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn pump(door: &mut Door) -> Vec<Guest> {
        let mut polls = Vec::new();
        let interests = door.interests(&mut polls);
        rustix::event::poll(&mut polls, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 })).unwrap();
        let ready: Vec<PollFlags> = polls.iter().map(PollFd::revents).collect();
        drop(polls);
        door.pump(&interests, &ready, |_| 0)
    }

    #[test]
    fn a_crowd_that_says_nothing_keeps_no_daemon_out() {
        let chosen = Chosen::of_machine("lo", "").unwrap();
        let (mut door, addresses) = Door::open([3; 32], &chosen, (0, 0)).map_err(|refusal| refusal.sentence).unwrap();
        let crowd: Vec<TcpStream> = (0..5 * CROWD).map(|_| TcpStream::connect(addresses[0]).unwrap()).collect();
        let mut daemon = TcpStream::connect(addresses[0]).unwrap();
        let mut calling = Calling::new([3; 32], 7, [1; 32]);
        daemon.write_all(calling.call()).unwrap();
        daemon.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        let guest = loop {
            assert!(Instant::now() < end, "the daemon is kept out");
            if let Some(guest) = pump(&mut door).pop() {
                break guest;
            }
            assert!(door.callers.len() <= CROWD);
            let mut bytes = [0; 256];
            let Ok(read) = daemon.read(&mut bytes) else { continue };
            if let Ok(Step::Trusted { send, .. }) = calling.push(&bytes[..read]) {
                daemon.write_all(&send).unwrap();
            }
        };
        assert_eq!(guest.node, 7);
        drop(crowd);
    }
}
