//! Two transports in one process: unauthenticated connections, both ends connecting at the same time, ends that go away.

use super::*;
use crate::frames::Frame;
use crate::handshake::{self, EndpointIds, HELLO_BYTES};
use crate::record::Protect;
use crate::state::State;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, Endpoint};
use opal_core::mem::Untrusted;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, Once};
use std::time::{Duration, Instant};

pub(super) type Log = Vec<(u32, u64, Vec<u8>)>;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
pub(super) static ARRIVED: Mutex<Log> = Mutex::new(Vec::new());
pub(super) static FAILED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

pub(super) fn alone() -> MutexGuard<'static, ()> {
    static REGISTER: Once = Once::new();
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    REGISTER.call_once(|| {
        opal_core::sync::raise_threads();
        btl::register_handler(0, arrive).unwrap();
        btl::on_failure(|peer| FAILED.lock().unwrap().push(peer));
    });
    // Of a test that failed, which is no failure of the next one.
    ARRIVED.clear_poison();
    FAILED.clear_poison();
    ARRIVED.lock().unwrap().clear();
    FAILED.lock().unwrap().clear();
    guard
}

fn arrive(peer: u32, immediate: u64, payload: Untrusted<'_>) {
    let mut bytes = vec![0; payload.len()];
    payload.copy_to(&mut bytes);
    ARRIVED.lock().unwrap().push((peer, immediate, bytes));
}

pub(super) fn poll_once(tcp: &'static Tcp) -> usize {
    let mut poller = tcp.poller.lock();
    poller.poll_now();
    tcp.transport.flush();
    poller.poll(&tcp.transport)
}

pub(super) fn poll_until(all: &[&'static Tcp], mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < end, "nothing happens any more");
        if all.iter().map(|tcp| poll_once(tcp)).sum::<usize>() == 0 {
            std::thread::yield_now();
        }
    }
}

/// Two processes that know each other.
fn couple() -> (&'static Tcp, &'static Tcp, Endpoint, Endpoint) {
    acquainted(tcp(job(0, 2)), tcp(job(1, 2)))
}

/// Two processes, introduced to each other.
pub(super) fn acquainted(low: &'static Tcp, high: &'static Tcp) -> (&'static Tcp, &'static Tcp, Endpoint, Endpoint) {
    let there = low.transport.add(1, 0, record(low), record(high)).unwrap();
    let back = high.transport.add(0, 0, record(high), record(low)).unwrap();
    (low, high, there, back)
}

pub(super) fn state(tcp: &Tcp, endpoint: Endpoint) -> State {
    tcp.transport.connection(endpoint.0).unwrap().tx.lock().state
}

/// The connection that messages of this one take instead.
pub(super) fn failover(tcp: &Tcp, endpoint: Endpoint) -> Option<u32> {
    tcp.transport.connection(endpoint.0).unwrap().tx.lock().failover
}

#[test]
fn both_ends_connect_at_the_same_time() {
    let _guard = alone();
    for seed in 0..300 {
        let mut dice = Dice::new(seed);
        ARRIVED.lock().unwrap().clear();
        let protect = [Protect::None, Protect::Auth, Protect::Encrypt][seed as usize % 3];
        let limits = Limits { protect: Some(protect), ..limits() };
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let (low, high) = (tcp_at(job(0, 2), address, limits), tcp_at(job(1, 2), address, limits));
        let (low, high, there, back) = acquainted(low, high);
        // Which end begins when, and how often each polls in between, is different each time.
        let (mut sent_low, mut sent_high) = (0u64, 0u64);
        for _ in 0..40 {
            match dice.roll(4) {
                0 => sent_low += u64::from(low.transport.send(there, 0, sent_low, &[1; 100]).is_ok()),
                1 => sent_high += u64::from(high.transport.send(back, 0, sent_high, &[2; 100]).is_ok()),
                2 => _ = poll_once(low),
                _ => _ = poll_once(high),
            }
        }
        sent_low += u64::from(low.transport.send(there, 0, sent_low, &[1; 100]).is_ok());
        sent_high += u64::from(high.transport.send(back, 0, sent_high, &[2; 100]).is_ok());
        poll_until(&[low, high], || ARRIVED.lock().unwrap().len() as u64 >= sent_low + sent_high);
        for _ in 0..20 {
            poll_once(low);
            poll_once(high);
        }
        let arrived = ARRIVED.lock().unwrap();
        for (peer, sent) in [(0, sent_low), (1, sent_high)] {
            let heads: Vec<u64> = arrived.iter().filter(|one| one.0 == peer).map(|one| one.1).collect();
            assert_eq!(heads, (0..sent).collect::<Vec<_>>(), "seed {seed}: in order, each once");
        }
        assert_eq!((state(low, there), state(high, back)), (State::Connected, State::Connected));
        assert_eq!(*FAILED.lock().unwrap(), []);
        drop(arrived);
        low.transport.connection(there.0).unwrap().tx.lock().close();
        high.transport.connection(back.0).unwrap().tx.lock().close();
        low.poller.lock().remove(there.0);
        high.poller.lock().remove(back.0);
    }
}

