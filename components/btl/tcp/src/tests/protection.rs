//! Protected connections, with somebody on the wire who may do anything to its bytes.

use super::connections::{ARRIVED, FAILED, acquainted, alone, poll_once, state};
use super::*;
use crate::handshake::{HELLO_BYTES, PROOF_BYTES};
use crate::record::{Opener, Protect, RECORD_MAX, Sealer, length_of, length_word};
use crate::state::State;
use opal_core::framework::btl::Endpoint;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const LENGTH_BYTES: usize = 4;
const OVERHEAD: usize = LENGTH_BYTES + 16;
/// What the connecting side says before its first record.
const BEFORE: usize = HELLO_BYTES + PROOF_BYTES;

fn process(index: u32, protect: Option<Protect>) -> &'static Tcp {
    tcp_at(job(index, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), Limits { protect, ..limits() })
}

/// Somebody on the wire, who sees whole records of the connecting side.
struct Wire {
    listener: TcpListener,
    to: std::net::SocketAddr,
    ends: Option<(TcpStream, TcpStream)>,
    /// Of the connecting side; not passed on yet.
    held: Vec<u8>,
    passed: usize,
    seen: Vec<u8>,
}

impl Wire {
    fn before(tcp: &'static Tcp) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let to = std::net::SocketAddr::new(record(tcp).address, record(tcp).port);
        Wire { listener, to, ends: None, held: Vec::new(), passed: 0, seen: Vec::new() }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    /// Takes what both ends sent: the answers go on at once, what the connecting side sends is held.
    fn pump(&mut self) {
        if self.ends.is_none()
            && let Ok((near, _)) = self.listener.accept()
        {
            let far = TcpStream::connect(self.to).unwrap();
            near.set_nonblocking(true).unwrap();
            far.set_nonblocking(true).unwrap();
            self.ends = Some((near, far));
        }
        let Some((near, far)) = &mut self.ends else { return };
        let mut bytes = [0; 65536];
        while let Some(count) = there(far.read(&mut bytes)) {
            _ = near.write_all(&bytes[..count]);
        }
        while let Some(count) = there(near.read(&mut bytes)) {
            self.held.extend_from_slice(&bytes[..count]);
            self.seen.extend_from_slice(&bytes[..count]);
        }
        let handshake = self.held.len().min(BEFORE.saturating_sub(self.passed));
        self.pass(handshake);
    }

    /// Passes so many held bytes on.
    fn pass(&mut self, bytes: usize) {
        let passed: Vec<u8> = self.held.drain(..bytes).collect();
        self.inject(&passed);
        self.passed += bytes;
    }

    fn inject(&mut self, bytes: &[u8]) {
        let Some((_, far)) = &mut self.ends else { return };
        _ = far.set_nonblocking(false);
        _ = far.write_all(bytes);
        _ = far.set_nonblocking(true);
    }

    /// Bytes of the first held record, if all of it is there.
    fn record(&self) -> Option<usize> {
        let length = whole(*self.held.first_chunk()?);
        (self.held.len() >= length).then_some(length)
    }
}

/// Bytes of the record that begins with this word.
fn whole(word: [u8; 4]) -> usize {
    length_of(u32::from_le_bytes(word)).unwrap() + OVERHEAD
}

fn there(read: std::io::Result<usize>) -> Option<usize> {
    match read {
        Ok(0) => None,
        Ok(count) => Some(count),
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        Err(_) => None,
    }
}

/// Two processes with somebody between them; process 0 sends.
fn tapped(protect: Protect) -> (&'static Tcp, &'static Tcp, Endpoint, Wire) {
    let (low, high) = (process(0, Some(protect)), process(1, Some(protect)));
    let wire = Wire::before(high);
    let remote = AddressRecord { port: wire.port(), ..record(high) };
    let there = low.transport.add(1, 0, record(low), remote).unwrap();
    high.transport.add(0, 0, record(high), record(low)).unwrap();
    (low, high, there, wire)
}

fn until(all: &[&'static Tcp], wire: &mut Wire, mut done: impl FnMut(&mut Wire) -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done(wire) {
        assert!(Instant::now() < end, "nothing happens any more");
        wire.pump();
        all.iter().for_each(|tcp| _ = poll_once(tcp));
    }
}

fn payload(number: u64, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at as u64 * 31 + number * 7) as u8).collect()
}

/// Whatever arrived is a beginning of what was sent.
fn check_beginning(sent: &[Vec<u8>]) -> usize {
    let arrived = ARRIVED.lock().unwrap();
    for (number, (peer, immediate, bytes)) in arrived.iter().enumerate() {
        assert_eq!((*peer, *immediate), (0, number as u64), "in order, each once");
        assert!(*bytes == sent[number], "message {number} differs");
    }
    arrived.len()
}

