//! Connections between hosts that break and go on: resets at any byte, paths that fall silent, a peer that ends, bytes that
//! change on the way.

use super::connections::{FAILED, alone, poll_once, state};
use super::relay::Relay;
use super::*;
use crate::raw;
use crate::record::Protect;
use crate::state::State;
use crate::wire::HEADER_BYTES;
use alloc::collections::BTreeMap;
use alloc::string::String;
use opal_core::framework::btl::{self, Endpoint, Fill, Placement, RxPayload};
use opal_core::mem::Untrusted;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net;
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

/// Messages of this kind go to their place.
const PLACED: u8 = 5;
/// And of this kind to a handler.
pub(super) const PLAIN: u8 = 6;
pub(super) static TAKEN: Mutex<Vec<(u32, u64, Vec<u8>)>> = Mutex::new(Vec::new());
static PLACES: Mutex<BTreeMap<(u32, u64), Vec<u8>>> = Mutex::new(BTreeMap::new());

pub(super) fn start() -> std::sync::MutexGuard<'static, ()> {
    static REGISTER: Once = Once::new();
    let guard = alone();
    REGISTER.call_once(|| {
        for kind in [PLACED, PLAIN] {
            btl::register_handler(kind, take).unwrap();
        }
        btl::register_placement(PLACED, Placement { prefix_bytes: 0, place, placed }).unwrap();
    });
    TAKEN.lock().unwrap().clear();
    PLACES.lock().unwrap().clear();
    guard
}

fn take(peer: u32, immediate: u64, payload: Untrusted<'_>) {
    let mut bytes = vec![0; payload.len()];
    payload.copy_to(&mut bytes);
    TAKEN.lock().unwrap().push((peer, immediate, bytes));
}

fn place(part: RxPayload<'_>, fill: Fill<'_>) -> bool {
    let mut places = PLACES.lock().unwrap();
    let place = places.entry((part.peer, part.immediate)).or_insert_with(|| vec![0; part.bytes]);
    fill(&mut place[part.done..]);
    true
}

fn placed(part: RxPayload<'_>) {
    let bytes = PLACES.lock().unwrap().remove(&(part.peer, part.immediate)).unwrap();
    TAKEN.lock().unwrap().push((part.peer, part.immediate, bytes));
}

/// A process on a host of its own, with interfaces 127.0.0.1, 127.0.0.2 ….
pub(super) fn host(index: u32, paths: u8, limits: Limits) -> &'static Tcp {
    let interface = |number| {
        let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1 + number));
        let mut interface = interface_at(number, job(index, 2), address, 0);
        interface.listeners[0].0.network = u64::from(index) + 10;
        interface
    };
    over(job(index, 2), limits, (0..paths).map(interface).collect())
}

/// Two hosts that know each other.
pub(super) fn hosts(paths: u8, limits: Limits) -> [&'static Tcp; 2] {
    let hosts = [host(0, paths, limits), host(1, paths, limits)];
    let of = |tcp: &Tcp, path: usize| tcp.transport.interfaces[path].listeners[0].0;
    for path in 0..paths as usize {
        for (own, peer) in [(0, 1), (1, 0)] {
            let added = hosts[own].transport.add(peer as u32, path, of(hosts[own], path), of(hosts[peer], path));
            assert_eq!(added, Some(endpoint(own, path, paths)));
        }
    }
    hosts
}

/// The other one's at this host.
pub(super) fn endpoint(side: usize, path: usize, paths: u8) -> Endpoint {
    Endpoint((1 - side as u32) * u32::from(paths) + path as u32)
}

pub(super) fn quick(protect: Protect) -> Limits {
    Limits {
        protect: Some(protect),
        connect_retries: Some(1000),
        path_timeout_ns: 300_000_000,
        connect_timeout_ns: 10_000_000_000,
        silence_timeout_ns: 10_000_000_000,
        ..limits()
    }
}