#[test]
fn unauthenticated_connections_are_closed_and_disturb_nobody() {
    let _guard = alone();
    let (low, high, there, back) = couple();
    let listener = SocketAddr::new(record(high).address, record(high).port);
    let mut outsiders = Vec::new();
    for seed in 0..100u64 {
        let mut dice = Dice::new(seed);
        let mut outsider = TcpStream::connect(listener).unwrap();
        let length = dice.roll(300);
        let garbage: Vec<u8> = (0..length).map(|_| dice.roll(256) as u8).collect();
        let ids = EndpointIds {
            from: 0,
            to: 1,
            from_interface: 0,
            to_interface: 0,
            protect: Protect::None,
            progress: handshake::Progress { received: 0, resumes: false },
            attempt: 1,
        };
        match seed % 4 {
            0 => _ = outsider.write_all(&garbage),
            // Knows everything but the secret.
            1 => {
                let other = Job { secret: [9; 32], ..job(0, 2) };
                _ = outsider.write_all(&handshake::hello(&other, ids, &[1; 16]));
                _ = outsider.write_all(&[seed as u8; 32]);
            }
            2 => _ = outsider.write_all(&handshake::hello(&job(0, 2), ids, &[1; 16])[..40]),
            _ => {}
        }
        poll_once(high);
        outsiders.push(outsider);
    }
    high.transport.send(back, 0, 5, b"to you").unwrap();
    low.transport.send(there, 0, 6, b"and you").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 2);
    // Whoever sent something wrong was disconnected.
    for (seed, outsider) in outsiders.iter_mut().enumerate().filter(|(seed, _)| seed % 4 == 1) {
        outsider.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut answer = Vec::new();
        let ended = outsider.read_to_end(&mut answer);
        let closed = ended.is_ok() || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset);
        assert!(closed, "outsider {seed} is still connected");
        assert!(answer.len() <= HELLO_BYTES);
    }
    assert_eq!(*FAILED.lock().unwrap(), []);
    assert_eq!((state(low, there), state(high, back)), (State::Connected, State::Connected));
}

#[test]
fn a_proved_peer_that_sends_garbage_is_closed_and_told() {
    let _guard = alone();
    let (low, high, there, _) = couple();
    low.transport.send(there, 0, 1, b"good").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    let connection = low.transport.connection(there.0).unwrap();
    let wire = connection.tx.lock().socket.clone().unwrap();
    socket::send(&wire, &[0xff; 64]).unwrap();
    poll_until(&[high], || *FAILED.lock().unwrap() == [0]);
    FAILED.lock().unwrap().clear();
    // The other end learns it from the closed connection.
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    assert!(low.transport.send(there, 0, 2, b"nothing").is_err());
}

#[test]
fn nobody_listens() {
    let _guard = alone();
    let low = tcp(job(0, 2));
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let remote = AddressRecord { port: gone.local_addr().unwrap().port(), ..record(low) };
    drop(gone);
    let there = low.transport.add(1, 0, record(low), remote).unwrap();
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    assert!(low.transport.is_drained());
}

#[test]
fn somebody_else_listens() {
    let _guard = alone();
    let low = tcp(job(0, 2));
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let remote = AddressRecord { port: other.local_addr().unwrap().port(), ..record(low) };
    let there = low.transport.add(1, 0, record(low), remote).unwrap();
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    let serve = std::thread::spawn(move || {
        let (mut socket, _) = other.accept().unwrap();
        let mut hello = [0; HELLO_BYTES];
        socket.read_exact(&mut hello).unwrap();
        socket.write_all(&[0; HELLO_BYTES]).unwrap();
        _ = socket.shutdown(Shutdown::Write);
    });
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    serve.join().unwrap();
}

#[test]
fn full_is_full_and_nothing_is_lost() {
    let _guard = alone();
    let (low, high, there, _) = couple();
    let payload: Vec<u8> = (0..100_000).map(|index| (index * 7) as u8).collect();
    let mut sent = 0;
    // The receiver does not look: the system's buffers and the queue fill up.
    low.transport.send(there, 0, sent, &payload).unwrap();
    sent += 1;
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    while low.transport.send(there, 0, sent, &payload).is_ok() {
        sent += 1;
        low.transport.flush();
        assert!(sent < 1000, "a connection that nobody reads is never full");
    }
    assert!(!low.transport.is_drained());
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() as u64 == sent);
    assert!(low.transport.is_drained());
    let arrived = ARRIVED.lock().unwrap();
    assert!(arrived.iter().enumerate().all(|(index, one)| one.1 == index as u64 && one.2 == payload));
}

#[test]
fn small_messages_are_coalesced_until_a_flush() {
    let _guard = alone();
    let (low, high, there, _) = couple();
    low.transport.send(there, 0, 0, b"x").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    for immediate in 1..4 {
        low.transport.send(there, 0, immediate, b"x").unwrap();
    }
    // The first left at once, the others wait.
    poll_until(&[high], || ARRIVED.lock().unwrap().len() == 2);
    assert!(!low.transport.is_drained());
    assert_eq!(poll_once(high), 0);
    low.transport.flush();
    assert!(low.transport.is_drained());
    poll_until(&[high], || ARRIVED.lock().unwrap().len() == 4);
}

#[test]
fn one_peer_is_polled_and_buffered_frames_are_delivered() {
    let _guard = alone();
    let (low, high, there, back) = couple();
    low.transport.send(there, 0, 0, b"x").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    for immediate in 1..4 {
        low.transport.send(there, 0, immediate, b"later").unwrap();
    }
    low.transport.flush();
    let end = Instant::now() + Duration::from_secs(5);
    let immediate = loop {
        let mut poller = high.poller.lock();
        if let Some((payload, Frame { immediate, .. })) = poller.peek(&high.transport, back.0) {
            assert_eq!(payload, b"later");
            poller.consume(&high.transport, back.0);
            break immediate;
        }
        assert!(Instant::now() < end);
    };
    assert_eq!(immediate, 1);
    poll_until(&[high], || ARRIVED.lock().unwrap().len() == 3);
}
