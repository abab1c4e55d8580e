//! The receiving side of one connection. Short messages are read into a buffer, many at once; the payload of a long one
//! is read straight to where it belongs, if its handler knows (`btl::Placement`).

use crate::frames::{Frame, Frames};
use crate::socket;
use alloc::sync::Arc;
use opal_core::framework::btl::{self, AmId, PREFIX_BYTES_MAX, Placement, RxPayload};
use opal_core::mem::Untrusted;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// What arrives on a connection in force.
pub struct Inbound {
    socket: Arc<OwnedFd>,
    frames: Frames,
    /// Who sends it.
    pub peer: u32,
    /// Nothing more will come; the next look at all sockets tells.
    pub ended: bool,
    arriving: Option<Long>,
    // How much to read when nothing says how much comes: little while long messages come, which are not to be copied.
    ahead: usize,
}

/// A payload of which a part has come.
struct Long {
    landing: &'static Placement,
    immediate: u64,
    prefix: [u8; PREFIX_BYTES_MAX],
    bytes: usize,
    done: usize,
    // Its place is gone: the rest leads nowhere.
    lost: bool,
}

/// How a look at a socket went.
pub enum Read {
    /// There may be more.
    More,
    /// It is empty, or the next look finds what came since.
    Empty,
    /// The connection is over.
    Ended(Option<Errno>),
}

/// What became of the bytes that were read.
pub enum Next {
    /// A whole message is in the buffer.
    Frame(Frame),
    /// A long one is where it belongs.
    Landed,
    /// Nothing is complete.
    Nothing,
    /// They follow no format.
    Malformed,
}

impl Inbound {
    /// Nothing came yet.
    pub fn new(socket: Arc<OwnedFd>, peer: u32) -> Inbound {
        Inbound { socket, frames: Frames::new(), peer, ended: false, arriving: None, ahead: AHEAD_BYTES }
    }

    /// Reads once.
    pub fn read(&mut self) -> Read {
        if self.arriving.is_none() {
            self.begin();
        }
        if self.arriving.as_ref().is_some_and(|long| !long.lost)
            && let Some(read) = self.read_to_its_place()
        {
            return read;
        }
        let room = self.frames.room(self.ahead);
        let wanted = room.len();
        match socket::receive(&self.socket, room) {
            Ok(None) => Read::Empty,
            Ok(Some(0)) => Read::Ended(None),
            Ok(Some(bytes)) => {
                self.frames.filled(bytes);
                if bytes < wanted {
                    return Read::Empty;
                }
                self.ahead = (2 * self.ahead).min(AHEAD_BYTES_MAX);
                Read::More
            }
            Err(errno) => Read::Ended(Some(errno)),
        }
    }

    /// What is complete now. A frame stays until `advance`.
    #[inline]
    pub fn next(&mut self) -> Next {
        if self.arriving.is_some() {
            return if self.absorb() { Next::Landed } else { Next::Nothing };
        }
        match self.frames.peek() {
            Ok(Some(frame)) => Next::Frame(frame),
            Ok(None) => Next::Nothing,
            Err(_) => Next::Malformed,
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

    /// Hands a frame to its receiver and takes it.
    #[inline]
    pub fn deliver(&mut self, frame: &Frame) {
        btl::deliver(frame.kind, self.peer, frame.immediate, Untrusted::of(self.frames.payload(frame)));
        self.frames.advance(frame);
    }

    /// Whether a long message is on its way to its place: the one after it cannot be looked at.
    pub fn is_landing(&self) -> bool {
        self.arriving.is_some()
    }

    /// If a long message has begun and its handler has a place for it, the rest goes there.
    fn begin(&mut self) {
        let Some((header, payload)) = self.frames.begun() else { return };
        let Some(landing) = btl::landing(header.kind as AmId) else { return };
        let there = payload.len();
        if there < landing.prefix_bytes || header.bytes - there < WORTH_BYTES {
            return;
        }
        let mut prefix = [0; PREFIX_BYTES_MAX];
        prefix[..landing.prefix_bytes].copy_from_slice(&payload[..landing.prefix_bytes]);
        let bytes = header.bytes - landing.prefix_bytes;
        let long = Long { landing, immediate: header.immediate, prefix, bytes, done: 0, lost: false };
        if !long.with_place(self.peer, |_| ()) {
            return;
        }
        self.frames.skip(crate::wire::HEADER_BYTES + header.pad + landing.prefix_bytes);
        self.arriving = Some(long);
        self.absorb();
    }

    /// Takes from the buffer what belongs to the long message; whether it is complete.
    fn absorb(&mut self) -> bool {
        let Some(long) = &mut self.arriving else { return false };
        let there = self.frames.rest();
        let bytes = there.len().min(long.bytes - long.done);
        if bytes > 0 {
            long.lost =
                long.lost || !long.with_place(self.peer, |place| place[..bytes].copy_from_slice(&there[..bytes]));
            long.done += bytes;
            self.frames.skip(bytes);
        }
        if long.done < long.bytes {
            return false;
        }
        if !long.lost {
            (long.landing.landed)(long.arriving(self.peer));
        }
        self.arriving = None;
        self.ahead = AHEAD_BYTES_MIN;
        true
    }

    /// Reads the rest of the long message to its place, and the beginning of what follows to the buffer. `None` if the
    /// place is gone.
    fn read_to_its_place(&mut self) -> Option<Read> {
        let Inbound { socket, frames, arriving: Some(long), peer, .. } = self else { return None };
        // All that was read has been absorbed.
        debug_assert!(frames.rest().is_empty());
        let missing = long.bytes - long.done;
        let behind = frames.room(AHEAD_BYTES_MIN);
        let wanted = missing + behind.len();
        let mut got = Ok(None);
        if !long.with_place(*peer, |place| got = socket::receive_both(socket, place, behind)) {
            long.lost = true;
            return None;
        }
        Some(match got {
            Ok(None) => Read::Empty,
            Ok(Some(0)) => Read::Ended(None),
            Ok(Some(bytes)) => {
                let landed = bytes.min(missing);
                long.done += landed;
                frames.filled(bytes - landed);
                if bytes == wanted { Read::More } else { Read::Empty }
            }
            Err(errno) => Read::Ended(Some(errno)),
        })
    }
}

impl Long {
    fn arriving(&self, peer: u32) -> RxPayload<'_> {
        let prefix = &self.prefix[..self.landing.prefix_bytes];
        RxPayload { peer, immediate: self.immediate, prefix, bytes: self.bytes, done: self.done }
    }

    /// Calls `take` with the place of all that is missing; `false` without the call if there is none.
    fn with_place(&self, peer: u32, take: impl FnOnce(&mut [u8])) -> bool {
        let (mut take, missing) = (Some(take), self.bytes - self.done);
        (self.landing.place)(self.arriving(peer), &mut |place| {
            assert_eq!(place.len(), missing);
            if let Some(take) = take.take() {
                take(place);
            }
        })
    }
}

const AHEAD_BYTES: usize = 16 << 10;
const AHEAD_BYTES_MIN: usize = 4 << 10;
const AHEAD_BYTES_MAX: usize = 128 << 10;
/// As much as must be missing for a call of its own.
const WORTH_BYTES: usize = 4 << 10;
