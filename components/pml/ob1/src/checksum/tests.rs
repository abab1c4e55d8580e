//! Two ends of a wire that damages, loses, repeats, reorders and refuses: all arrives, once and in order.

use super::frame::{BYTES, Frame, Kind};
use super::incoming::{Arrived, Incoming};
use super::outgoing::{BYTES_MOST, Content, FRAMES_MOST, Medium, Outgoing, ROUNDS_MOST};
use core::cell::RefCell;
use opal_core::framework::btl::Full;
use opal_core::random::Random;
use std::vec;
use std::vec::Vec;

struct Wire {
    room: usize,
    under_way: RefCell<Vec<(u64, Vec<u8>)>>,
    random: RefCell<Random>,
    faults: u64,
}

impl Wire {
    /// With room for a few frames.
    fn new(seed: u64, faults: u64) -> Wire {
        Wire { room: 64, under_way: RefCell::default(), random: RefCell::new(Random::new(seed)), faults }
    }

    /// Without faults, and with room for all.
    fn endless() -> Wire {
        Wire { room: usize::MAX, ..Wire::new(1, 0) }
    }

    fn next_is_message(&self) -> Option<bool> {
        self.under_way.borrow().first().map(|(_, frame)| frame.len() > BYTES)
    }

    fn next(&self) -> Option<(u64, Vec<u8>)> {
        let mut under_way = self.under_way.borrow_mut();
        (!under_way.is_empty()).then(|| under_way.remove(0))
    }
}

impl Medium for Wire {
    fn carry(&self, immediate: u64, frame: &[u8]) -> Result<(), Full> {
        let (mut random, mut under_way) = (self.random.borrow_mut(), self.under_way.borrow_mut());
        if under_way.len() >= self.room || random.happens(self.faults, 100) {
            return Err(Full);
        }
        if random.happens(self.faults, 100) {
            return Ok(());
        }
        let mut frame = (immediate, frame.to_vec());
        if random.happens(self.faults, 100) {
            let bit = random.below(64 + 8 * frame.1.len() as u64) as usize;
            match bit.checked_sub(64) {
                None => frame.0 ^= 1 << bit,
                Some(bit) => frame.1[bit / 8] ^= 1 << (bit % 8),
            }
        }
        if random.happens(self.faults, 100) {
            under_way.push(frame.clone());
        }
        let place = if random.happens(self.faults, 100) {
            random.below(under_way.len() as u64 + 1) as usize
        } else {
            under_way.len()
        };
        under_way.insert(place, frame);
        Ok(())
    }
}

/// One end: what it sends on one channel, and what arrives on it.
struct End {
    outgoing: Outgoing,
    incoming: Incoming,
    arrived: Vec<(u64, Vec<u8>)>,
    damaged: usize,
}

impl End {
    fn new() -> End {
        End { outgoing: Outgoing::new(0), incoming: Incoming::default(), arrived: vec![], damaged: 0 }
    }

    fn send(&mut self, immediate: u64, payload: &[u8], to: &Wire, now_ns: u64) -> bool {
        if self.outgoing.is_full() {
            return false;
        }
        let mut fill = |place: *mut u8| crate::raw::frame::copy_frame(place, payload);
        let message = Content { am: 4, immediate, bytes: payload.len(), fill: &mut fill };
        self.outgoing.push(message, self.incoming.expected(), vec![], to, now_ns);
        self.incoming.told(Kind::Data);
        true
    }

    fn take(&mut self, from: &Wire, now_ns: u64) {
        let Some((immediate, bytes)) = from.next() else { return };
        let Some(frame) = Frame::check(immediate, &bytes) else {
            self.damaged += 1;
            return self.incoming.repeat(now_ns);
        };
        self.outgoing.acknowledge(frame.expected, &mut drop, now_ns);
        if frame.kind == Kind::Repeat {
            self.outgoing.repeat(frame.round);
        }
        if self.incoming.arrived(frame, bytes.len(), now_ns) == Arrived::Next {
            self.arrived.push((immediate, bytes[BYTES..].to_vec()));
        }
    }

