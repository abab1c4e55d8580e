//! The receiving side of one connection. Short messages are read into a buffer, many at once; the payload of a long one
//! is read straight to its place, if its handler knows one (`btl::Placement`).

use crate::frames::{Frame, Frames};
use crate::record::Opener;
use crate::socket;
use crate::wire::{self, ACK, HEADER_BYTES};
use alloc::boxed::Box;
use alloc::sync::Arc;
use opal_core::framework::btl::{self, AmId, PREFIX_BYTES_MAX, Placement, RxPayload};
use opal_core::mem::Untrusted;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// What arrives on a connection in force.
pub struct Rx {
    /// `None` between two sockets.
    socket: Option<Arc<OwnedFd>>,
    frames: Frames,
    // Where the connection is protected.
    opener: Option<Box<Opener>>,
    is_forged: bool,
    /// The sender.
    pub peer: u32,
    // Nothing more will come on this socket. The system gives a reason only once.
    end: Option<Option<Errno>>,
    arriving: Option<PlacedPayload>,
    // Bytes of the stream that have come, and how many of them the peer was told of.
    received: u64,
    told: u64,
    // What the peer has of this process, if it said so since.
    acknowledged: Option<u64>,
    // Of sockets whose bytes were not what the peer sent.
    forgeries: u32,
    // How much to read when nothing says how much comes: little while long messages come, which are not to be copied.
    readahead: usize,
}

/// A payload that is read straight to its place, and of which a part has come.
struct PlacedPayload {
    placement: &'static Placement,
    immediate: u64,
    prefix: [u8; PREFIX_BYTES_MAX],
    bytes: usize,
    done: usize,
    // Its place is gone: the rest is dropped.
    lost: bool,
}

/// How a read from a socket went.
pub enum Read {
    /// There may be more.
    More,
    /// It is empty, or the next read finds what came since.
    Empty,
    /// The connection is over.
    Ended(Option<Errno>),
}

/// What became of the bytes that were read.
pub enum RxEvent {
    /// A whole message is in the buffer.
    Frame(Frame),
    /// A long payload is complete in its place.
    Placed,
    /// Nothing is complete.
    Incomplete,
    /// They follow no format.
    Malformed,
    /// They are not what the peer sent.
    Forged,
}

impl Rx {
    /// Nothing came yet.
    pub fn new(socket: Arc<OwnedFd>, peer: u32, opener: Option<Box<Opener>>) -> Rx {
        let (frames, readahead) = (Frames::new(), READAHEAD_BYTES);
        let (received, told, acknowledged, forgeries) = (0, 0, None, 0);
        let socket = Some(socket);
        Rx {
            socket,
            frames,
            opener,
            is_forged: false,
            peer,
            end: None,
            arriving: None,
            received,
            told,
            acknowledged,
            forgeries,
            readahead,
        }
    }

    /// Nothing comes until [`Rx::carry_on`].
    pub fn suspend(&mut self) {
        (self.socket, self.opener, self.is_forged, self.end) = (None, None, false, None);
    }

    /// The stream goes on where it was, on this socket.
    pub fn carry_on(&mut self, socket: Arc<OwnedFd>, opener: Option<Box<Opener>>) {
        (self.socket, self.opener, self.is_forged, self.end) = (Some(socket), opener, false, None);
        // The peer learned it in the handshake.
        self.told = self.received;
    }

    /// Bytes of the stream that have come and that the peer need not send again.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// What the peer is to be told of, if it is time.
    #[inline]
    pub fn acknowledgement(&mut self) -> Option<u64> {
        if self.received - self.told < ACK_BYTES {
            return None;
        }
        self.told = self.received;
        Some(self.received)
    }

    /// What the peer said that it has, once.
    #[inline]
    pub fn take_acknowledged(&mut self) -> Option<u64> {
        self.acknowledged.take()
    }

    /// Whether one of the two is due: an acknowledgement to the peer, or one of the peer to be noted.
    #[inline]
    pub fn has_acknowledgements(&self) -> bool {
        self.acknowledged.is_some() || self.received - self.told >= ACK_BYTES
    }