pub(super) fn poll_until(all: &[&'static Tcp], seconds: u64, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(seconds);
    while !done() {
        assert!(Instant::now() < end, "nothing happens any more:{}", story(all));
        if all.iter().map(|tcp| poll_once(tcp)).sum::<usize>() == 0 {
            std::thread::yield_now();
        }
    }
}

/// How far each connection is.
fn story(all: &[&'static Tcp]) -> String {
    let mut text = String::new();
    for connection in all.iter().flat_map(|tcp| tcp.transport.all().map(move |connection| (tcp, connection))) {
        let (tcp, connection) = connection;
        let mut poller = tcp.poller.lock();
        let received = poller.rx.get(connection.id).map(|rx| rx.received());
        let tx = connection.tx.lock();
        let (state, resume, via, kept) = (std::format!("{:.20?}", tx.state), tx.resume, tx.via, tx.kept_bytes());
        let unsent = tx.is_drained();
        text += &alloc::format!(
            "\nprocess {} connection {}: {state}, {resume:?}, via {via:?}, {kept} bytes kept, drained {unsent}, received \
             {received:?}, attempt {}, accepted {}, blocked {}, watched {}, deadline in {} ms",
            tcp.transport.job.index,
            connection.id,
            tx.attempt,
            tx.accepted,
            tx.blocked,
            tx.watched,
            (tx.deadline_ns as i64 - opal_core::sys::monotonic_ns() as i64) / 1_000_000
        );
    }
    text
}

fn payload(immediate: u64, bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|at| (at.wrapping_mul(37) ^ (at >> 8) ^ immediate.wrapping_mul(101)) as u8).collect()
}

/// Messages with numbers by sender and path, as `immediate` has them.
#[derive(Default)]
struct Traffic {
    sent: [[Vec<usize>; 2]; 2],
}

impl Traffic {
    fn send(&mut self, hosts: &[&'static Tcp; 2], dice: &mut Dice, paths: u8) {
        let (side, path) = (dice.roll(2), dice.roll(paths as usize));
        let most = [100, 3000, 40_000, 300_000][dice.roll(4)];
        let (bytes, kind) = (dice.roll(most), [PLAIN, PLACED][dice.roll(2)]);
        let number = self.sent[side][path].len() as u64;
        let immediate = (path as u64) << 32 | number;
        let message = payload(immediate, bytes);
        if hosts[side].transport.send(endpoint(side, path, paths), kind, immediate, &message).is_ok() {
            self.sent[side][path].push(bytes);
        }
    }

    fn count(&self) -> usize {
        self.sent.iter().flatten().map(Vec::len).sum()
    }

    fn check(&self, what: &str) {
        let taken = TAKEN.lock().unwrap();
        for (side, path) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mine: Vec<_> = taken.iter().filter(|one| one.0 == side && one.1 >> 32 == path).collect();
            let sent = &self.sent[side as usize][path as usize];
            assert_eq!(mine.len(), sent.len(), "{what}: side {side}, path {path}");
            for (number, (_, immediate, bytes)) in mine.iter().enumerate() {
                assert_eq!(*immediate, path << 32 | number as u64, "{what}: not in order, or not once");
                assert!(*bytes == payload(*immediate, sent[number]), "{what}: message {number} differs");
            }
        }
        assert_eq!(*FAILED.lock().unwrap(), [], "{what}");
    }
}

/// As a box on the way does it that forgets a connection. `false` if there is none.
pub(super) fn reset(tcp: &'static Tcp, endpoint: Endpoint) -> bool {
    let tx = tcp.transport.connection(endpoint.0).unwrap().tx.lock();
    match &tx.socket {
        // The system sends a reset where a connected socket is to have no peer.
        Some(socket) => net::connect_unspec(&**socket).is_ok(),
        None => false,
    }
}

pub(super) fn resumed(hosts: &[&'static Tcp; 2]) -> u64 {
    hosts.iter().map(|tcp| tcp.transport.resumed.load(opal_core::sync::Ordering::Relaxed)).sum()
}

#[test]
fn resets_at_any_time_lose_nothing_and_repeat_nothing() {
    let _guard = start();
    let (mut resumes, mut again) = (0, 0);
    for seed in 0..rounds(40) {
        std::println!("seed {seed}");
        TAKEN.lock().unwrap().clear();
        let mut dice = Dice::new(seed);
        let protect = [Protect::None, Protect::Auth, Protect::Encrypt][seed as usize % 3];
        let paths = 1 + dice.roll(2) as u8;
        let hosts = hosts(paths, quick(protect));
        let mut traffic = Traffic::default();
        for _ in 0..300 {
            match dice.roll(12) {
                side @ (0 | 1) => _ = reset(hosts[side], endpoint(side, dice.roll(paths as usize), paths)),
                2..6 => _ = poll_once(hosts[dice.roll(2)]),
                _ => traffic.send(&hosts, &mut dice, paths),
            }
        }
        poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() >= traffic.count());
        traffic.check(&alloc::format!("seed {seed}"));
        poll_until(&hosts, 20, || hosts.iter().all(|tcp| tcp.transport.is_drained()));
        resumes += resumed(&hosts);
        again += hosts.iter().map(|tcp| tcp.transport.sent_again.load(opal_core::sync::Ordering::Relaxed)).sum::<u64>();
    }
    assert!(resumes > 100 && again > 1_000_000, "{resumes} times a connection went on, {again} bytes were sent again");
}

/// A path drops everything from now on: what is connected, and what connects.
pub(super) fn drop_all(hosts: &[&'static Tcp; 2], path: usize) {
    for tcp in hosts {
        let interface = &tcp.transport.interfaces[path];
        silence(interface.listeners[0].1.as_raw_fd());
        for connection in tcp.transport.all() {
            let tx = connection.tx.lock();
            if let Some(socket) = &tx.socket
                && local_of(socket) == Some(interface.listeners[0].0.address)
            {
                silence(socket.as_raw_fd());
            }
        }
    }
}

pub(super) fn local_of(socket: &OwnedFd) -> Option<IpAddr> {
    let address = std::net::SocketAddr::try_from(net::getsockname(socket).ok()?).ok()?;
    Some(address.ip())
}

/// It lets connections through again.
fn let_through(hosts: &[&'static Tcp; 2], path: usize) {
    for tcp in hosts {
        let listener = tcp.transport.interfaces[path].listeners[0].1.as_raw_fd();
        let zero = 0i32;
        let (place, bytes) = ((&raw const zero).cast(), size_of_val(&zero) as u32);
        // SAFETY: an open descriptor, and a number that the call ignores.
        let result = unsafe { libc::setsockopt(listener, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, place, bytes) };
        assert_eq!(result, 0);
    }
}

#[test]
fn a_path_that_falls_silent_is_replaced_and_used_again() {
    let _guard = start();
    for seed in 0..rounds(3) {
        std::println!("seed {seed}");
        TAKEN.lock().unwrap().clear();
        let mut dice = Dice::new(seed);
        let hosts = hosts(2, quick(Protect::Auth));
        let mut traffic = Traffic::default();
        let dead = dice.roll(2);
        let (own, peer) = (endpoint(0, dead, 2), endpoint(1, dead, 2));
        for side in 0..2 {
            let way = endpoint(side, dead, 2);
            let immediate = (dead as u64) << 32;
            hosts[side].transport.send(way, PLAIN, immediate, &payload(immediate, 10)).unwrap();
            traffic.sent[side][dead].push(10);
            poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == traffic.count());
        }
        for step in 0..200 {
            match dice.roll(4) {
                _ if step == 50 => drop_all(&hosts, dead),
                0 => _ = poll_once(hosts[dice.roll(2)]),
                _ => traffic.send(&hosts, &mut dice, 2),
            }
        }
        poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() >= traffic.count());
        traffic.check(&alloc::format!("seed {seed}"));
        assert!(resumed(&hosts) > 0, "nothing was noticed");
        let is_away = || {
            let via = |tcp: &Tcp, endpoint: Endpoint| tcp.transport.connection(endpoint.0).unwrap().tx.lock().via;
            via(hosts[0], own).is_some() || via(hosts[1], peer).is_some()
        };
        assert!(is_away(), "the silent path is used");
        let_through(&hosts, dead);
        poll_until(&hosts, 20, || !is_away() && state(hosts[0], own) == State::Connected);
        for _ in 0..50 {
            traffic.send(&hosts, &mut dice, 2);
        }
        poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() >= traffic.count());
        traffic.check(&alloc::format!("seed {seed}, at home"));
        let socket = hosts[0].transport.connection(own.0).unwrap().tx.lock().socket.clone().unwrap();
        assert_eq!(local_of(&socket), Some(hosts[0].transport.interfaces[dead].listeners[0].0.address));
    }
}