#[test]
fn messages_of_all_lengths_arrive() {
    let _guard = alone();
    for protect in [Protect::Auth, Protect::Encrypt] {
        ARRIVED.lock().unwrap().clear();
        let (low, high, there, back) = acquainted(process(0, Some(protect)), process(1, Some(protect)));
        let mut dice = Dice::new(protect as u64);
        let lengths: Vec<usize> = [0, 1, RECORD_MAX - 16, RECORD_MAX - 15, RECORD_MAX, 500_000]
            .into_iter()
            .chain((0..60).map(|round| dice.roll(1 << (round % 19))))
            .collect();
        let sent: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(at, bytes)| payload(at as u64, *bytes)).collect();
        for (number, bytes) in sent.iter().enumerate() {
            while low.transport.send(there, 0, number as u64, bytes).is_err() {
                low.transport.flush();
                poll_once(low);
                poll_once(high);
            }
        }
        super::connections::poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == sent.len());
        assert_eq!(check_beginning(&sent), sent.len());
        assert!(low.transport.is_drained());
        // The other direction has keys of its own.
        high.transport.send(back, 0, 1, b"and back").unwrap();
        super::connections::poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == sent.len() + 1);
        assert_eq!(*FAILED.lock().unwrap(), []);
    }
}

/// What somebody on the wire does to a record.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Flip,
    Repeat,
    Drop,
    Swap,
    Shorten,
    Cut,
}

#[test]
fn nothing_that_was_changed_on_the_wire_is_believed() {
    let _guard = alone();
    for seed in 0..rounds(60) {
        std::println!("seed {seed}");
        let mut dice = Dice::new(seed);
        let protect = if seed % 2 == 0 { Protect::Auth } else { Protect::Encrypt };
        let deeds = [Deed::Flip, Deed::Repeat, Deed::Drop, Deed::Swap, Deed::Shorten, Deed::Cut];
        let deed = deeds[(seed / 2) as usize % deeds.len()];
        ARRIVED.lock().unwrap().clear();
        FAILED.lock().unwrap().clear();
        let (low, high, there, mut wire) = tapped(protect);
        let count = 8;
        let sent: Vec<Vec<u8>> = (0..count).map(|number| payload(number, dice.roll(3000))).collect();
        low.transport.send(there, 0, 0, &sent[0]).unwrap();
        until(&[low, high], &mut wire, |_| state(low, there) == State::Connected);
        for (number, bytes) in sent.iter().enumerate().skip(1) {
            low.transport.send(there, 0, number as u64, bytes).unwrap();
            low.transport.flush();
        }
        // Some records go on as they are.
        let good = 1 + dice.roll(4);
        for _ in 0..good {
            until(&[low, high], &mut wire, |wire| wire.record().is_some());
            let length = wire.record().unwrap();
            wire.pass(length);
        }
        until(&[low, high], &mut wire, |wire| wire.record().is_some_and(|first| wire.held.len() > first + OVERHEAD));
        let first = wire.record().unwrap();
        match deed {
            Deed::Flip => {
                let at = dice.roll(first);
                wire.held[at] ^= 1 << dice.roll(8);
            }
            Deed::Repeat => {
                let again: Vec<u8> = wire.held[..first].to_vec();
                wire.pass(first);
                wire.inject(&again);
            }
            Deed::Drop => _ = wire.held.drain(..first),
            Deed::Swap => {
                until(&[low, high], &mut wire, |wire| {
                    let second = wire.held.get(first..).and_then(|rest| rest.first_chunk::<4>().copied());
                    second.is_some_and(|second| wire.held.len() >= first + whole(second))
                });
                let second = whole(*wire.held[first..].first_chunk().unwrap());
                wire.held[..first + second].rotate_left(first);
            }
            Deed::Shorten => {
                let less = length_of(u32::from_le_bytes(*wire.held.first_chunk().unwrap())).unwrap() - 1;
                wire.held[..4].copy_from_slice(&length_word(less as u32).to_le_bytes());
            }
            Deed::Cut => {
                let part = dice.roll(first);
                wire.pass(part);
                wire.ends = None;
            }
        }
        let everything = wire.held.len();
        if wire.ends.is_some() {
            wire.pass(everything);
        }
        until(&[high], &mut wire, |wire| {
            // A length that grew waits for what comes next.
            if let Some((_, far)) = &mut wire.ends {
                _ = far.write(&[0; 4096]);
            }
            !FAILED.lock().unwrap().is_empty()
        });
        assert_eq!(*FAILED.lock().unwrap(), [0], "{deed:?}");
        let arrived = check_beginning(&sent);
        assert!(arrived < count as usize, "{deed:?}: everything arrived");
    }
}

