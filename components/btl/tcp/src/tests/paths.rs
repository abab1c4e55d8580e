//! Paths that cannot be connected or that break later, and IPv6.

use super::connections::{ARRIVED, FAILED, acquainted, alone, failover, poll_until, state};
use super::*;
use crate::failure_message;
use crate::path::Path;
use crate::state::State;
use alloc::vec::Vec;
use opal_core::framework::btl;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

#[test]
fn the_other_family() {
    let _guard = alone();
    let six: IpAddr = "::1".parse().unwrap();
    let Ok(_) = std::net::TcpListener::bind((six, 0)) else {
        // The tier `cluster` makes an interface of its own for this.
        std::println!("this machine has no IPv6 on its loopback: not tested here");
        return;
    };
    let (low, high) = (tcp_at(job(0, 2), six, limits()), tcp_at(job(1, 2), six, limits()));
    let (low, high, there, back) = acquainted(low, high);
    let long: Vec<u8> = (0..300_000).map(|index| (index * 3) as u8).collect();
    low.transport.send(there, 0, 1, &long).unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    high.transport.send(back, 0, 2, b"and back").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 2);
    assert_eq!(*ARRIVED.lock().unwrap(), [(0, 1, long), (1, 2, b"and back".to_vec())]);
    let socket = low.transport.connection(there.0).unwrap().tx.lock().socket.clone().unwrap();
    let SocketAddr::V6(end) = SocketAddr::try_from(net::getpeername(&*socket).unwrap().unwrap()).unwrap() else {
        panic!("the connection is of the other family")
    };
    assert_eq!(IpAddr::V6(*end.ip()), six);
}

/// A listener whose queue is full: the system drops what connects now, as a firewall does.
fn silent_listener() -> (OwnedFd, Vec<OwnedFd>, u16) {
    let (family, kind) = (net::AddressFamily::INET, net::SocketType::STREAM);
    let listener = net::socket_with(family, kind, net::SocketFlags::CLOEXEC, None).unwrap();
    net::bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    net::listen(&listener, 0).unwrap();
    let address = SocketAddr::try_from(net::getsockname(&listener).unwrap()).unwrap();
    let clients = (0..4).map(|_| {
        let client = net::socket_with(family, kind, net::SocketFlags::NONBLOCK, None).unwrap();
        assert!(matches!(net::connect(&client, &address), Ok(()) | Err(Errno::INPROGRESS)));
        client
    });
    let clients = clients.collect();
    (listener, clients, address.port())
}

#[test]
fn nobody_answers_until_the_deadline() {
    let _guard = alone();
    let timeout = Duration::from_millis(1500);
    let limits = Limits { connect_timeout_ns: timeout.as_nanos() as u64, ..limits() };
    let low = tcp_at(job(0, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), limits);
    let (_listener, _clients, port) = silent_listener();
    let there = low.transport.add(1, 0, record(low), AddressRecord { port, ..record(low) }).unwrap();
    let start = Instant::now();
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    assert!(matches!(state(low, there), State::Connecting));
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    assert!(start.elapsed() >= timeout, "given up before the deadline");
    assert_eq!(state(low, there), State::Closed);
    let connection = low.transport.connection(there.0).unwrap();
    let said = failure_message::cannot(
        &low.transport,
        connection,
        &failure_message::too_late(&low.transport, &connection.tx.lock()),
    );
    let wanted =
        ["from 127.0.0.1 (interface lo)", &alloc::format!("to 127.0.0.1:{port}, process 1"), "within 1 s", "timeout"];
    for part in wanted {
        assert!(said.contains(part), "`{said}` does not say `{part}`");
    }
}

#[test]
fn a_reset_is_told_to_its_peer_only() {
    let _guard = alone();
    for seed in 0..20 {
        let mut dice = Dice::new(seed);
        let (low, high, there, _) = acquainted(tcp(job(0, 2)), tcp(job(1, 2)));
        let (other, fine, way, _) = acquainted(tcp(job(0, 2)), tcp(job(1, 2)));
        ARRIVED.lock().unwrap().clear();
        FAILED.lock().unwrap().clear();
        low.transport.send(there, 0, 1, b"good").unwrap();
        other.transport.send(way, 0, 2, b"good").unwrap();
        poll_until(&[low, high, other, fine], || ARRIVED.lock().unwrap().len() == 2);
        for _ in 0..dice.roll(4) {
            low.transport.send(there, 0, 3, &vec![1; 1 + dice.roll(100_000)]).unwrap();
        }
        if dice.roll(2) == 0 {
            super::connections::poll_once(high);
        }
        // Closing a socket that lingers for no time sends a reset instead of an end.
        let socket = low.transport.connection(there.0).unwrap().tx.lock().socket.clone().unwrap();
        net::sockopt::set_socket_linger(&*socket, Some(Duration::ZERO)).unwrap();
        drop(socket);
        low.transport.close(low.transport.connection(there.0).unwrap());
        low.poller.lock().remove(there.0);
        poll_until(&[high], || *FAILED.lock().unwrap() == [0]);
        other.transport.send(way, 0, 9, b"still here").unwrap();
        poll_until(&[other, fine], || ARRIVED.lock().unwrap().last().is_some_and(|last| last.1 == 9));
        assert_eq!(*FAILED.lock().unwrap(), [0], "seed {seed}");
    }
}

