//! Outsiders who reach a port and do not know the secret: the job loses nothing and prints little.

use super::connections::{ARRIVED, FAILED, acquainted, alone, poll_once, poll_until, state};
use super::*;
use crate::handshake::{self, EndpointIds, HELLO_BYTES};
use crate::state::State;
use rustix::fd::OwnedFd;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const IDS: EndpointIds = EndpointIds {
    from: 0,
    to: 1,
    from_interface: 0,
    to_interface: 0,
    protect: crate::record::Protect::None,
    progress: handshake::Progress { received: 0, resumes: false },
    attempt: 1,
};

fn port_of(tcp: &Tcp) -> SocketAddr {
    SocketAddr::new(record(tcp).address, record(tcp).port)
}

/// A connection from an address of the loopback, for a test that must tell sources apart.
fn outsider(from: u8, to: SocketAddr) -> OwnedFd {
    socket::connect(IpAddr::V4(Ipv4Addr::new(127, 0, 0, from)), to, &limits()).unwrap()
}

fn send_all(socket: &OwnedFd, bytes: &[u8]) {
    let end = Instant::now() + Duration::from_secs(5);
    while socket::send(socket, bytes) != Ok(bytes.len()) {
        assert!(Instant::now() < end, "the loopback connects at once");
    }
}

fn counts(tcp: &Tcp) -> (usize, u64) {
    tcp.poller.lock().closed_counts()
}

fn exchange(low: &'static Tcp, high: &'static Tcp, there: opal_core::framework::btl::Endpoint) {
    let before = ARRIVED.lock().unwrap().len();
    low.transport.send(there, 0, 7, b"to you").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() > before);
    assert_eq!(*FAILED.lock().unwrap(), []);
}

#[test]
fn a_wrong_wire_id_is_said_once_for_each_source() {
    let _guard = alone();
    let (low, high, there, _) = acquainted(tcp(job(0, 2)), tcp(job(1, 2)));
    let mut hello = handshake::hello(&job(0, 2), IDS, &[1; 16]);
    for number in 0..1000u32 {
        hello[8..12].copy_from_slice(&number.to_le_bytes());
        TcpStream::connect(port_of(high)).unwrap().write_all(&hello).unwrap();
        poll_once(high);
    }
    poll_until(&[high], || counts(high).1 == 1000);
    assert_eq!(counts(high).0, 1, "lines for one source");
    // However many sources there are, what is written has an end.
    let all: Vec<OwnedFd> = (2..100).map(|from| outsider(from, port_of(high))).collect();
    all.iter().for_each(|socket| send_all(socket, &hello));
    poll_until(&[high], || counts(high).1 == 1098);
    assert_eq!(counts(high).0, 16, "lines in all");
    exchange(low, high, there);
}

#[test]
fn outsiders_move_nothing() {
    let _guard = alone();
    let high = tcp(job(1, 2));
    let mut all = Vec::new();
    for seed in 0..200u64 {
        let mut stream = TcpStream::connect(port_of(high)).unwrap();
        let hello = handshake::hello(&job(0, 2), IDS, &[seed as u8; 16]);
        _ = stream.write_all(&hello[..Dice::new(seed).roll(HELLO_BYTES + 1)]);
        all.push(stream);
        assert_eq!(poll_once(high), 0, "an outsider holds up whoever waits until nothing moves");
    }
    assert!(high.poller.lock().pending_accepts() > 0);
    drop(all);
    for _ in 0..200 {
        assert_eq!(poll_once(high), 0);
    }
}

#[test]
fn half_open_connections_have_a_deadline() {
    let _guard = alone();
    let limits = Limits { connect_timeout_ns: 100_000_000, ..limits() };
    let high = tcp_at(job(1, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), limits);
    let mut all: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(port_of(high)).unwrap()).collect();
    // Nothing, a part, and a hello without the proof.
    let hello = handshake::hello(&job(0, 2), IDS, &[1; 16]);
    all[1].write_all(&hello[..10]).unwrap();
    all[2].write_all(&hello).unwrap();
    poll_until(&[high], || high.poller.lock().pending_accepts() == 3);
    poll_until(&[high], || high.poller.lock().pending_accepts() == 0);
    for mut stream in all {
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        assert!(
            !matches!(&ended, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock),
            "still open: {ended:?}"
        );
    }
}