#[test]
fn only_encrypted_bytes_cannot_be_read_on_the_wire() {
    let _guard = alone();
    for (protect, readable) in [(Protect::None, true), (Protect::Auth, true), (Protect::Encrypt, false)] {
        ARRIVED.lock().unwrap().clear();
        let (low, high, there, mut wire) = tapped(protect);
        low.transport.send(there, 0, 0, b"a sentence for two").unwrap();
        until(&[low, high], &mut wire, |wire| {
            let all = wire.held.len();
            wire.pass(all);
            ARRIVED.lock().unwrap().len() == 1
        });
        let found = wire.seen.windows(18).any(|bytes| bytes == b"a sentence for two");
        assert_eq!(found, readable, "{protect:?}");
    }
}

/// Of all pairs of different settings: both ends give the peer up, and neither waits.
#[test]
fn mixed_settings_end_at_both_ends() {
    let _guard = alone();
    let all = [Protect::None, Protect::Auth, Protect::Encrypt];
    for (one, other) in all.into_iter().flat_map(|one| all.map(|other| (one, other))) {
        ARRIVED.lock().unwrap().clear();
        FAILED.lock().unwrap().clear();
        let (low, high, there, _) = acquainted(process(0, Some(one)), process(1, Some(other)));
        low.transport.send(there, 0, 0, b"hello").unwrap();
        if one == other {
            super::connections::poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
            continue;
        }
        super::connections::poll_until(&[low, high], || FAILED.lock().unwrap().len() == 2);
        let mut failed = FAILED.lock().unwrap().clone();
        failed.sort_unstable();
        assert_eq!(failed, [0, 1], "{one:?} and {other:?}");
        assert_eq!(*ARRIVED.lock().unwrap(), []);
    }
}

#[test]
fn what_is_far_is_protected_by_default() {
    let _guard = alone();
    let low = process(0, None);
    let near = low.transport.add(1, 0, record(low), record(low)).unwrap();
    assert_eq!(low.transport.connection(near.0).unwrap().protect, Protect::None);
    let low = process(0, None);
    let far = low.transport.add(1, 0, record(low), AddressRecord { network: 2, ..record(low) }).unwrap();
    assert_eq!(low.transport.connection(far.0).unwrap().protect, Protect::Auth);
}

#[test]
fn a_network_that_the_site_names_is_not_protected_by_default() {
    let _guard = alone();
    let there = ["127.0.9.9", "127.1.0.9"].map(|address| address.parse().unwrap());
    for (networks, limits, expected) in [
        (&[("127.0.0.0", 16)][..], limits(), [Protect::None, Protect::Auth]),
        (&[("10.0.0.0", 8), ("127.0.0.0", 8)], limits(), [Protect::None; 2]),
        (&[("127.1.0.0", 16)], limits(), [Protect::Auth; 2]),
        (&[("127.0.0.0", 8)], Limits { protect: Some(Protect::Encrypt), ..limits() }, [Protect::Encrypt; 2]),
    ] {
        for (address, expected) in there.into_iter().zip(expected) {
            let parsed = networks.iter().map(|(network, prefix)| (network.parse().unwrap(), *prefix)).collect();
            let low = unprotected_within(parsed, limits);
            let far = AddressRecord { network: 2, address, ..record(low) };
            let endpoint = low.transport.add(1, 0, record(low), far).unwrap();
            assert_eq!(low.transport.connection(endpoint.0).unwrap().protect, expected, "{networks:?} {address}");
        }
    }
}

#[test]
fn records_survive_any_cut() {
    for seed in 0..rounds(20) {
        let mut dice = Dice::new(seed);
        let protect = if seed % 2 == 0 { Protect::Auth } else { Protect::Encrypt };
        let (mut sealer, mut opener) = (Sealer::new(protect, &[3; 32]), Opener::new(protect, &[3; 32]));
        let bodies: Vec<Vec<u8>> = (0..30)
            .map(|number| payload(number, 1 + dice.roll(1 + (RECORD_MAX - 1) / (1 + number as usize))))
            .collect();
        let mut stream = Vec::new();
        bodies.iter().for_each(|body| sealer.seal(body, &mut stream));
        let (mut rest, mut got) = (&stream[..], 0);
        while got < bodies.len() {
            let room = opener.room();
            assert!(!room.is_empty(), "no room although no record is complete");
            let most = room.len().min(rest.len());
            let cut = if dice.roll(3) == 0 { most } else { (1 + dice.roll(5000)).min(most) };
            room[..cut].copy_from_slice(&rest[..cut]);
            opener.filled(cut);
            rest = &rest[cut..];
            while let Some(body) = opener.open().unwrap() {
                assert!(opener.body(body) == bodies[got], "body {got} differs");
                got += 1;
            }
        }
        assert!(rest.is_empty());
    }
}
