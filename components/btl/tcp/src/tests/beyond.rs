//! Processes of different jobs: they shake hands without a secret from the start, leave each other without harm, and meet again.

use super::connections::{ARRIVED, FAILED, alone, poll_once, poll_until, state};
use super::*;
use crate::handshake::{self, EndpointIds};
use crate::module::Module;
use crate::record::Protect;
use crate::state::State;
use opal_core::framework::btl::{Endpoint, Module as _, Peer, ProcessName};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

struct Process {
    tcp: &'static Tcp,
    module: Module,
    address: Vec<u8>,
}

fn process(number: u64, protect: Protect) -> Process {
    let limits = Limits { protect: Some(protect), ..limits() };
    let job = Job { number, index: 0, size: 0, one_node: false, secret: [number as u8; 32] };
    let tcp = tcp_at(job, IpAddr::V4(Ipv4Addr::LOCALHOST), limits);
    let module = Module::of_any_interface(tcp);
    let address = module.address_beyond_job(ProcessName { job: number, rank: 3 });
    Process { tcp, module, address }
}

impl Process {
    /// Meets another one, which is its process of this index from then on.
    fn meet(&self, index: u32, other: &Process) -> Endpoint {
        let peer = Peer { index, is_self: false, same_node: false, address: &other.address };
        self.module.add_peer(peer).unwrap().unwrap()
    }
}

fn count() -> usize {
    ARRIVED.lock().unwrap().len()
}

#[test]
fn processes_of_two_jobs_meet_leave_and_meet_again() {
    let _guard = alone();
    for (seed, protect) in [Protect::None, Protect::Auth, Protect::Encrypt].into_iter().cycle().take(30).enumerate() {
        let mut dice = Dice::new(seed as u64);
        let (one, other) = (process(8, protect), process(7, protect));
        for round in 0..2 {
            ARRIVED.lock().unwrap().clear();
            let there = one.meet(4 + round, &other);
            // It may hear of the first one before it knows it.
            one.tcp.transport.send(there, 0, 1, b"hello").unwrap();
            one.tcp.transport.flush();
            (0..dice.roll(200)).for_each(|_| _ = poll_once(one.tcp) + poll_once(other.tcp));
            assert_eq!(count(), 0);
            let back = other.meet(9 + round, &one);
            if dice.roll(2) == 0 {
                other.tcp.transport.send(back, 0, 2, &[2; 5000]).unwrap();
            }
            poll_until(&[one.tcp, other.tcp], || ARRIVED.lock().unwrap().iter().any(|one| one.1 == 1));
            other.tcp.transport.send(back, 0, 3, &[3; 100]).unwrap();
            poll_until(&[one.tcp, other.tcp], || ARRIVED.lock().unwrap().iter().any(|one| one.1 == 3));
            let arrived = ARRIVED.lock().unwrap().clone();
            assert!(arrived.iter().all(|(peer, head, _)| *peer == if *head == 1 { 9 + round } else { 4 + round }));
            // One leaves first, and the other one does not take it for dead.
            one.module.remove_peer(there);
            poll_until(&[other.tcp], || state(other.tcp, back) == State::Closed);
            other.module.remove_peer(back);
            (0..20).for_each(|_| _ = poll_once(one.tcp) + poll_once(other.tcp));
            assert_eq!(*FAILED.lock().unwrap(), [], "seed {seed}");
        }
    }
}

/// The first hello waits until the other process is met, and the proof is there as soon as that one has answered.
#[test]
fn a_proof_that_comes_at_once_is_not_forgotten() {
    let _guard = alone();
    let (one, other) = (process(8, Protect::Auth), process(7, Protect::Auth));
    ARRIVED.lock().unwrap().clear();
    let there = one.meet(4, &other);
    one.tcp.transport.send(there, 0, 1, b"hello").unwrap();
    poll_until(&[one.tcp, other.tcp], || other.tcp.poller.lock().pending_accepts() == 1);
    other.meet(9, &one);
    let tcp = one.tcp;
    AFTER_ANSWER.set(Some(Box::new(move || poll_until(&[tcp], || state(tcp, there) == State::ProofSent))));
    poll_until(&[one.tcp, other.tcp], || count() == 1);
    assert!(AFTER_ANSWER.take().is_none(), "nothing was answered while the hello waited");
    assert_eq!(*FAILED.lock().unwrap(), []);
}

#[test]
fn one_that_dies_has_not_left() {
    let _guard = alone();
    let (one, other) = (process(8, Protect::Auth), process(7, Protect::Auth));
    let (there, back) = (one.meet(4, &other), other.meet(9, &one));
    one.tcp.transport.send(there, 0, 1, b"hello").unwrap();
    poll_until(&[one.tcp, other.tcp], || count() == 1);
    one.tcp.transport.close(one.tcp.transport.connection(there.0).unwrap());
    one.tcp.poller.lock().remove(there.0);
    poll_until(&[other.tcp], || *FAILED.lock().unwrap() == [9]);
    assert_eq!(state(other.tcp, back), State::Closed);
}

/// The number of a pair is no secret: who knows it and has neither key proves nothing, and a hello of no pair waits and harms nobody.
#[test]
fn strangers_between_jobs_prove_nothing() {
    let _guard = alone();
    let (one, other) = (process(8, Protect::None), process(7, Protect::None));
    let (there, _) = (one.meet(4, &other), other.meet(9, &one));
    let pair = other.tcp.transport.beyond_job().next().unwrap().pair.as_ref().unwrap().job();
    let listener = SocketAddr::new(record(other.tcp).address, record(other.tcp).port);
    let progress = handshake::Progress::default();
    let ids = EndpointIds {
        from: 1,
        to: 0,
        from_interface: 0,
        to_interface: 0,
        protect: Protect::None,
        progress,
        attempt: 1,
    };
    let mut stranger = TcpStream::connect(listener).unwrap();
    stranger.write_all(&handshake::hello(&Job { index: 1, secret: [5; 32], ..pair }, ids, &[1; 16])).unwrap();
    let mut unknown = TcpStream::connect(listener).unwrap();
    unknown.write_all(&handshake::hello(&Job { number: 99, ..pair }, ids, &[1; 16])).unwrap();
    stranger.set_nonblocking(true).unwrap();
    poll_until(&[other.tcp], || matches!(stranger.read(&mut [0]), Ok(0)));
    assert_eq!(other.tcp.poller.lock().pending_accepts(), 1);
    drop(unknown);
    poll_until(&[other.tcp], || other.tcp.poller.lock().pending_accepts() == 0);
    one.tcp.transport.send(there, 0, 1, b"hello").unwrap();
    poll_until(&[one.tcp, other.tcp], || count() == 1);
    assert_eq!(*FAILED.lock().unwrap(), []);
    // What is no address of such a process is refused.
    for wrong in [&other.address[..47], &other.address[1..], &[0xee; 96]] {
        let peer = Peer { index: 5, is_self: false, same_node: false, address: wrong };
        assert!(one.module.add_peer(peer).is_err());
    }
}