/// Also where the connection broke in another way before.
#[test]
fn where_no_path_is_left_the_peer_is_lost_and_all_are_named() {
    let _guard = start();
    let limits = Limits { connect_timeout_ns: 200_000_000, silence_timeout_ns: 1_000_000_000, ..quick(Protect::Auth) };
    for is_reset in [false, true] {
        FAILED.lock().unwrap().clear();
        TAKEN.lock().unwrap().clear();
        let hosts = hosts(2, limits);
        hosts[0].transport.send(endpoint(0, 0, 2), PLAIN, 0, b"hello").unwrap();
        poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 1);
        [0, 1].into_iter().for_each(|path| drop_all(&hosts, path));
        hosts[0].transport.send(endpoint(0, 0, 2), PLAIN, 1, b"lost").unwrap();
        let start = Instant::now();
        assert!(!is_reset || reset(hosts[0], endpoint(0, 0, 2)));
        let said = said(|| poll_until(&[hosts[0]], 20, || *FAILED.lock().unwrap() == [1]));
        assert!(start.elapsed() >= Duration::from_secs(1), "a host has the time of silence_timeout_s");
        assert!(hosts[0].transport.send(endpoint(0, 0, 2), PLAIN, 2, b"gone").is_err());
        let why = if is_reset { "the other end closed it" } else { "the other end does not answer" };
        let ends = "Tried: from 127.0.0.1 (interface lo) to 127.0.0.1:";
        for part in ["process 1 cannot be reached any more", why, ends, "; from 127.0.0.2", "to 127.0.0.2:"] {
            assert!(said.contains(part), "`{said}` does not say `{part}`");
        }
    }
}