    /// One more socket brought what the peer did not send; returns how many so far.
    pub fn count_forgery(&mut self) -> u32 {
        self.forgeries += 1;
        self.forgeries
    }

    /// Reads once.
    pub fn read(&mut self) -> Read {
        if let Some(errno) = self.end {
            return Read::Ended(errno);
        }
        let read = self.read_socket();
        if let Read::Ended(errno) = read {
            self.end = Some(errno);
        }
        read
    }

    /// Whether nothing more will come on this socket; the next poll of all sockets reports it.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    fn read_socket(&mut self) -> Read {
        if self.arriving.is_none() {
            self.begin();
        }
        if self.opener.is_some() {
            return self.read_records();
        }
        if self.arriving.as_ref().is_some_and(|payload| !payload.lost)
            && let Some(read) = self.read_to_its_place()
        {
            return read;
        }
        let Some(socket) = &self.socket else { return Read::Empty };
        let room = self.frames.room(self.readahead);
        let wanted = room.len();
        match socket::receive(socket, room) {
            Ok(None) => Read::Empty,
            Ok(Some(0)) => Read::Ended(None),
            Ok(Some(bytes)) => {
                self.frames.filled(bytes);
                self.received += bytes as u64;
                if bytes < wanted {
                    return Read::Empty;
                }
                self.readahead = (2 * self.readahead).min(READAHEAD_BYTES_MAX);
                Read::More
            }
            Err(errno) => Read::Ended(Some(errno)),
        }
    }

    /// What is complete now. A frame stays until [`Rx::advance`].
    #[inline]
    pub fn next(&mut self) -> RxEvent {
        if self.arriving.is_some() {
            return if self.absorb() { RxEvent::Placed } else { self.incomplete() };
        }
        loop {
            return match self.frames.peek() {
                Ok(Some(frame)) if frame.kind == ACK => {
                    self.acknowledged = Some(frame.immediate);
                    self.frames.advance(&frame);
                    continue;
                }
                Ok(Some(frame)) => RxEvent::Frame(frame),
                Ok(None) => self.incomplete(),
                Err(_) => RxEvent::Malformed,
            };
        }
    }

    /// A frame's payload.
    #[inline]
    pub fn payload(&self, frame: &Frame) -> &[u8] {
        self.frames.payload(frame)
    }

    /// Takes a frame.
    #[inline]
    pub fn advance(&mut self, frame: &Frame) {
        self.frames.advance(frame);
    }

    /// Calls the handler of a frame and takes it.
    #[inline]
    pub fn deliver(&mut self, frame: &Frame) {
        btl::deliver(frame.kind, self.peer, frame.immediate, Untrusted::of(self.frames.payload(frame)));
        self.frames.advance(frame);
    }

    /// Whether what is next is no message, because the peer says that it leaves.
    #[cold]
    pub fn is_leave(&self) -> bool {
        self.frames.rest().starts_with(&wire::leave())
    }

    /// Whether a long payload is on its way to its place: the message after it cannot be seen yet.
    pub fn is_placing(&self) -> bool {
        self.arriving.is_some()
    }

    /// Reads once where the connection is protected: what is proved goes to the frames, and from there to its place.
    fn read_records(&mut self) -> Read {
        let Rx { socket: Some(socket), frames, opener: Some(opener), is_forged, received, .. } = self else {
            return Read::Empty;
        };
        if *is_forged {
            return Read::Empty;
        }
        let room = opener.room();
        let wanted = room.len();
        let read = match socket::receive(socket, room) {
            Ok(None) => return Read::Empty,
            Ok(Some(0)) => return Read::Ended(None),
            Ok(Some(bytes)) => bytes,
            Err(errno) => return Read::Ended(Some(errno)),
        };
        opener.filled(read);
        loop {
            match opener.open() {
                Ok(Some(body)) => {
                    *received += body.len() as u64;
                    frames.push(opener.body(body));
                }
                Ok(None) => break,
                Err(_) => {
                    *is_forged = true;
                    break;
                }
            }
        }
        if read == wanted { Read::More } else { Read::Empty }
    }

    #[inline]
    fn incomplete(&self) -> RxEvent {
        if self.is_forged { RxEvent::Forged } else { RxEvent::Incomplete }
    }

    /// If a long payload has begun and its handler has a place for it, the rest goes there.
    fn begin(&mut self) {
        let Some((header, begin)) = self.frames.begun() else { return };
        let Some(placement) = btl::placement(header.kind as AmId) else { return };
        let there = begin.len();
        if there < placement.prefix_bytes || header.bytes - there < WORTH_BYTES {
            return;
        }
        let mut prefix = [0; PREFIX_BYTES_MAX];
        prefix[..placement.prefix_bytes].copy_from_slice(&begin[..placement.prefix_bytes]);
        let bytes = header.bytes - placement.prefix_bytes;
        let payload = PlacedPayload { placement, immediate: header.immediate, prefix, bytes, done: 0, lost: false };
        if !payload.with_place(self.peer, |_| ()) {
            return;
        }
        self.frames.skip(HEADER_BYTES + header.pad + placement.prefix_bytes);
        self.arriving = Some(payload);
        self.absorb();
    }

    /// Takes from the buffer what belongs to the long payload; returns whether it is complete.
    fn absorb(&mut self) -> bool {
        let Some(payload) = &mut self.arriving else { return false };
        let there = self.frames.rest();
        let bytes = there.len().min(payload.bytes - payload.done);
        if bytes > 0 {
            payload.lost =
                payload.lost || !payload.with_place(self.peer, |place| place[..bytes].copy_from_slice(&there[..bytes]));
            payload.done += bytes;
            self.frames.skip(bytes);
        }
        if payload.done < payload.bytes {
            return false;
        }
        if !payload.lost {
            (payload.placement.placed)(payload.arriving(self.peer));
        }
        self.arriving = None;
        self.readahead = READAHEAD_BYTES_MIN;
        true
    }

    /// Reads the rest of the long payload to its place, and the beginning of what follows to the buffer. `None` if the
    /// place is gone.
    fn read_to_its_place(&mut self) -> Option<Read> {
        let Rx { socket: Some(socket), frames, arriving: Some(payload), peer, received, .. } = self else {
            return Some(Read::Empty);
        };
        // All that was read has been absorbed.
        debug_assert!(frames.rest().is_empty());
        let missing = payload.bytes - payload.done;
        let behind = frames.room(READAHEAD_BYTES_MIN);
        let wanted = missing + behind.len();
        let mut got = Ok(None);
        if !payload.with_place(*peer, |place| got = socket::receive_both(socket, place, behind)) {
            payload.lost = true;
            return None;
        }
        Some(match got {
            Ok(None) => Read::Empty,
            Ok(Some(0)) => Read::Ended(None),
            Ok(Some(bytes)) => {
                let placed = bytes.min(missing);
                payload.done += placed;
                *received += bytes as u64;
                frames.filled(bytes - placed);
                if bytes == wanted { Read::More } else { Read::Empty }
            }
            Err(errno) => Read::Ended(Some(errno)),
        })
    }
}

impl PlacedPayload {
    fn arriving(&self, peer: u32) -> RxPayload<'_> {
        let prefix = &self.prefix[..self.placement.prefix_bytes];
        RxPayload { peer, immediate: self.immediate, prefix, bytes: self.bytes, done: self.done }
    }

    /// Calls `take` with the place of all that is missing. `false`, without the call, if the place is gone.
    fn with_place(&self, peer: u32, take: impl FnOnce(&mut [u8])) -> bool {
        let (mut take, missing) = (Some(take), self.bytes - self.done);
        (self.placement.place)(self.arriving(peer), &mut |place| {
            assert_eq!(place.len(), missing);
            if let Some(take) = take.take() {
                take(place);
            }
        })
    }
}

/// After so many bytes the peer is told that they are here. The longest frame and this fit into what may be sent unacknowledged
/// (`params::UNACKNOWLEDGED_LEAST`).
pub const ACK_BYTES: u64 = 256 << 10;
const READAHEAD_BYTES: usize = 16 << 10;
const READAHEAD_BYTES_MIN: usize = 4 << 10;
const READAHEAD_BYTES_MAX: usize = 128 << 10;
/// So much must be missing to be worth a system call of its own.
const WORTH_BYTES: usize = 4 << 10;