    fn pass(&mut self, to: &Wire, now_ns: u64) {
        self.outgoing.flush(to);
        let (expected, round) = (self.incoming.expected(), self.incoming.round());
        let tell = |header: Frame| {
            let mut frame = [0; BYTES];
            header.seal(0, &mut frame);
            to.carry(0, &frame).is_ok()
        };
        if self.outgoing.is_probe_due(now_ns) && tell(Frame { expected, ..self.outgoing.probe() }) {
            self.outgoing.probed(now_ns);
        }
        if let Some(kind) = self.incoming.due(now_ns)
            && tell(Frame { kind, am: 0, channel: 0, round, number: 0, expected })
        {
            self.incoming.told(kind);
        }
        assert!(!self.outgoing.is_lost(), "given up");
    }
}

fn payload(random: &mut Random) -> (u64, Vec<u8>) {
    let bytes = (0..random.below(200)).map(|_| random.below(256) as u8).collect();
    (random.below(1 << 54), bytes)
}

/// Contents both ways over wires with so many faults in a hundred; returns how many arrived damaged.
fn run(seed: u64, messages: usize, faults: u64) -> usize {
    let mut random = Random::new(seed);
    let wires = [Wire::new(seed ^ 1 << 60, faults), Wire::new(seed ^ 2 << 60, faults)];
    let mut ends = [End::new(), End::new()];
    let sent: [Vec<_>; 2] = [0, 1].map(|_| (0..messages).map(|_| payload(&mut random)).collect());
    let (mut next, mut now_ns) = ([0, 0], 0);
    for step in 0.. {
        let side = random.below(2) as usize;
        now_ns += random.below(100_000);
        match random.below(4) {
            0 if next[side] < messages => {
                let (immediate, bytes) = &sent[side][next[side]];
                next[side] += usize::from(ends[side].send(*immediate, bytes, &wires[side], now_ns));
            }
            0 | 1 => ends[side].pass(&wires[side], now_ns),
            _ => ends[side].take(&wires[1 - side], now_ns),
        }
        let is_over = ends.iter().all(|end| end.outgoing.is_empty()) && next == [messages; 2];
        for (side, end) in ends.iter().enumerate() {
            let expected = &sent[1 - side];
            assert!(end.arrived.len() <= messages, "seed {seed}: a message came twice");
            assert!(
                end.arrived.last() == end.arrived.len().checked_sub(1).map(|last| &expected[last]),
                "seed {seed}, step {step}"
            );
        }
        if is_over {
            break;
        }
        assert!(step < 40_000_000, "seed {seed}: never ends");
    }
    assert!(ends[0].arrived == sent[1] && ends[1].arrived == sent[0], "seed {seed}");
    ends[0].damaged + ends[1].damaged
}

#[test]
fn all_arrives_once_and_in_order() {
    let damaged: usize = (0..400).map(|seed| run(seed, 300, seed % 15)).sum();
    assert!(damaged > 1000, "only {damaged} were damaged");
}

#[test]
fn numbers_may_wrap() {
    let mut outgoing = Outgoing::starting_at(u32::MAX - 2);
    let mut incoming = Incoming::starting_at(u32::MAX - 2);
    let wire = Wire::new(7, 0);
    for byte in 0..6 {
        let mut fill = |place: *mut u8| crate::raw::frame::copy_frame(place, &[byte]);
        outgoing.push(Content { am: 0, immediate: 0, bytes: 1, fill: &mut fill }, 0, vec![], &wire, 0);
    }
    while let Some((immediate, bytes)) = wire.next() {
        let frame = Frame::check(immediate, &bytes).unwrap();
        assert_eq!(incoming.arrived(frame, bytes.len(), 0), Arrived::Next);
    }
    outgoing.acknowledge(incoming.expected(), &mut drop, 0);
    assert!(outgoing.is_empty());
}

/// Each of 10,000 frames with one bit changed, wherever it is, is refused.
#[test]
fn no_changed_bit_passes() {
    let mut random = Random::new(3);
    for round in 0..10_000 {
        let (immediate, bytes) = payload(&mut random);
        let mut frame = vec![0; BYTES];
        frame.extend(&bytes);
        Frame { kind: Kind::Data, am: 4, channel: 0, round: round as u8, number: round, expected: 9 }
            .seal(immediate, &mut frame);
        assert!(Frame::check(immediate, &frame).is_some());
        let bit = random.below(54 + 8 * frame.len() as u64) as usize;
        let changed = match bit.checked_sub(54) {
            None => Frame::check(immediate ^ 1 << bit, &frame),
            Some(bit) => {
                frame[bit / 8] ^= 1 << (bit % 8);
                Frame::check(immediate, &frame)
            }
        };
        assert_eq!(changed, None, "bit {bit} of frame {round}");
    }
}

