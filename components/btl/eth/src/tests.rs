//! Two windows and a wire between them that loses, doubles, reorders and changes frames.

use crate::window::{Acknowledged, Arrival, FRAMES, Incoming, Message, Outgoing};
use crate::wire::{self, HEADER_BYTES, Header, Key};
use alloc::vec::Vec;
use opal_core::framework::netif::Mac;
use opal_core::random::Random;

opal_core::image![opal_core::framework::atomics, memcpy_portable];

const HEADER: Header = Header {
    from: 1,
    job: 0xfe,
    to: 2,
    number: 77,
    wanted: u32::MAX,
    am: Some(3),
    misses: true,
    bytes: 5,
    immediate: 0x0123_4567_89ab_cdef,
};

#[test]
fn headers_there_and_back() {
    let nothing = Header { am: None, bytes: 0, misses: false, ..HEADER };
    for header in [HEADER, nothing] {
        let frame = [&header.encode()[..], b"12345 and padding"].concat();
        let payload = &b"12345"[..usize::from(header.bytes)];
        assert_eq!(wire::parse(&frame), Some((header, payload)));
        assert!((0..HEADER_BYTES + payload.len()).all(|length| wire::parse(&frame[..length]).is_none()));
    }
    for wrong in [Header { am: Some(8), ..HEADER }, Header { am: None, ..HEADER }] {
        assert_eq!(wire::parse(&[&wrong.encode()[..], b"12345"].concat()), None);
    }
    let mut other = [&HEADER.encode()[..], b"12345"].concat();
    other[0] ^= 1;
    assert_eq!(wire::parse(&other), None);
}

#[test]
fn frames_that_were_not_made_with_the_secret() {
    let (key, card) = (Key::of_job(&[7; 32]), Mac([0x52, 0x54, 0, 1, 2, 3]));
    let mut head = HEADER.encode();
    key.seal(card, 5, &mut head, b"12345");
    let frame = [&head[..], b"12345 and padding"].concat();
    let made = |key: &Key, card, wraps, frame: &[u8]| {
        wire::parse(frame).is_some_and(|(_, payload)| key.made(card, wraps, frame, payload))
    };
    assert!(made(&key, card, 5, &frame));
    for bit in 0..8 * (HEADER_BYTES + 5) {
        let mut changed = frame.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(!made(&key, card, 5, &changed), "bit {bit}");
    }
    // Padding is nobody's.
    assert!(made(&key, card, 5, &frame[..HEADER_BYTES + 5]));
    assert!(!made(&Key::of_job(&[8; 32]), card, 5, &frame), "another job's");
    assert!(!made(&key, Mac([0x52, 0x54, 0, 1, 2, 4]), 5, &frame), "of another card");
    assert!(!made(&key, card, 6, &frame), "played again after all numbers");
    assert!(!made(&key, card, 5, &[&HEADER.encode()[..], b"12345"].concat()), "without a tag");
}

/// Both ends know how often the numbers have begun again, with frames under way.
#[test]
fn numbers_begin_again() {
    const FIRST: u32 = u32::MAX - 40;
    let (mut outgoing, mut incoming) = (Outgoing::starting_at(FIRST), Incoming::starting_at(FIRST));
    for step in 0..100 {
        let number = outgoing.next();
        assert_eq!(number, FIRST.wrapping_add(step));
        let wraps = u32::from(step > 40);
        assert_eq!((outgoing.wraps_of(number), incoming.wraps_of(number)), (wraps, wraps), "{number}");
        outgoing.keep(message(number), 0);
        // A frame that comes late, and the acknowledgement of three.
        let before = number.wrapping_sub(30);
        assert_eq!(incoming.wraps_of(before), u32::from(step > 70));
        assert_eq!(incoming.arrive(number), Arrival::Next);
        if step % 3 == 2 {
            assert_eq!(outgoing.acknowledge(incoming.wanted(), false, 0), Acknowledged::Fine);
        }
    }
}

#[test]
fn addresses() {
    let card = Mac([0x52, 0x54, 0, 1, 2, 3]);
    let address = wire::address(card);
    assert_eq!((wire::wire_id_of(&address), wire::card_of(&address)), (Some(wire::WIRE_ID), Some(card)));
    assert_eq!((wire::wire_id_of(&address[..3]), wire::card_of(&address[..11])), (None, None));
    assert_eq!(wire::card_of(&wire::address(Mac::BROADCAST)), None);
    assert_eq!(wire::card_of(&[address, [0; 12]].concat()), None);
}

fn message(number: u32) -> Message {
    Message { am: (number % 8) as u8, immediate: number.into(), payload: number.to_le_bytes().to_vec() }
}

