//! How the ranks of a node get its segment: the first rank listens on an abstract socket with a random name, and sends the
//! descriptor to processes of the same user that know the job's secret.
//!
//! | bytes | what a rank says |
//! |---|---|
//! | 0–3 | its index on the node, little-endian |
//! | 4–35 | the job's secret |
//!
//! The answer is one byte, and the descriptor with it.

use super::job::Job;
use crate::segment::Control;
use crate::segment::mapping::{self, Mapping};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use opal_core::sys::random;
use opal_core::verbose;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, IoSlice, IoSliceMut, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen, recvmsg, send, sendmsg,
    socket_with, sockopt,
};

/// The socket of a node's first rank.
#[derive(Debug)]
pub struct Door {
    socket: OwnedFd,
    /// Its abstract name.
    pub name: [u8; 16],
}

impl Door {
    /// Others can knock from now on.
    pub fn open() -> Result<Door> {
        let (socket, name) = (socket()?, random()?);
        bind(&socket, &address(&name)?)?;
        listen(&socket, BACKLOG)?;
        Ok(Door { socket, name })
    }

    /// Gives the segment to each of the other `ranks` - 1 ranks of this node. All that knock are heard at once: a stranger gets
    /// nothing and delays nobody.
    pub fn hand_out(self, file: &OwnedFd, job: &Job, ranks: u32, deadline_ns: u64) -> core::result::Result<(), String> {
        let mut came = vec![false; ranks as usize];
        came[0] = true;
        let mut knocking: Vec<Knocking> = Vec::new();
        while let Some(missing) = came.iter().position(|came| !came) {
            let late = |errno| match errno {
                Errno::TIMEDOUT => {
                    format!("the rank with index {missing} on this node did not ask for the shared memory")
                }
                errno => format!("cannot hand out the shared memory ({errno})"),
            };
            let (calls, speak) = self.wait(&knocking, deadline_ns).map_err(late)?;
            let now_ns = opal_core::sys::monotonic_ns();
            let mut silent = Vec::with_capacity(knocking.len());
            for (peer, speaks) in knocking.into_iter().zip(speak) {
                match speaks {
                    // A silent stranger is let go.
                    false if now_ns >= peer.until_ns => stranger(),
                    false => silent.push(peer),
                    true => match admit(&peer.socket, job) {
                        Ok(index) if came.get(index as usize) == Some(&false) => {
                            pass(&peer.socket, file).map_err(late)?;
                            came[index as usize] = true;
                        }
                        _ => stranger(),
                    },
                }
            }
            knocking = silent;
            if calls {
                let socket = accept_with(&self.socket, SocketFlags::CLOEXEC).map_err(late)?;
                match check_user(&socket) {
                    Ok(()) => knocking.push(Knocking { socket, until_ns: now_ns.saturating_add(STRANGER_NS) }),
                    Err(_) => stranger(),
                }
            }
        }
        Ok(())
    }

    /// Until somebody knocks or says something, or a stranger has been silent for too long: whether somebody knocks, and which of
    /// those that have knocked speak.
    fn wait(&self, knocking: &[Knocking], deadline_ns: u64) -> Result<(bool, Vec<bool>)> {
        loop {
            let now_ns = opal_core::sys::monotonic_ns();
            if now_ns >= deadline_ns {
                return Err(Errno::TIMEDOUT);
            }
            let until_ns = knocking.iter().map(|peer| peer.until_ns).fold(deadline_ns, u64::min);
            let limit = timespec(until_ns.saturating_sub(now_ns));
            let mut polls: Vec<PollFd<'_>> =
                knocking.iter().map(|peer| PollFd::new(&peer.socket, PollFlags::IN)).collect();
            if knocking.len() < CROWD {
                polls.push(PollFd::new(&self.socket, PollFlags::IN));
            }
            match poll(&mut polls, Some(&limit)) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            let mut ready: Vec<bool> = polls.iter().map(|poll| !poll.revents().is_empty()).collect();
            let calls = ready.get(knocking.len()) == Some(&true);
            ready.truncate(knocking.len());
            return Ok((calls, ready));
        }
    }
}

/// Somebody of this user who has not said who it is.
#[derive(Debug)]
struct Knocking {
    socket: OwnedFd,
    until_ns: u64,
}

/// The index of a rank of this job. What it says has come.
fn admit(peer: &OwnedFd, job: &Job) -> Result<u32> {
    let mut said = [0; 4 + 32];
    // Packets come whole or not at all.
    let (read, _) = rustix::net::recv(peer, &mut said[..], RecvFlags::DONTWAIT)?;
    let (index, secret) = said.split_at(4);
    // Every byte is looked at: how long it takes tells nothing.
    let differing = secret.iter().zip(&job.secret).fold(0, |all, (left, right)| all | (left ^ right));
    match read == said.len() && differing == 0 {
        true => Ok(u32::from_le_bytes([index[0], index[1], index[2], index[3]])),
        false => Err(Errno::ACCESS),
    }
}

fn stranger() {
    verbose!(crate::framework::ess::FRAMEWORK, 10, "a stranger asked for this node's shared memory");
}

