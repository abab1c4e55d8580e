//! The transport of a channel, and what becomes of a channel whose transport no longer reaches the peer: another one carries its
//! frames. What is too long for that goes in pieces.
//!
//! A piece is a frame of kind PIECE: its number is where in the whole it begins, `expected` how long the whole is. A receiver puts
//! together what comes in order, and forgets it where anything is missing: the whole is asked for again as any frame is.

use super::frame::{BYTES, Frame, Kind};
use super::outgoing::Medium;
use crate::raw::frame::copy_frame;
use crate::wire;
use alloc::vec::Vec;
use core::cell::Cell;
use ompi_core::framework::bml::Path;
use opal_core::framework::btl::{AmId, Full};

/// What carries the frames of a channel.
pub struct ChannelPath {
    path: Path,
    channel: u8,
    // The header of the frame that goes in pieces, and how much of the frame has gone.
    begun: Cell<Option<([u8; BYTES], usize)>>,
}

impl ChannelPath {
    /// Of this channel.
    pub fn new(path: Path, channel: u8) -> ChannelPath {
        ChannelPath { path, channel, begun: Cell::new(None) }
    }

    /// Whether its transport has this wire id.
    pub fn is_by(&self, wire_id: u32) -> bool {
        self.path.module.caps().wire_id == wire_id
    }

    /// Takes another transport from now on.
    pub fn fail_over(&mut self, path: Path) {
        (self.path, self.begun) = (path, Cell::new(None));
    }

    fn carry_in_pieces(&self, immediate: u64, frame: &[u8], most: usize) -> Result<(), Full> {
        let header = *frame.first_chunk::<BYTES>().ok_or(Full)?;
        let begun = self.begun.get().filter(|(of, _)| *of == header);
        let mut start = begun.map_or(0, |(_, start)| start);
        while start < frame.len() {
            let end = frame.len().min(start + most - BYTES);
            let mut piece = Vec::with_capacity(BYTES + end - start);
            piece.resize(BYTES, 0);
            piece.extend_from_slice(&frame[start..end]);
            let (number, expected) = (start as u32, frame.len() as u32);
            let head = Frame { kind: Kind::Piece, am: 0, channel: self.channel, round: 0, number, expected };
            head.seal(immediate, &mut piece);
            self.begun.set(Some((header, start)));
            self.send(immediate, &piece)?;
            start = end;
        }
        self.begun.set(None);
        Ok(())
    }

    fn send(&self, immediate: u64, frame: &[u8]) -> Result<(), Full> {
        let Path { module, endpoint } = self.path;
        module.send(endpoint, KIND, immediate, frame.len(), &mut |place| copy_frame(place, frame))
    }
}

impl Medium for ChannelPath {
    fn carry(&self, immediate: u64, frame: &[u8]) -> Result<(), Full> {
        let most = self.path.module.caps().send_bytes;
        if frame.len() <= most { self.send(immediate, frame) } else { self.carry_in_pieces(immediate, frame, most) }
    }
}

/// Pieces of a frame that have come on a channel.
#[derive(Debug, Default)]
pub struct Pieces {
    bytes: Vec<u8>,
}

impl Pieces {
    /// The next one, of so long a whole: the whole, if that was the last.
    pub fn add(&mut self, start: usize, whole: usize, piece: &[u8]) -> Option<Vec<u8>> {
        if start == 0 {
            self.bytes.truncate(0);
        }
        if start != self.bytes.len() || start + piece.len() > whole || whole > WHOLE_MOST {
            self.bytes = Vec::new();
            return None;
        }
        self.bytes.extend_from_slice(piece);
        (self.bytes.len() == whole).then(|| core::mem::take(&mut self.bytes))
    }
}

const KIND: AmId = wire::CHECKED;
/// No transport carries more at once.
const WHOLE_MOST: usize = 2 << 20;

#[cfg(test)]
pub mod tests {
    use super::*;
    use opal_core::framework::btl::{Caps, Endpoint, Module, Peer, RemoteCaps};
    use std::boxed::Box;
    use std::sync::Mutex;
    use std::vec;

