//! Attempts to connect that are made again, and the deadline of each state of the handshake.

use super::connections::{ARRIVED, FAILED, acquainted, alone, failover, poll_once, poll_until, state};
use super::*;
use crate::handshake::{self, HELLO_BYTES, PROOF_BYTES, YIELD};
use crate::state::State;
use opal_core::framework::btl::Endpoint;
use rustix::net;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Process 0 of two, which gives up after this time and so many retries, and its endpoint of a peer at a port.
pub fn client(timeout: Duration, connect_retries: impl Into<Option<u32>>, port: u16) -> (&'static Tcp, Endpoint) {
    let connect_retries = connect_retries.into();
    let limits = Limits { connect_timeout_ns: timeout.as_nanos() as u64, connect_retries, ..limits() };
    let low = tcp_at(job(0, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), limits);
    let there = low.transport.add(1, 0, record(low), AddressRecord { port, ..record(low) }).unwrap();
    (low, there)
}

/// A port on which nobody listens, and which the system gives to nobody: not to this process as the source of the very
/// connection to it, either.
pub fn free_port() -> u16 {
    let socket = net::socket(net::AddressFamily::INET, net::SocketType::STREAM, None).unwrap();
    net::sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    net::bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = SocketAddr::try_from(net::getsockname(&socket).unwrap()).unwrap().port();
    core::mem::forget(socket);
    port
}

pub fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Accepts and answers the hello, as process 1; returns the connection after the proof has come.
fn proved(listener: &TcpListener, low: &'static Tcp) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    let answered = std::thread::spawn(move || {
        let mut hello = [0; HELLO_BYTES];
        stream.read_exact(&mut hello).unwrap();
        stream.write_all(&handshake::answer(&job(1, 2), &hello, &[5; 32], handshake::Progress::default())).unwrap();
        stream.read_exact(&mut [0; PROOF_BYTES]).unwrap();
        stream
    });
    poll_until(&[low], || answered.is_finished());
    answered.join().unwrap()
}

#[test]
fn a_refused_connection_is_tried_again() {
    let _guard = alone();
    let port = free_port();
    let (low, there) = client(Duration::from_secs(10), 1000, port);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    poll_until(&[low], || matches!(state(low, there), State::Backoff { .. }));
    // Sends and polls go on meanwhile.
    low.transport.send(there, 0, 2, b"hello?").unwrap();
    let start = Instant::now();
    poll_once(low);
    assert!(start.elapsed() < Duration::from_secs(1), "a poll waits for the backoff");
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let high = tcp_with_port(job(1, 2), address, port);
    high.transport.add(0, 0, record(high), record(low)).unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 2);
    assert_eq!(*FAILED.lock().unwrap(), []);
}

#[test]
fn retries_end_after_their_number_and_at_the_deadline() {
    let _guard = alone();
    // Pauses of 10, 20 and 40 ms.
    for (timeout_ms, retries, least_ms, most_ms) in
        [(10_000, 0, 0, 5000), (10_000, 3, 70, 5000), (500, 1000, 150, 5000)]
    {
        FAILED.lock().unwrap().clear();
        let (low, there) = client(Duration::from_millis(timeout_ms), retries, free_port());
        let start = Instant::now();
        low.transport.send(there, 0, 1, b"hello?").unwrap();
        poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(least_ms), "{retries} retries in {took:?}");
        assert!(took < Duration::from_millis(most_ms), "{retries} retries in {took:?}");
        let made = low.transport.connection(there.0).unwrap().tx.lock().retries;
        assert!(made <= retries && (made == retries || timeout_ms == 500), "{made} of {retries} retries");
    }
}

