//! The messages between mpirun and its keeper while the job runs: one packet each over a SOCK_SEQPACKET socket.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use std::collections::VecDeque;
use std::io::{ErrorKind, Result};
use std::mem::MaybeUninit;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Keeper: this rank runs as this process; with the read ends of its standard output and error, with
    /// `--stdin all` the write end of its standard input, and the read end of the pipe that is to become its standard output.
    Started(u32, u32),
    /// Keeper: this rank could not be started, for this errno; no further ones are.
    NotStarted(u32, u32),
    /// Keeper: this rank ended with this wait status.
    Ended(u32, u32),
    /// mpirun: send this signal to every rank (0) or to every process below the keeper (1).
    Signal(u32, u32),
    /// mpirun: send this rank SIGPIPE, because nobody reads what it writes. Keeper: that is done.
    Unread(u32),
    /// mpirun: send this rank this signal, because it is to end while others go on.
    End(u32, u32),
    /// mpirun: kill whatever still runs below the keeper, then end.
    Finish,
}

/// What arrived.
#[derive(Debug)]
pub enum Received {
    /// A message with its descriptors.
    Message(Message, Vec<OwnedFd>),
    /// The other side is dead.
    Closed,
    /// Nothing now.
    Nothing,
}

/// Sends a message with at most four descriptors; waits while the other side is behind.
pub fn send(socket: &OwnedFd, message: Message, descriptors: &[BorrowedFd<'_>]) -> Result<()> {
    put(socket, message, descriptors, SendFlags::NOSIGNAL)
}

/// Messages for a process that may be stopped: what its socket has no room for is sent later, in the same order.
#[derive(Debug, Default)]
pub struct Outbox {
    waiting: VecDeque<Message>,
}

impl Outbox {
    /// Sends a message, now or in a later [`Outbox::flush`].
    pub fn tell(&mut self, socket: &OwnedFd, message: Message) {
        self.waiting.push_back(message);
        self.flush(socket);
    }

    /// Sends what there is room for. A dead process is noticed by its closed end.
    pub fn flush(&mut self, socket: &OwnedFd) {
        while let Some(message) = self.waiting.front() {
            match send_now(socket, *message) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                _ => _ = self.waiting.pop_front(),
            }
        }
    }
}

/// Sends a message if there is room for it.
fn send_now(socket: &OwnedFd, message: Message) -> Result<()> {
    put(socket, message, &[], SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
}

fn put(socket: &OwnedFd, message: Message, descriptors: &[BorrowedFd<'_>], flags: SendFlags) -> Result<()> {
    let bytes = encode(message);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(descriptors)), "at most four descriptors");
    }
    loop {
        match rustix::net::sendmsg(socket, &[IoSlice::new(&bytes)], &mut ancillary, flags) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Takes the next sentence if there is one.
pub fn receive(socket: &OwnedFd) -> Result<Received> {
    let mut bytes = [0; BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = loop {
        match rustix::net::recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags) {
            Ok(received) => break received.bytes,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(Received::Nothing),
            Err(Errno::CONNRESET) => return Ok(Received::Closed),
            Err(errno) => return Err(errno.into()),
        }
    };
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    if received == 0 {
        return Ok(Received::Closed);
    }
    match decode(&bytes[..received]) {
        Some(message) => Ok(Received::Message(message, descriptors)),
        None => Err(std::io::Error::other("a packet between mpirun and its keeper is malformed")),
    }
}

/// As one packet.
pub fn encode(message: Message) -> [u8; BYTES] {
    let (kind, first, second) = match message {
        Message::Started(rank, pid) => (1, rank, pid),
        Message::NotStarted(rank, errno) => (2, rank, errno),
        Message::Ended(rank, status) => (3, rank, status),
        Message::Signal(signal, all) => (4, signal, all),
        Message::Finish => (5, 0, 0),
        Message::Unread(rank) => (6, rank, 0),
        Message::End(rank, signal) => (7, rank, signal),
    };
    let mut bytes = [0; BYTES];
    for (field, value) in bytes.chunks_exact_mut(4).zip([kind, first, second]) {
        field.copy_from_slice(&u32::to_le_bytes(value));
    }
    bytes
}

/// A packet of the other side's; `None` if it follows no format.
pub fn decode(bytes: &[u8]) -> Option<Message> {
    let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
    let mut fields = bytes.chunks_exact(4).map(|field| u32::from_le_bytes([field[0], field[1], field[2], field[3]]));
    let (kind, first, second) = (fields.next()?, fields.next()?, fields.next()?);
    match kind {
        1 => Some(Message::Started(first, second)),
        2 => Some(Message::NotStarted(first, second)),
        3 => Some(Message::Ended(first, second)),
        4 => Some(Message::Signal(first, second)),
        5 => Some(Message::Finish),
        6 => Some(Message::Unread(first)),
        7 => Some(Message::End(first, second)),
        _ => None,
    }
}

const BYTES: usize = 12;
/// Descriptors of one message.
const MOST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_full_socket_does_not_take_is_sent_later() {
        use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let mut outbox = Outbox::default();
        (0..5000).for_each(|number| outbox.tell(&ours, Message::Signal(number, 0)));
        assert!(!outbox.waiting.is_empty(), "the socket took everything");
        let mut next = 0;
        while next < 5000 {
            match receive(&theirs).unwrap() {
                Received::Message(message, _) => {
                    assert_eq!(message, Message::Signal(next, 0));
                    next += 1;
                }
                Received::Nothing => outbox.flush(&ours),
                Received::Closed => panic!("closed after {next}"),
            }
        }
        drop(theirs);
        outbox.tell(&ours, Message::Finish);
        assert!(outbox.waiting.is_empty(), "nobody will ever take it");
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for message in [
            Message::Started(3, 4711),
            Message::NotStarted(0, 2),
            Message::Ended(1023, 0x8b),
            Message::Signal(15, 1),
            Message::Finish,
            Message::Unread(7),
            Message::End(3, 15),
        ] {
            assert_eq!(decode(&encode(message)), Some(message));
        }
        assert_eq!(decode(&[0; BYTES]), None);
        assert_eq!(decode(&encode(Message::Finish)[..11]), None);
    }
}