/// It closes what it was given, and the process that was away tries again without having that count.
#[test]
fn a_peer_that_computes_beyond_the_deadline_connects_again() {
    let _guard = alone();
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let slow = Limits { connect_timeout_ns: 600_000_000, connect_retries: Some(0), ..limits() };
    let low = tcp_at(job(0, 2), address, slow);
    let high = tcp_at(job(1, 2), address, Limits { connect_timeout_ns: 100_000_000, ..slow });
    let (low, high, there, _) = acquainted(low, high);
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    // It connects, and then computes until the other end has given it up.
    poll_until(&[high], || high.poller.lock().pending_accepts() == 1);
    let start = Instant::now();
    poll_until(&[high], || start.elapsed() > Duration::from_millis(3000));
    assert_eq!(high.poller.lock().pending_accepts(), 0);
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    assert_eq!(*FAILED.lock().unwrap(), []);
}

#[test]
fn a_flood_from_one_source_closes_nothing_of_another() {
    let _guard = alone();
    let high = tcp(job(1, 2));
    let other = outsider(2, port_of(high));
    poll_until(&[high], || high.poller.lock().pending_accepts() == 1);
    let (mut flood, mut sources) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        flood.push(TcpStream::connect(port_of(high)).unwrap());
        poll_once(high);
    }
    assert!(high.poller.lock().pending_accepts() <= 67, "one source has too many places");
    // Three hundred sources, each with one.
    for from in 3..=255 {
        sources.push(outsider(from, port_of(high)));
        poll_once(high);
    }
    assert!(high.poller.lock().pending_accepts() <= 258, "there are too many places");
    // The one of before goes on.
    let hello = handshake::hello(&job(0, 2), IDS, &[1; 16]);
    send_all(&other, &hello);
    let mut answer = [0; HELLO_BYTES];
    let mut got = None;
    poll_until(&[high], || {
        got = socket::receive(&other, &mut answer).unwrap();
        got.is_some()
    });
    assert_eq!(got, Some(HELLO_BYTES), "it was closed");
}

/// All users of a node have the same address: those who know no secret must not crowd a process of the job out.
#[test]
fn a_flood_from_its_own_source_closes_nothing_of_the_job() {
    let _guard = alone();
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let low = tcp_at(job(0, 2), address, Limits { connect_retries: Some(0), ..limits() });
    let (low, high, there, _) = acquainted(low, tcp(job(1, 2)));
    low.transport.send(there, 0, 1, b"hello?").unwrap();
    poll_until(&[low], || matches!(state(low, there), State::HelloSent(_)));
    let stranger = handshake::hello(&Job { secret: [9; 32], ..job(0, 2) }, IDS, &[1; 16]);
    let mut flood = Vec::new();
    for number in 0..400 {
        flood.push(TcpStream::connect(port_of(high)).unwrap());
        if number % 2 == 0 {
            flood[number].write_all(&stranger).unwrap();
        }
        poll_once(high);
    }
    assert!(high.poller.lock().pending_accepts() <= 67, "one source has too many places");
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    assert_eq!(*FAILED.lock().unwrap(), []);
}

/// Of a large job more processes may connect at once than a process may have files open: strangers get no such number of them.
#[test]
fn strangers_leave_descriptors_to_a_large_job() {
    let _guard = alone();
    let limits = Limits { descriptors: 160, ..limits() };
    let high = tcp_at(job(1, 5000), IpAddr::V4(Ipv4Addr::LOCALHOST), limits);
    let (mut flood, mut others) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        flood.push(TcpStream::connect(port_of(high)).unwrap());
        poll_once(high);
    }
    assert_eq!(high.poller.lock().pending_accepts(), 20, "of one source");
    for from in 2..100 {
        others.push(outsider(from, port_of(high)));
        poll_once(high);
    }
    assert_eq!(high.poller.lock().pending_accepts(), 40, "of all");
    // Those of the job are no strangers.
    for seed in 0..30 {
        let mut stream = TcpStream::connect(port_of(high)).unwrap();
        stream.write_all(&handshake::hello(&job(0, 5000), IDS, &[seed; 16])).unwrap();
        flood.push(stream);
        poll_once(high);
    }
    poll_until(&[high], || high.poller.lock().pending_accepts() >= 40 + 29);
}

/// It may compute for long after its first send, and a connection whose hello is not there is crowded out.
#[test]
fn within_a_machine_the_hello_leaves_with_the_first_send() {
    let _guard = alone();
    // The system may leave a packet to a thread of its own now and then.
    let leaves_at_once = || {
        let (low, high, there, back) = acquainted(tcp(job(0, 2)), tcp(job(1, 2)));
        low.transport.send(there, 0, 1, b"hello?").unwrap();
        let has_left = matches!(state(low, there), State::HelloSent(_));
        low.transport.connection(there.0).unwrap().tx.lock().close();
        high.transport.connection(back.0).unwrap().tx.lock().close();
        has_left
    };
    assert!((0..20).any(|_| leaves_at_once()));
}