/// One way: data there, acknowledgements back, each of which may be lost, come twice, or be overtaken.
#[test]
fn every_message_arrives_once_and_in_order() {
    const MESSAGES: u32 = 2000;
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let (mut outgoing, mut incoming) = (Outgoing::default(), Incoming::default());
        let mut there: Vec<(u32, Message)> = Vec::new();
        let mut back: Vec<(u32, bool)> = Vec::new();
        let (mut sent, mut received, mut now_ns) = (0, Vec::new(), 0);
        while received.len() < MESSAGES as usize || !outgoing.is_empty() {
            now_ns += 100_000;
            assert!(now_ns < 10_000_000_000_000, "seed {seed}: {} messages came", received.len());
            while sent < MESSAGES && outgoing.has_room() {
                let number = outgoing.next();
                assert_eq!(number, sent);
                outgoing.keep(message(sent), now_ns);
                put(&mut there, (number, message(sent)), &mut random);
                sent += 1;
            }
            assert!(outgoing.next() - incoming.wanted() <= FRAMES as u32);
            if outgoing.is_due(now_ns) {
                let (number, message) = outgoing.oldest().expect("something is due");
                put(&mut there, (number, message.clone()), &mut random);
            }
            if let Some((number, message)) = pick(&mut there, &mut random) {
                match incoming.arrive(number) {
                    Arrival::Next => received.push(message),
                    Arrival::Early => incoming.keep_early(number, message),
                    Arrival::Again => {}
                    Arrival::Nonsense => panic!("seed {seed}: {number} was sent"),
                }
                while let Some(message) = incoming.next_early() {
                    received.push(message);
                }
                put(&mut back, (incoming.wanted(), incoming.misses()), &mut random);
                incoming.acknowledged();
            }
            if let Some((wanted, misses)) = pick(&mut back, &mut random) {
                match outgoing.acknowledge(wanted, misses, now_ns) {
                    Acknowledged::Fine => {}
                    Acknowledged::Nonsense => panic!("seed {seed}: {wanted} was wanted"),
                    Acknowledged::Missing => {
                        let (number, message) = outgoing.oldest().expect("it is missing");
                        put(&mut there, (number, message.clone()), &mut random);
                    }
                }
            }
        }
        assert!((0..).zip(&received).all(|(number, got)| *got == message(number)), "seed {seed}: in order");
        assert_eq!(received.len(), MESSAGES as usize);
    }
}

fn put<T: Clone>(wire: &mut Vec<T>, frame: T, random: &mut Random) {
    if random.happens(1, 10) {
        return;
    }
    if random.happens(1, 20) {
        wire.push(frame.clone());
    }
    wire.push(frame);
}

fn pick<T>(wire: &mut Vec<T>, random: &mut Random) -> Option<T> {
    let place = if random.happens(1, 5) { random.below(wire.len().max(1) as u64) as usize } else { 0 };
    (place < wire.len()).then(|| wire.remove(place))
}

#[test]
fn numbers_that_nobody_sends() {
    let mut outgoing = Outgoing::default();
    (0..4).for_each(|number| outgoing.keep(message(number), 0));
    for wanted in [5, 1000, 1 << 31, u32::MAX - (1 << 21)] {
        assert_eq!(outgoing.acknowledge(wanted, false, 0), Acknowledged::Nonsense, "{wanted}");
    }
    assert_eq!(outgoing.acknowledge(u32::MAX, false, 0), Acknowledged::Fine);
    assert_eq!((outgoing.next(), outgoing.oldest().unwrap().0), (4, 0));
    let mut incoming = Incoming::default();
    for number in [FRAMES as u32, 1 << 31, u32::MAX - (1 << 21)] {
        assert_eq!(incoming.arrive(number), Arrival::Nonsense, "{number}");
    }
    assert_eq!((incoming.arrive(u32::MAX), incoming.arrive(FRAMES as u32 - 1)), (Arrival::Again, Arrival::Early));
    assert_eq!(incoming.wanted(), 0);
}

#[test]
fn a_loss_is_repaired_once() {
    let mut outgoing = Outgoing::default();
    (0..4).for_each(|number| outgoing.keep(message(number), 0));
    assert_eq!(outgoing.acknowledge(1, true, 1000), Acknowledged::Missing);
    assert_eq!(outgoing.acknowledge(1, true, 2000), Acknowledged::Fine);
    // Without an answer it is sent again, after longer and longer pauses, and the silence counts from the last answer.
    assert!(!outgoing.is_due(1_000_000));
    let times = (1..10_000).filter(|ms| outgoing.is_due(ms * 1_000_000)).count();
    assert!((60..80).contains(&times), "{times} times in 10 s");
    assert_eq!(outgoing.silent_ns(5_000_001_000), 5_000_000_000);
    assert_eq!(outgoing.acknowledge(4, false, 6_000_000_000), Acknowledged::Fine);
    assert_eq!((outgoing.is_empty(), outgoing.silent_ns(9_000_000_000)), (true, 0));
}