/// Asks the node's first rank for the segment.
pub fn receive(
    name: &[u8; 16],
    job: &Job,
    local: u32,
    deadline_ns: u64,
) -> core::result::Result<(OwnedFd, Control<Mapping>), String> {
    let refused = |errno: Errno| match errno {
        Errno::TIMEDOUT => String::from("it did not answer in time"),
        Errno::CONNREFUSED => String::from(
            "it is on another machine or in another network namespace, or has ended; start ranks that the manager calls one node \
             in one namespace",
        ),
        errno => format!("the system refused ({errno})"),
    };
    let file = ask(name, job, local, deadline_ns).map_err(refused)?;
    let control = mapping::open(file.as_fd())?;
    Ok((file, control))
}

fn ask(name: &[u8; 16], job: &Job, local: u32, deadline_ns: u64) -> Result<OwnedFd> {
    let socket = socket()?;
    connect(&socket, &address(name)?)?;
    // Before the secret is said.
    check_user(&socket)?;
    let mut words = [0; 4 + 32];
    words[..4].copy_from_slice(&local.to_le_bytes());
    words[4..].copy_from_slice(&job.secret);
    send(&socket, &words, SendFlags::NOSIGNAL)?;
    await_bytes(socket.as_fd(), deadline_ns)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(&socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut files = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    files.next().and_then(|mut files| files.next()).ok_or(Errno::CONNRESET)
}

fn pass(peer: &OwnedFd, file: &OwnedFd) -> Result<()> {
    let files = [file.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&files));
    match sendmsg(peer, &[IoSlice::new(&[1])], &mut ancillary, SendFlags::NOSIGNAL) {
        // It died between question and answer: the manager that started it ends the job.
        Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
        other => other.map(drop),
    }
}

fn check_user(peer: &OwnedFd) -> Result<()> {
    match sockopt::socket_peercred(peer)?.uid == rustix::process::geteuid() {
        true => Ok(()),
        false => Err(Errno::ACCESS),
    }
}

/// `Err(TIMEDOUT)` if nothing came by then.
fn await_bytes(socket: BorrowedFd<'_>, deadline_ns: u64) -> Result<()> {
    loop {
        let left = deadline_ns.saturating_sub(opal_core::sys::monotonic_ns());
        if left == 0 {
            return Err(Errno::TIMEDOUT);
        }
        match poll(&mut [PollFd::from_borrowed_fd(socket, PollFlags::IN)], Some(&timespec(left))) {
            Ok(0) | Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ }
}

fn socket() -> Result<OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

fn address(name: &[u8; 16]) -> Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(name)
}

/// More ranks than that wait until the first ones were served.
const BACKLOG: i32 = 1024;
const STRANGER_NS: u64 = 1_000_000_000;
/// So many are heard at once; more wait.
const CROWD: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn soon() -> u64 {
        opal_core::sys::monotonic_ns() + 5_000_000_000
    }

    #[test]
    fn ranks_get_the_memory_and_strangers_do_not() {
        let job = Job { number: 7, secret: [3; 32] };
        let door = Door::open().unwrap();
        let name = door.name;
        let (file, control) = mapping::create(job.number, 3, &job.secret).unwrap();
        let first = thread::spawn(move || door.hand_out(&file, &job, 3, soon()));
        let stranger = Job { number: 7, secret: [4; 32] };
        assert!(receive(&name, &stranger, 1, soon()).is_err());
        assert!(receive(&name, &job, 3, soon()).is_err(), "an index that the node does not have");
        let (_file, second) = receive(&name, &job, 1, soon()).unwrap();
        assert!(receive(&name, &job, 1, soon()).is_err(), "twice the same index");
        let (_other, third) = receive(&name, &job, 2, soon()).unwrap();
        first.join().unwrap().unwrap();
        control.publish(0, b"first").unwrap();
        for other in [second, third] {
            assert_eq!(other.lookup(0, soon()).unwrap(), b"first");
            assert_eq!((other.layout().job, other.secret()), (7, [3; 32]));
        }
        // The socket is gone with its owner.
        assert!(receive(&name, &job, 1, soon()).unwrap_err().contains("has ended"));
    }

    #[test]
    fn silent_strangers_delay_nobody() {
        let job = Job { number: 7, secret: [3; 32] };
        let door = Door::open().unwrap();
        let name = door.name;
        let (file, _control) = mapping::create(job.number, 2, &job.secret).unwrap();
        let silent: Vec<OwnedFd> = (0..20).map(|_| socket().unwrap()).collect();
        silent.iter().for_each(|socket| connect(socket, &address(&name).unwrap()).unwrap());
        let first = thread::spawn(move || door.hand_out(&file, &job, 2, soon()));
        // One second each was more than the deadline.
        assert!(receive(&name, &job, 1, soon()).is_ok());
        first.join().unwrap().unwrap();
    }

    #[test]
    fn nobody_is_waited_for_longer_than_the_deadline() {
        let job = Job { number: 7, secret: [3; 32] };
        let (file, _control) = mapping::create(job.number, 2, &job.secret).unwrap();
        let door = Door::open().unwrap();
        let sentence = door.hand_out(&file, &job, 2, opal_core::sys::monotonic_ns() + 10_000_000).unwrap_err();
        assert!(sentence.contains("index 1 on this node"), "{sentence}");
    }
}