#[test]
fn garbage_is_refused() {
    let mut random = Random::new(5);
    for length in 0..400 {
        let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        assert_eq!(Frame::check(random.below(1 << 54), &bytes), None, "{bytes:?}");
    }
    // A sum that matches makes no kind of what is none.
    let mut frame = [0; BYTES];
    frame[4] = 9;
    let sum = opal_core::mem::Crc32c::new().with(&[0; 8]).with(&frame[4..]).value();
    frame[..4].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(Frame::check(0, &frame), None);
}

#[test]
fn what_a_sender_keeps_is_bounded_and_a_broken_path_given_up() {
    let (mut end, wire) = (End::new(), Wire::endless());
    assert_eq!((0..2 * FRAMES_MOST).filter(|_| end.send(0, &[1; 8], &wire, 0)).count(), FRAMES_MOST);
    let mut end = End::new();
    let taken = (0..FRAMES_MOST).filter(|_| end.send(0, &[1; 64 << 10], &wire, 0)).count();
    assert_eq!(taken, BYTES_MOST.div_ceil((64 << 10) + BYTES));
    for round in 0..ROUNDS_MOST {
        assert!(!end.outgoing.is_lost(), "after {round} rounds");
        end.outgoing.repeat(round as u8);
        end.outgoing.flush(&wire);
    }
    assert!(end.outgoing.is_lost());
}

/// Sends more over a wire that takes 20 ms for each message, until all has come; returns how many messages it carried, and how much else.
fn over_a_slow_wire(sender: &mut End, there: &Wire, more: usize) -> (usize, usize) {
    let (mut receiver, back) = (End::new(), Wire::endless());
    let frames = sender.outgoing.kept() + more;
    let (mut sent, mut messages, mut others) = (0, 0, 0);
    for millisecond in 0..200_000_u64 {
        let now_ns = millisecond * 1_000_000;
        while sent < more && sender.send(0, &[1; 1000], there, now_ns) {
            sent += 1;
        }
        sender.pass(there, now_ns);
        let mut has_room = millisecond % 20 == 0;
        while let Some(is_message) = there.next_is_message()
            && (!is_message || core::mem::take(&mut has_room))
        {
            *if is_message { &mut messages } else { &mut others } += 1;
            receiver.take(there, now_ns);
        }
        receiver.pass(&back, now_ns);
        let answers = back.under_way.borrow().len();
        (0..answers).for_each(|_| sender.take(&back, now_ns));
    }
    assert_eq!((receiver.arrived.len(), sender.outgoing.is_empty()), (frames, true));
    (messages, others)
}

/// It holds what is sent for longer than until the next probe.
#[test]
fn nothing_goes_twice_over_a_slow_wire() {
    let (messages, probes) = over_a_slow_wire(&mut End::new(), &Wire::endless(), 1000);
    assert!(messages == 1000 && probes < 100, "{messages} messages and {probes} probes");
}

/// Of what was lost on such a wire, each frame behind it says so, and all of it goes again once.
#[test]
fn what_a_slow_wire_lost_goes_again_once() {
    let (mut sender, wire) = (End::new(), Wire::endless());
    assert!(sender.send(0, &[1; 1000], &wire, 0));
    wire.next();
    (1..200).for_each(|_| assert!(sender.send(0, &[1; 1000], &wire, 0)));
    let (messages, probes) = over_a_slow_wire(&mut sender, &wire, 0);
    assert!(messages == 199 + 200 && probes < 50, "{messages} messages and {probes} probes");
}

/// What the peer says of messages that were never sent is not believed.
#[test]
fn hostile_acknowledgements_change_nothing() {
    let (mut end, wire) = (End::new(), Wire::new(1, 0));
    (0..5).for_each(|_| assert!(end.send(0, &[1; 8], &wire, 0)));
    for number in [6, 7, 1 << 31, u32::MAX] {
        end.outgoing.acknowledge(number, &mut |_| panic!("{number} is believed"), 0);
    }
    end.outgoing.acknowledge(5, &mut drop, 0);
    assert!(end.outgoing.is_empty());
}