/// Long before any deadline.
#[test]
fn a_peer_that_ended_is_lost_at_once() {
    let _guard = start();
    for paths in [1, 2] {
        FAILED.lock().unwrap().clear();
        TAKEN.lock().unwrap().clear();
        let hosts = hosts(paths, Limits { path_timeout_ns: 5_000_000_000, ..quick(Protect::Auth) });
        hosts[0].transport.send(endpoint(0, 0, paths), PLAIN, 0, b"hello").unwrap();
        poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 1);
        for interface in &hosts[1].transport.interfaces {
            net::shutdown(&interface.listeners[0].1, net::Shutdown::Both).unwrap();
        }
        assert!(reset(hosts[1], endpoint(1, 0, paths)));
        let start = Instant::now();
        poll_until(&[hosts[0]], 20, || *FAILED.lock().unwrap() == [1]);
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    }
}

#[test]
fn what_is_kept_is_bounded_and_given_back() {
    let _guard = start();
    let limits =
        Limits { unacknowledged_bytes: 2 << 20, send_buffer: 8 << 20, receive_buffer: 8 << 20, ..quick(Protect::None) };
    let hosts = hosts(1, limits);
    let there = endpoint(0, 0, 1);
    hosts[0].transport.send(there, PLAIN, 0, b"hello").unwrap();
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 1);
    let message = vec![1; 60_000];
    let kept = || hosts[0].transport.connection(there.0).unwrap().tx.lock().kept_bytes();
    let mut sent = 1;
    while hosts[0].transport.send(there, PLAIN, 1, &message).is_ok() {
        sent += 1;
        poll_once(hosts[0]);
        assert!(
            kept() <= limits.unacknowledged_bytes + message.len() + limits.queue_bytes,
            "{} bytes are kept",
            kept()
        );
    }
    assert!(sent > 20, "full after {sent} messages");
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == sent);
    // The rest of what an acknowledgement comes for.
    poll_until(&hosts, 20, || kept() <= crate::rx::ACK_BYTES as usize + message.len());
    assert!(hosts[0].transport.send(there, PLAIN, 1, &message).is_ok(), "nothing was given back");
}

/// On a wire where somebody changes a byte now and then, in the handshake and after it, in both directions.
#[test]
fn what_changed_on_the_way_is_sent_again() {
    let _guard = start();
    let mut resumes = 0;
    for seed in 0..rounds(8) {
        std::println!("seed {seed}");
        TAKEN.lock().unwrap().clear();
        let mut dice = Dice::new(seed);
        let limits = quick([Protect::Auth, Protect::Encrypt][seed as usize % 2]);
        let hosts = [host(0, 1, limits), host(1, 1, limits)];
        let (near, far) = (record(hosts[0]), record(hosts[1]));
        let mut relay = Relay::new((far.address, far.port).into());
        hosts[0].transport.add(1, 0, near, AddressRecord { port: relay.port(), ..far }).unwrap();
        hosts[1].transport.add(0, 0, far, near).unwrap();
        let (mut traffic, mut changed) = (Traffic::default(), 0);
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            // Only the one whose connection passes here begins one. What has broken takes nothing until the next poll.
            let number = traffic.count() as u64;
            if number < 100 {
                if hosts[0].transport.send(endpoint(0, 0, 1), PLAIN, number, &payload(number, 20_000)).is_ok() {
                    traffic.sent[0][0].push(20_000);
                }
                hosts[0].transport.flush();
            } else if TAKEN.lock().unwrap().len() == traffic.count() {
                break;
            }
            hosts.iter().for_each(|tcp| _ = poll_once(tcp));
            assert!(Instant::now() < end, "seed {seed}: nothing happens any more");
            relay.pass(|_, bytes| {
                // No more often than a handshake bears it.
                if changed < 3 && dice.roll(6) == 0 {
                    bytes[dice.roll(bytes.len())] ^= 1 << dice.roll(8);
                    changed += 1;
                }
            });
        }
        traffic.check(&alloc::format!("seed {seed}"));
        assert!(changed > 0, "seed {seed}: nothing was changed");
        resumes += resumed(&hosts);
    }
    assert!(resumes > 0, "nothing was changed after a handshake");
}