/// Two processes with two paths, of which the first leads nowhere for the process with the lower index.
fn two_paths(dice: &mut Dice) -> (&'static Tcp, &'static Tcp) {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = gone.local_addr().unwrap().port();
    let (low, high) = (with_interfaces(job(0, 2), 2), with_interfaces(job(1, 2), 2));
    let records = |tcp: &'static Tcp, port: usize| tcp.transport.interfaces[port].listeners[0].0;
    let order = if dice.roll(2) == 0 { [0, 1] } else { [1, 0] };
    for port in order {
        let (near, far) = (records(low, port), records(high, port));
        let wrong = AddressRecord { port: dead, ..far };
        low.transport.add(1, port, near, if port == 0 { wrong } else { far }).unwrap();
        high.transport
            .add(0, port, far, if port == 0 && dice.roll(2) == 0 { AddressRecord { port: dead, ..near } } else { near })
            .unwrap();
    }
    (low, high)
}

#[test]
fn a_path_that_cannot_be_made_fails_over_and_its_order_stays() {
    let _guard = alone();
    let mut failovers = 0;
    for seed in 0..60 {
        let mut dice = Dice::new(seed);
        let (low, high) = two_paths(&mut dice);
        ARRIVED.lock().unwrap().clear();
        // By side and path.
        let mut sent = [[0u64; 2]; 2];
        for _ in 0..120 {
            let (path, side) = (dice.roll(2) as u32, dice.roll(2));
            let (tcp, endpoint) = [(low, 2 + path), (high, path)][side];
            let payload = vec![seed as u8; dice.roll(2000)];
            let immediate = u64::from(path) << 32 | sent[side][path as usize];
            if dice.roll(3) == 0 {
                super::connections::poll_once(tcp);
            } else if tcp.transport.send(btl::Endpoint(endpoint), 0, immediate, &payload).is_ok() {
                sent[side][path as usize] += 1;
            }
        }
        let all: u64 = sent.iter().flatten().sum();
        poll_until(&[low, high], || ARRIVED.lock().unwrap().len() as u64 >= all);
        let arrived = ARRIVED.lock().unwrap();
        for (side, path) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mine = arrived.iter().filter(|one| one.0 == side && one.1 >> 32 == path as u64);
            let heads: Vec<u64> = mine.map(|one| one.1 & 0xffff_ffff).collect();
            let wanted: Vec<u64> = (0..sent[side as usize][path as usize]).collect();
            assert_eq!(heads, wanted, "seed {seed}, side {side}, path {path}: in order, each once");
        }
        assert_eq!(*FAILED.lock().unwrap(), [], "seed {seed}");
        failovers += usize::from(failover(low, btl::Endpoint(2)) == Some(3));
    }
    assert!(failovers > 20, "only {failovers} times was a path given up");
}

#[test]
fn no_path_is_left() {
    let _guard = alone();
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = gone.local_addr().unwrap().port();
    drop(gone);
    let low = with_interfaces(job(0, 2), 2);
    for port in 0..2 {
        let near = low.transport.interfaces[port].listeners[0].0;
        low.transport.add(1, port, near, AddressRecord { port: dead, ..near }).unwrap();
    }
    low.transport.send(btl::Endpoint(2), 0, 1, b"hello?").unwrap();
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    assert!(low.transport.send(btl::Endpoint(2), 0, 1, b"hello?").is_err());
    assert!(low.transport.is_drained());
}

/// Process 0 of two, whose guesses of addresses are these: the listener's ports stand for addresses. Returns its endpoint.
fn guessing(low: &'static Tcp, remote: AddressRecord, ports: &[u16]) -> btl::Endpoint {
    let path = |port: &u16| Path { local: record(low), remote: AddressRecord { port: *port, ..remote } };
    let spare = ports[1..].iter().map(path).collect();
    low.transport.add_guessing(1, 0, (record(low), remote), path(&ports[0]), spare).unwrap()
}

