//! The stream of frames and the handshake: cut anywhere, and with any garbage in them.

use super::*;
use crate::frames::Frames;
use crate::handshake::{self, EndpointIds, Refused};
use crate::wire::{self, HEADER_BYTES, Header, Malformed, PAD_MAX, PAYLOAD_MAX};
use alloc::vec::Vec;
use std::println;

const ROOM: usize = 100_000;

fn message(dice: &mut Dice, number: u64) -> (Header, Vec<u8>) {
    let bytes = match dice.roll(8) {
        0 => 0,
        1..6 => dice.roll(200),
        6 => dice.roll(9000),
        _ => dice.roll(300_000),
    };
    let payload = (0..bytes).map(|index| (index as u64 * 31 + number) as u8).collect();
    (
        Header {
            kind: (number % 8) as u8,
            pad: dice.roll(PAD_MAX + 1),
            bytes,
            immediate: number.wrapping_mul(0x0123_4567_89ab_cdef),
        },
        payload,
    )
}

#[test]
fn frames_survive_any_cut() {
    for seed in 0..20 {
        println!("seed {seed}");
        let mut dice = Dice::new(seed);
        let messages: Vec<_> = (0..60).map(|number| message(&mut dice, number)).collect();
        let mut stream = Vec::new();
        for (header, payload) in &messages {
            stream.extend(header.encode());
            stream.resize(stream.len() + header.pad, 0);
            stream.extend(payload);
        }
        let (mut frames, mut rest, mut got) = (Frames::new(), &stream[..], 0);
        while got < messages.len() {
            let room = frames.room(ROOM);
            assert!(!room.is_empty(), "no room although no frame is complete");
            let most = room.len().min(rest.len());
            let cut = if dice.roll(3) == 0 { most } else { (1 + dice.roll(5000)).min(most) };
            room[..cut].copy_from_slice(&rest[..cut]);
            frames.filled(cut);
            rest = &rest[cut..];
            while let Some(frame) = frames.peek().unwrap() {
                let (header, payload) = &messages[got];
                assert_eq!((frame.kind, frame.immediate), (header.kind, header.immediate));
                assert!(frames.payload(&frame) == payload, "payload of message {got} differs");
                frames.advance(&frame);
                got += 1;
            }
        }
        assert!(rest.is_empty());
    }
}

#[test]
fn hostile_headers_are_refused_before_anything_is_allocated() {
    let good = Header { kind: 7, pad: PAD_MAX, bytes: PAYLOAD_MAX, immediate: u64::MAX };
    assert_eq!(Header::parse(&good.encode()), Ok(good));
    let mut spoiled = [good.encode(); 4];
    spoiled[0][0] ^= 1;
    spoiled[1][2] = 8;
    spoiled[2][3] = PAD_MAX as u8 + 1;
    spoiled[3][4..8].copy_from_slice(&(PAYLOAD_MAX as u32 + 1).to_le_bytes());
    for header in spoiled {
        assert_eq!(Header::parse(&header), Err(Malformed));
        let mut frames = Frames::new();
        let before = frames.room(ROOM).len();
        frames.room(ROOM)[..HEADER_BYTES].copy_from_slice(&header);
        frames.filled(HEADER_BYTES);
        assert_eq!(frames.peek(), Err(Malformed));
        assert!(frames.room(ROOM).len() <= before);
    }
}

#[test]
fn garbage_is_never_more_than_malformed() {
    for seed in 0..200 {
        let mut dice = Dice::new(seed);
        let mut frames = Frames::new();
        for _ in 0..50 {
            let room = frames.room(ROOM);
            let bytes = room.len().min(1 + dice.roll(100));
            room[..bytes].iter_mut().for_each(|byte| *byte = dice.roll(256) as u8);
            frames.filled(bytes);
            match frames.peek() {
                Ok(Some(frame)) => frames.advance(&frame),
                Ok(None) => {}
                Err(Malformed) => break,
            }
        }
    }
}

#[test]
fn published_addresses() {
    let one = AddressRecord {
        interface: 3,
        address: "10.1.2.3".parse().unwrap(),
        prefix: 24,
        loopback: false,
        port: 4711,
        mbps: 25_000,
        job: 0xfeed,
        network: u64::MAX,
    };
    let other = AddressRecord { address: "2001:db8::7".parse().unwrap(), prefix: 64, loopback: true, ..one };
    let mut bytes = Vec::new();
    one.push(&mut bytes);
    other.push(&mut bytes);
    assert_eq!(wire::records(&bytes).unwrap(), [one, other]);
    assert_eq!(wire::wire_id_of(&bytes), Some(wire::WIRE_ID));
    for length in 1..bytes.len() {
        assert!(wire::records(&bytes[..length]).is_none_or(|records| records == [one]));
    }
    bytes[5] = 5;
    assert_eq!(wire::records(&bytes), None);
    assert_eq!(wire::records(&[0; wire::RECORD_BYTES * (wire::RECORDS_MAX + 1)]), None);
}