#[test]
fn a_stream_is_drained_when_the_other_system_has_it() {
    let _guard = start();
    let hosts = hosts(1, quick(Protect::None));
    hosts[0].transport.send(endpoint(0, 0, 1), PLAIN, 0, b"hello").unwrap();
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 1);
    drop_all(&hosts, 0);
    hosts[0].transport.send(endpoint(0, 0, 1), PLAIN, 1, b"on its way").unwrap();
    hosts[0].transport.flush();
    let socket = hosts[0].transport.connection(endpoint(0, 0, 1).0).unwrap().tx.lock().socket.clone().unwrap();
    assert!(raw::unacknowledged(&socket) > 0 && !hosts[0].transport.is_drained());
    let_through(&hosts, 0);
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 2 && hosts[0].transport.is_drained());
}

#[test]
fn a_measurement_counts_what_is_on_its_way() {
    let _guard = start();
    let hosts = hosts(1, quick(Protect::None));
    let send = |bytes: usize| hosts[0].transport.send(endpoint(0, 0, 1), PLAIN, 0, &vec![1; bytes]).unwrap();
    send(5);
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 1);
    drop_all(&hosts, 0);
    let first = || hosts[0].transport.connection(endpoint(0, 0, 1).0).unwrap().tx.lock().meter.first();
    send(20_000);
    hosts[0].transport.flush();
    assert_eq!(first(), None, "that is little");
    send(256 << 10);
    // Whether the peer's system has said that it has the first message, or not yet.
    assert!(first().is_some_and(|first| first <= (HEADER_BYTES + 5) as u64), "{:?}", first());
    let_through(&hosts, 0);
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 3);
}

/// A process that waits for a message of the peer looks at this connection alone.
#[test]
fn an_acknowledgement_is_noted_by_who_waits_for_a_message() {
    let _guard = start();
    let hosts = hosts(1, quick(Protect::None));
    let to = endpoint(0, 0, 1);
    let send = |bytes: usize| hosts[0].transport.send(to, PLAIN, 0, &vec![1; bytes]).unwrap();
    send(5);
    hosts[0].transport.flush();
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 1);
    send(300 << 10);
    let unacknowledged = || hosts[0].transport.connection(to.0).unwrap().tx.lock().throughput();
    let end = Instant::now() + Duration::from_secs(20);
    while unacknowledged().is_none_or(|throughput| throughput.unacknowledged > 0) {
        assert!(Instant::now() < end, "it is not noted:{}", story(&hosts));
        poll_once(hosts[1]);
        let mut poller = hosts[0].poller.lock();
        assert!(poller.peek(&hosts[0].transport, to.0).is_none());
    }
    assert_eq!(TAKEN.lock().unwrap().len(), 2);
}

/// Each message is an answer, so that the system waits for the next one before it acknowledges: 40 ms if none comes.
#[test]
fn what_came_is_acknowledged_at_once_when_the_stream_is_to_end() {
    let _guard = start();
    let hosts = hosts(1, quick(Protect::None));
    let mut least = Duration::MAX;
    for round in 0..10 {
        for number in 0..20 {
            let from = number % 2;
            hosts[from].transport.send(endpoint(from, 0, 1), PLAIN, 0, b"a message").unwrap();
            hosts[from].transport.flush();
            poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == round * 20 + number + 1);
        }
        let begin = Instant::now();
        // Process 0, which heard last, has nothing to wait for, and asks once.
        hosts[0].transport.is_drained();
        poll_until(&hosts[1..], 20, || hosts[1].transport.is_drained());
        least = least.min(begin.elapsed());
    }
    assert!(least < Duration::from_millis(20), "{least:?}");
}