/// Wrong guesses of each kind, and one that is right: nobody answers, nobody listens, a stranger listens and closes, another one says
/// nothing. All of them cost two deadlines: one for the first guess, one for all others.
#[test]
fn wrong_guesses_cost_their_deadline_once() {
    let _guard = alone();
    let timeout = Duration::from_secs(2);
    let limits = Limits { connect_timeout_ns: timeout.as_nanos() as u64, connect_retries: Some(0), ..limits() };
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (low, high) = (tcp_at(job(0, 2), address, limits), tcp(job(1, 2)));
    high.transport.add(0, 0, record(high), record(low)).unwrap();
    let (_listener, _clients, dead) = silent_listener();
    let closing = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    closing.set_nonblocking(true).unwrap();
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = super::retries::free_port();
    let port = |listener: &std::net::TcpListener| listener.local_addr().unwrap().port();
    let mut ports = vec![dead, refusing, port(&closing), port(&mute)];
    ports.extend([dead; 11]);
    ports.push(record(high).port);
    let there = guessing(low, record(high), &ports);
    let start = Instant::now();
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    poll_until(&[low, high], || {
        drop(closing.accept());
        ARRIVED.lock().unwrap().len() == 1
    });
    let took = start.elapsed();
    assert!(took >= timeout && took < 4 * timeout, "found after {took:?}");
    assert_eq!(*FAILED.lock().unwrap(), []);
    let found = low.transport.connection(there.0).unwrap().found.get().copied().expect("what was found stays");
    assert_eq!(found.remote.port, record(high).port);
    assert!(low.transport.connection(there.0).unwrap().tx.lock().candidates.is_none());
}

#[test]
fn where_no_guess_is_right_the_peer_is_lost() {
    let _guard = alone();
    let limits = Limits { connect_timeout_ns: 1_000_000_000, connect_retries: Some(0), ..limits() };
    let low = tcp_at(job(0, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), limits);
    let (_listener, _clients, dead) = silent_listener();
    let there = guessing(low, record(low), &[dead, super::retries::free_port(), dead]);
    let start = Instant::now();
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    assert!(start.elapsed() >= Duration::from_secs(2), "the first guess and the others have a deadline each");
    assert_eq!(state(low, there), State::Closed);
}

/// Seven paths that swallow everything, and the last one leads there: all begin soon after the first, and end together.
#[test]
fn paths_that_lead_nowhere_cost_one_deadline_together() {
    let _guard = alone();
    let timeout = Duration::from_secs(3);
    let limits = Limits { connect_timeout_ns: timeout.as_nanos() as u64, ..limits() };
    let local = |number| interface_at(number, job(0, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let low = over(job(0, 2), limits, (0..8).map(local).collect());
    let high = with_interfaces(job(1, 2), 8);
    let (_listener, _clients, dead) = silent_listener();
    let of = |tcp: &Tcp, path: usize| tcp.transport.interfaces[path].listeners[0].0;
    for path in 0..8 {
        let port = if path < 7 { dead } else { of(high, path).port };
        low.transport.add(1, path, of(low, path), AddressRecord { port, ..of(high, path) }).unwrap();
        high.transport.add(0, path, of(high, path), of(low, path)).unwrap();
    }
    let start = Instant::now();
    low.transport.send(btl::Endpoint(8), 0, 1, b"hello?").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    assert!(start.elapsed() < 2 * timeout, "found after {:?}", start.elapsed());
    assert_eq!(failover(low, btl::Endpoint(8)), Some(15));
}

/// Where another path leads to the peer nobody waits for the deadline of one that swallows everything.
#[test]
fn a_silent_path_is_left_when_another_one_leads_there() {
    let _guard = alone();
    let limits = Limits { connect_timeout_ns: 60_000_000_000, ..limits() };
    let local = |number| interface_at(number, job(0, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let low = over(job(0, 2), limits, (0..2).map(local).collect());
    let high = with_interfaces(job(1, 2), 2);
    let (_listener, _clients, dead) = silent_listener();
    let of = |tcp: &Tcp, path: usize| tcp.transport.interfaces[path].listeners[0].0;
    for path in 0..2 {
        let port = if path == 0 { dead } else { of(high, path).port };
        low.transport.add(1, path, of(low, path), AddressRecord { port, ..of(high, path) }).unwrap();
        high.transport.add(0, path, of(high, path), of(low, path)).unwrap();
    }
    let start = Instant::now();
    low.transport.send(btl::Endpoint(2), 0, 1, b"hello?").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    assert!(start.elapsed() < Duration::from_secs(30), "found after {:?}", start.elapsed());
    assert_eq!(failover(low, btl::Endpoint(2)), Some(3));
}