/// Who says nothing of the number of retries has the deadline, which five of them do not fill.
#[test]
fn the_only_path_is_tried_until_the_deadline() {
    let _guard = alone();
    let port = free_port();
    let (low, there) = client(Duration::from_secs(30), None, port);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    let retries = || low.transport.connection(there.0).unwrap().tx.lock().retries;
    poll_until(&[low], || retries() > 6);
    assert_eq!(*FAILED.lock().unwrap(), []);
    let high = tcp_with_port(job(1, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    high.transport.add(0, 0, record(high), record(low)).unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);

    FAILED.lock().unwrap().clear();
    let (low, there) = client(Duration::from_secs(1), None, free_port());
    let start = Instant::now();
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    // A pause that would end behind it is not begun.
    assert!(start.elapsed() >= Duration::from_millis(400), "given up after {:?}", start.elapsed());
}

/// Who accepts and closes, again and again, has no deadline, but fifteen tries.
#[test]
fn somebody_who_closes_each_connection_is_given_up() {
    let _guard = alone();
    let (listener, port) = listener();
    let (low, there) = client(Duration::from_secs(3), None, port);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut closed = 0;
    poll_until(&[low], || {
        closed += usize::from(listener.accept().is_ok());
        *FAILED.lock().unwrap() == [1]
    });
    assert!(closed > 5, "given up after {closed} connections");
}

/// Of two paths the one that refuses is left after five retries, long before the deadline.
#[test]
fn a_path_that_refuses_is_left_for_another_one() {
    let _guard = alone();
    let limits = Limits { connect_timeout_ns: 60_000_000_000, connect_retries: None, ..limits() };
    let local = |number| interface_at(number, job(0, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let low = over(job(0, 2), limits, (0..2).map(local).collect());
    let high = with_interfaces(job(1, 2), 2);
    let of = |tcp: &Tcp, path: usize| tcp.transport.interfaces[path].listeners[0].0;
    let port = free_port();
    for path in 0..2 {
        let remote = of(high, path);
        let remote = if path == 0 { AddressRecord { port, ..remote } } else { remote };
        low.transport.add(1, path, of(low, path), remote).unwrap();
        high.transport.add(0, path, of(high, path), of(low, path)).unwrap();
    }
    low.transport.send(Endpoint(2), 0, 1, b"hello?").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    assert_eq!(failover(low, Endpoint(2)), Some(3));
    assert_eq!(low.transport.connection(2).unwrap().tx.lock().retries, 5);
}

#[test]
fn a_host_that_is_silent_after_the_hello_is_given_up() {
    let _guard = alone();
    let (listener, port) = listener();
    let (low, there) = client(Duration::from_secs(1), 0, port);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    let (stream, _) = listener.accept().unwrap();
    silence(stream.as_raw_fd());
    poll_until(&[low], || matches!(state(low, there), State::HelloSent(_)));
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
}

#[test]
fn a_host_that_is_silent_after_the_proof_is_given_up() {
    let _guard = alone();
    let (listener, port) = listener();
    let (low, there) = client(Duration::from_secs(1), 0, port);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    let stream = proved(&listener, low);
    assert_eq!(state(low, there), State::ProofSent);
    silence(stream.as_raw_fd());
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
}

#[test]
fn a_peer_whose_connection_goes_first_and_never_comes_is_tried_again() {
    let _guard = alone();
    let (listener, port) = listener();
    let (low, there) = client(Duration::from_secs(1), 0, port);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    let mut stream = proved(&listener, low);
    stream.write_all(&[YIELD]).unwrap();
    poll_until(&[low], || state(low, there) == State::Yielded);
    listener.set_nonblocking(true).unwrap();
    poll_until(&[low], || listener.accept().is_ok());
    assert_eq!(*FAILED.lock().unwrap(), []);
}

#[test]
fn an_accepted_connection_whose_host_is_silent_is_closed() {
    let _guard = alone();
    let limits = Limits { connect_timeout_ns: 1_000_000_000, ..limits() };
    let high = tcp_at(job(1, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), limits);
    let stream = TcpStream::connect((record(high).address, record(high).port)).unwrap();
    poll_until(&[high], || high.poller.lock().pending_accepts() == 1);
    silence(stream.as_raw_fd());
    poll_until(&[high], || high.poller.lock().pending_accepts() == 0);
}

/// A program may compute for longer than any timeout between two MPI calls.
#[test]
fn a_peer_that_computes_is_waited_for() {
    let _guard = alone();
    let limits = Limits { connect_timeout_ns: 1_000_000_000, ..limits() };
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (low, high) = (tcp_at(job(0, 2), address, limits), tcp_at(job(1, 2), address, limits));
    let (low, high, there, _) = acquainted(low, high);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    let start = Instant::now();
    poll_until(&[low], || start.elapsed() > Duration::from_secs(3));
    assert!(matches!(state(low, there), State::HelloSent(_)));
    // The connection, then the hello; the proof waits for the next poll.
    (0..3).for_each(|_| _ = poll_once(high));
    let start = Instant::now();
    poll_until(&[low], || start.elapsed() > Duration::from_secs(3));
    assert_eq!(state(low, there), State::ProofSent);
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    assert_eq!(*FAILED.lock().unwrap(), []);
}

/// Something that accepts and answers half.
#[test]
fn half_an_answer_has_a_deadline() {
    let _guard = alone();
    let (listener, port) = listener();
    let (low, there) = client(Duration::from_secs(1), 0, port);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(&[7; HELLO_BYTES / 2]).unwrap();
    let start = Instant::now();
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    assert!(start.elapsed() >= Duration::from_millis(800), "given up before the deadline");
}

/// Something that is not the peer accepts on its first path and says nothing, for ever. The peer answers on its second one.
#[test]
fn somebody_who_accepts_and_says_nothing_is_replaced_by_another_path() {
    let _guard = alone();
    let (_listener, port) = listener();
    let limits = Limits { connect_timeout_ns: 1_000_000_000, ..limits() };
    let (low, high) = (with_interfaces(job(0, 2), 2), with_interfaces(job(1, 2), 2));
    let low = over(
        low.transport.job,
        limits,
        (0..2).map(|number| interface_at(number, job(0, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), 0)).collect(),
    );
    let of = |tcp: &Tcp, path: usize| tcp.transport.interfaces[path].listeners[0].0;
    for path in 0..2 {
        let remote = of(high, path);
        let remote = if path == 0 { AddressRecord { port, ..remote } } else { remote };
        low.transport.add(1, path, of(low, path), remote).unwrap();
        high.transport.add(0, path, of(high, path), of(low, path)).unwrap();
    }
    low.transport.send(Endpoint(2), 0, 1, b"hello?").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    assert_eq!(failover(low, Endpoint(2)), Some(3));
    assert_eq!(*FAILED.lock().unwrap(), []);
}