#[test]
fn only_the_secret_passes_the_handshake() {
    let (client, server) = (job(0, 3), job(2, 3));
    let ids = EndpointIds {
        from: 0,
        to: 2,
        from_interface: 1,
        to_interface: 4,
        protect: crate::record::Protect::None,
        progress: handshake::Progress { received: 0, resumes: false },
        attempt: 1,
    };
    let hello = handshake::hello(&client, ids, &[1; 16]);
    assert_eq!(handshake::check_hello(&server, &hello), Ok(ids));
    let answer = handshake::answer(&server, &hello, &[2; 32], handshake::Progress::default());
    let proof = handshake::proof(&client, &hello, &answer).unwrap();
    assert!(handshake::is_proof_valid(&server, &hello, &answer, &proof));

    let outsider = Job { secret: [8; 32], ..client };
    assert_eq!(handshake::check_hello(&server, &handshake::hello(&outsider, ids, &[1; 16])), Err(Refused::Invalid));
    for byte in 12..hello.len() {
        let mut changed = hello;
        changed[byte] ^= 1;
        assert_eq!(handshake::check_hello(&server, &changed), Err(Refused::Invalid), "byte {byte}");
    }
    assert_eq!(handshake::proof(&outsider, &hello, &answer), None);
    let own = handshake::answer(&outsider, &hello, &[2; 32], handshake::Progress::default());
    assert!(
        !handshake::is_proof_valid(&server, &hello, &answer, own[48..].try_into().unwrap()),
        "an answer is no proof"
    );
    let other = handshake::answer(&server, &hello, &[3; 32], handshake::Progress::default());
    assert!(!handshake::is_proof_valid(&server, &hello, &other, &proof), "a proof is good for one handshake only");
    for byte in 0..answer.len() {
        let mut changed = answer;
        changed[byte] ^= 1;
        assert_eq!(handshake::proof(&client, &hello, &changed), None);
    }
}

#[test]
fn each_direction_of_each_connection_has_its_own_key() {
    let (client, server) = (job(0, 3), job(2, 3));
    let ids = EndpointIds {
        from: 0,
        to: 2,
        from_interface: 1,
        to_interface: 4,
        protect: crate::record::Protect::Auth,
        progress: handshake::Progress { received: 0, resumes: false },
        attempt: 1,
    };
    let hello = handshake::hello(&client, ids, &[1; 16]);
    let answer = handshake::answer(&server, &hello, &[2; 32], handshake::Progress::default());
    let keys = handshake::keys(&client, &hello, &handshake::nonce_of(&answer));
    let theirs = handshake::keys(&server, &hello, &[2; 32]);
    assert_eq!((keys.connecting, keys.accepting), (theirs.connecting, theirs.accepting));
    let outsider = Job { secret: [8; 32], ..client };
    let other_hello = handshake::hello(&client, ids, &[3; 16]);
    let others = [(&client, &hello, [3; 32]), (&client, &other_hello, [2; 32]), (&outsider, &hello, [2; 32])];
    let mut all = vec![keys.connecting, keys.accepting, answer[48..].try_into().unwrap()];
    for (job, hello, nonce) in others {
        let keys = handshake::keys(job, hello, &nonce);
        all.extend([keys.connecting, keys.accepting]);
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "two are the same");
}

#[test]
fn a_hello_must_be_meant_for_this_process() {
    let client = job(0, 3);
    let hello = |from, to| {
        let ids = EndpointIds {
            from,
            to,
            from_interface: 0,
            to_interface: 0,
            protect: crate::record::Protect::None,
            progress: handshake::Progress { received: 0, resumes: false },
            attempt: 1,
        };
        handshake::hello(&client, ids, &[1; 16])
    };
    let server = job(2, 3);
    for (from, to) in [(0, 1), (2, 2), (3, 2), (u32::MAX, 2)] {
        assert_eq!(handshake::check_hello(&server, &hello(from, to)), Err(Refused::Invalid));
    }
    assert_eq!(handshake::check_hello(&Job { number: 1, ..server }, &hello(0, 2)), Err(Refused::Invalid));
    let mut other = hello(0, 2);
    other[8] ^= 1;
    assert!(matches!(handshake::check_hello(&server, &other), Err(Refused::OtherFormat(_))));
}