/// Whoever sees a handshake on the wire can play it again, turn it round and change its ranks.
#[test]
fn forged_ranks_prove_nothing() {
    let _guard = alone();
    let (low, high, there, _) = acquainted(tcp(job(0, 2)), tcp(job(1, 2)));
    for seed in 0..rounds(40) {
        let mut dice = Dice::new(seed);
        let ids = EndpointIds { from: dice.roll(3) as u32, to: dice.roll(3) as u32, ..IDS };
        let hello = handshake::hello(&job(0, 2), ids, &[seed as u8; 16]);
        let recorded = handshake::answer(&job(1, 2), &hello, &[7; 32], handshake::Progress::default());
        let proof = handshake::proof(&job(0, 2), &hello, &recorded).unwrap();
        let mut stream = TcpStream::connect(port_of(high)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(&hello).unwrap();
        // The proof of the recorded handshake, the answer sent back, or what nobody ever proved.
        let sent = match dice.roll(3) {
            0 => proof,
            1 => recorded[48..].try_into().unwrap(),
            _ => [dice.roll(256) as u8; 32],
        };
        _ = stream.write_all(&sent);
        let before = counts(high).1;
        poll_until(&[high], || counts(high).1 > before);
        assert_eq!(high.poller.lock().pending_accepts(), 0);
    }
    assert!(matches!(state(low, there), State::Idle));
    exchange(low, high, there);
}

/// Anything at all, in any order, while the job goes on.
#[test]
fn floods_of_garbage_disturb_nobody() {
    let _guard = alone();
    let (low, high, there, _) = acquainted(tcp(job(0, 2)), tcp(job(1, 2)));
    let mut open: Vec<TcpStream> = Vec::new();
    for seed in 0..rounds(300) {
        let mut dice = Dice::new(seed);
        match dice.roll(4) {
            0 if !open.is_empty() => _ = open.swap_remove(dice.roll(open.len())),
            1 if !open.is_empty() => {
                let index = dice.roll(open.len());
                let bytes: Vec<u8> = (0..dice.roll(2000)).map(|_| dice.roll(256) as u8).collect();
                open[index].set_nonblocking(true).unwrap();
                _ = open[index].write(&bytes);
            }
            _ => open.push(TcpStream::connect(port_of(high)).unwrap()),
        }
        if open.len() > 200 {
            open.clear();
        }
        poll_once(high);
        if seed % 50 == 0 {
            exchange(low, high, there);
        }
    }
    let (lines, closed) = counts(high);
    assert!(closed > 0 && lines <= 4, "{lines} lines about {closed} connections from one source");
}

/// The hello is read when a connection is accepted; a quick peer's proof may be there before that is over.
#[test]
fn a_proof_that_follows_at_once_gets_its_verdict() {
    const TIMES: usize = 500;
    let _guard = alone();
    let (_, high, ..) = acquainted(tcp(job(0, 2)), tcp(job(1, 2)));
    let port = port_of(high);
    // On one core the system runs whom it wakes: the peer's proof is there before the call that sent the answer returns.
    let all = rustix::thread::sched_getaffinity(None).unwrap();
    let mut one = rustix::thread::CpuSet::new();
    one.set((0..rustix::thread::CpuSet::MAX_CPU).find(|core| all.is_set(*core)).unwrap());
    rustix::thread::sched_setaffinity(None, &one).unwrap();
    let client = std::thread::spawn(move || {
        let job = job(0, 2);
        for number in 0..TIMES {
            let mut stream = TcpStream::connect(port).unwrap();
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            let hello = handshake::hello(&job, IDS, &[1; 16]);
            stream.write_all(&hello).unwrap();
            let mut answer = [0; HELLO_BYTES];
            stream.read_exact(&mut answer).unwrap();
            stream.write_all(&handshake::proof(&job, &hello, &answer).unwrap()).unwrap();
            // The first is welcome; the others are closed, because that one is in force.
            let verdict = stream.read(&mut [0]).map_err(|error| error.kind());
            assert_eq!(verdict, Ok(usize::from(number == 0)), "connection {number} of {TIMES}");
            if number == 0 {
                std::mem::forget(stream);
            }
        }
    });
    while !client.is_finished() {
        poll_once(high);
    }
    client.join().unwrap();
    rustix::thread::sched_setaffinity(None, &all).unwrap();
}