    /// Carries so much at once, and has room for so many more.
    pub struct Narrow {
        caps: Caps,
        pub room: Mutex<usize>,
        pub carried: Mutex<Vec<(u64, Vec<u8>)>>,
    }

    impl Narrow {
        pub fn new(send_bytes: usize, wire_id: u32) -> &'static Narrow {
            let caps = Caps {
                immediate_bits: 64,
                inline_bytes: 0,
                eager_bytes: send_bytes,
                send_bytes,
                latency_ns: 1,
                bandwidth_mbps: 1,
                exclusivity: 0,
                remote: RemoteCaps::NONE,
                wire_id,
            };
            Box::leak(Box::new(Narrow { caps, room: Mutex::new(0), carried: Mutex::default() }))
        }
    }

    impl Module for Narrow {
        fn caps(&self) -> &Caps {
            &self.caps
        }

        fn address(&self) -> Vec<u8> {
            Vec::new()
        }

        fn add_peer(&self, _peer: Peer<'_>) -> opal_core::Result<Option<Endpoint>> {
            Ok(None)
        }

        fn remove_peer(&self, _endpoint: Endpoint) {}

        fn send(
            &self,
            _to: Endpoint,
            _am: AmId,
            immediate: u64,
            bytes: usize,
            fill: &mut dyn FnMut(*mut u8),
        ) -> Result<(), Full> {
            let mut room = self.room.lock().unwrap();
            *room = room.checked_sub(1).ok_or(Full)?;
            let mut frame = vec![0; bytes];
            fill(frame.as_mut_ptr());
            self.carried.lock().unwrap().push((immediate, frame));
            Ok(())
        }

        fn poll(&self) -> usize {
            0
        }
    }

    fn whole(bytes: usize) -> Vec<u8> {
        let mut frame = vec![0; BYTES];
        frame.extend((0..bytes).map(|at| (at % 251) as u8));
        Frame { kind: Kind::Data, am: 4, channel: 3, round: 0, number: 9, expected: 2 }.seal(77, &mut frame);
        frame
    }

    #[test]
    fn what_is_too_long_goes_in_pieces_and_goes_on_where_there_was_no_room() {
        let narrow = Narrow::new(100, 7);
        let path = ChannelPath::new(Path { module: narrow, endpoint: Endpoint(0) }, 3);
        let frame = whole(1000);
        let mut calls = 0;
        loop {
            *narrow.room.lock().unwrap() = 2;
            calls += 1;
            assert!(calls < 100, "it never ends");
            if path.carry(77, &frame).is_ok() {
                break;
            }
        }
        assert_eq!(calls, 7, "of 13 pieces two went each time");
        let (mut pieces, mut come) = (Pieces::default(), None);
        for (immediate, piece) in narrow.carried.lock().unwrap().drain(..) {
            let head = Frame::check(immediate, &piece).expect("it is as it was");
            assert!(come.is_none() && head.kind == Kind::Piece && head.channel == 3 && piece.len() <= 100);
            come = pieces.add(head.number as usize, head.expected as usize, &piece[BYTES..]);
        }
        assert_eq!(come, Some(frame));
        *narrow.room.lock().unwrap() = 1;
        path.carry(77, &whole(84)).unwrap();
        assert_eq!(narrow.carried.lock().unwrap()[0].1, whole(84), "what fits goes as it is");
    }

    #[test]
    fn pieces_that_do_not_follow_each_other_make_nothing() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(0, 9, b"abc"), None);
        assert_eq!(pieces.add(6, 9, b"ghi"), None, "one is missing");
        assert_eq!(pieces.add(3, 9, b"def"), None, "what was there is forgotten");
        assert_eq!(pieces.add(0, 6, b"abc"), None);
        assert_eq!(pieces.add(0, 6, b"abc"), None, "it comes again");
        assert_eq!(pieces.add(3, 6, b"def").as_deref(), Some(&b"abcdef"[..]));
        assert_eq!(pieces.add(0, 2, b"abc"), None, "longer than its whole");
        assert_eq!(pieces.add(0, usize::MAX, b"abc"), None, "longer than anything");
    }
}
