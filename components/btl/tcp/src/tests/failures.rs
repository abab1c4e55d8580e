//! Links and hosts that fail in the ways that are easy to forget: a path that is open in one direction, a break between two system calls,
//! a path that takes connections and swallows what is sent, two paths that die together, a byte of the handshake that changes.

use super::connections::{FAILED, failover, poll_once, state};
use super::relay::{Relay, Sender};
use super::resume::{
    PLAIN, TAKEN, drop_all, endpoint, host, hosts, local_of, poll_until, quick, reset, resumed, start,
};
use super::retries::free_port;
use super::*;
use crate::connection::Connection;
use crate::failure_message;
use crate::record::Protect;
use crate::state::State;
use opal_core::framework::btl::Endpoint;
use opal_core::sync::Ordering;
use rustix::fd::AsRawFd;
use std::time::Duration;

const MS: u64 = 1_000_000;

/// Two hosts of which the first one reaches the other one by those paths alone that say so; the other way all are open.
fn one_way(open: [bool; 2], limits: Limits) -> [&'static Tcp; 2] {
    let hosts = [host(0, 2, limits), host(1, 2, limits)];
    let of = |tcp: &Tcp, path: usize| tcp.transport.interfaces[path].listeners[0].0;
    for (path, is_open) in open.into_iter().enumerate() {
        let there = of(hosts[1], path);
        let there = if is_open { there } else { AddressRecord { port: free_port(), ..there } };
        hosts[0].transport.add(1, path, of(hosts[0], path), there).unwrap();
        hosts[1].transport.add(0, path, of(hosts[1], path), of(hosts[0], path)).unwrap();
    }
    hosts
}

fn send(hosts: &[&'static Tcp; 2], side: usize, path: usize, number: u64) {
    // One that has broken takes nothing until the next poll.
    poll_until(hosts, 20, || hosts[side].transport.send(endpoint(side, path, 2), PLAIN, number, b"a message").is_ok());
    hosts[side].transport.flush();
}

/// The numbers of the messages that have come of a side.
fn taken(side: u32) -> Vec<u64> {
    TAKEN.lock().unwrap().iter().filter(|one| one.0 == side).map(|one| one.1).collect()
}

/// Peers that were lost. A copy: an assertion that fails holds no lock, so that the tests after it run.
fn failed() -> Vec<u32> {
    FAILED.lock().unwrap().clone()
}

fn of(tcp: &'static Tcp, endpoint: Endpoint) -> &'static Connection {
    tcp.transport.connection(endpoint.0).unwrap()
}

#[test]
fn a_path_that_only_the_peer_can_make_is_used() {
    let _guard = start();
    let hosts = one_way([false, true], Limits { connect_retries: Some(2), ..quick(Protect::Auth) });
    let (near, far) = (endpoint(0, 0, 2), endpoint(1, 0, 2));
    let possible = || hosts[0].transport.possible.load(Ordering::Relaxed);
    let before = possible();
    send(&hosts, 0, 0, 0);
    poll_until(&hosts, 20, || taken(0).len() == 1);
    assert_eq!((state(hosts[0], near), failover(hosts[0], near), possible()), (State::FailedOver, Some(3), before - 1));
    send(&hosts, 1, 0, 0);
    poll_until(&hosts, 20, || taken(1).len() == 1);
    assert_eq!((state(hosts[0], near), state(hosts[1], far)), (State::Connected, State::Connected));
    assert_eq!((failover(hosts[0], near), failover(hosts[1], far), possible()), (Some(3), None, before));
    // Both go on, in order, also after it broke.
    for number in 1..60 {
        send(&hosts, number as usize % 2, 0, number);
        assert!(number != 30 || reset(hosts[0], near));
    }
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 61);
    assert!(taken(0).is_sorted() && taken(1).is_sorted() && resumed(&hosts) > 0);
    poll_until(&hosts, 20, || hosts.iter().all(|tcp| tcp.transport.is_drained()));
    assert_eq!(failed(), [0; 0]);
}

/// The second path was to carry the messages of the first one, and cannot be made either; the peer has made the first one meanwhile.
#[test]
fn a_path_that_the_peer_made_takes_its_messages_back() {
    let _guard = start();
    let hosts = one_way([false, false], Limits { connect_retries: Some(5), ..quick(Protect::Auth) });
    let near = endpoint(0, 0, 2);
    (0..3).for_each(|number| send(&hosts, 0, 0, number));
    poll_until(&[hosts[0]], 20, || state(hosts[0], near) == State::FailedOver);
    send(&hosts, 1, 0, 0);
    poll_until(&hosts, 20, || taken(0).len() == 3 && taken(1).len() == 1);
    assert_eq!((failover(hosts[0], near), failover(hosts[0], endpoint(0, 1, 2))), (None, Some(near.0)));
    send(&hosts, 0, 1, 3);
    poll_until(&hosts, 20, || taken(0).len() == 4);
    assert_eq!(failed(), [0; 0]);
}

/// The peer has read what the first of two calls sent when the second one fails.
#[test]
fn a_break_between_two_parts_of_a_message_repeats_none() {
    let _guard = start();
    let hosts = hosts(1, quick(Protect::None));
    let send = |side: usize, bytes: usize| {
        hosts[side].transport.send(endpoint(side, 0, 1), PLAIN, 0, &vec![1; bytes]).unwrap();
        hosts[side].transport.flush();
    };
    for side in [0, 1] {
        send(side, 5);
        poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == side + 1);
    }
    let socket = of(hosts[0], endpoint(0, 0, 1)).tx.lock().socket.clone().unwrap();
    let far = hosts[1];
    AFTER_FIRST_PART.set(Some(Box::new(move || {
        poll_until(&[far], 20, || far.poller.lock().rx.get(0).map_or(0, |rx| rx.received()) > 30_000);
        rustix::net::connect_unspec(&*socket).unwrap();
    })));
    send(0, 65_536);
    assert!(AFTER_FIRST_PART.take().is_none(), "it was sent by one call");
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 3 || !failed().is_empty());
    assert_eq!(failed(), [0; 0]);
    assert!(resumed(&hosts) > 0 && TAKEN.lock().unwrap()[2].2.len() == 65_536);
}

/// The system would try for a quarter of an hour.
#[test]
fn where_the_system_decides_a_silent_host_is_not_given_up_soon() {
    let _guard = start();
    let limits = Limits {
        silence_timeout_ns: 0,
        path_timeout_ns: 50 * MS,
        connect_timeout_ns: 100 * MS,
        ..quick(Protect::Auth)
    };
    let hosts = hosts(1, limits);
    hosts[0].transport.send(endpoint(0, 0, 1), PLAIN, 0, b"hello").unwrap();
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 1);
    drop_all(&hosts, 0);
    hosts[0].transport.send(endpoint(0, 0, 1), PLAIN, 1, b"lost").unwrap();
    // Each attempt takes 50 ms, so that the deadline of attempts is over.
    let tried = || of(hosts[0], endpoint(0, 0, 1)).tx.lock().resume.map_or(0, |resume| resume.tried);
    poll_until(&[hosts[0]], 20, || tried() > 4 || !failed().is_empty());
    assert_eq!(failed(), [0; 0]);
}

/// Its own path makes connections, shakes hands and swallows what is sent then, as one for whose frames a router has no room.
#[test]
fn a_path_that_swallows_data_is_taken_more_and_more_rarely() {
    let _guard = start();
    let hosts = hosts(2, Limits { home_pause_ns: 20 * MS, path_timeout_ns: 100 * MS, ..quick(Protect::Auth) });
    for path in 0..2 {
        send(&hosts, 0, path, 0);
    }
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 2);
    let own = hosts[0].transport.interfaces[0].listeners[0].0.address;
    let swallow = || {
        for tx in hosts.iter().flat_map(|tcp| tcp.transport.all()).map(|connection| connection.tx.lock()) {
            if tx.state == State::Connected
                && let Some(socket) = tx.socket.as_ref().filter(|socket| local_of(socket) == Some(own))
            {
                silence(socket.as_raw_fd());
            }
        }
    };
    let pause_ms = || {
        let pauses = (0..2).map(|side| of(hosts[side], endpoint(side, 0, 2)).tx.lock().home.pause_ns(20) as usize);
        pauses.max().unwrap()
    };
    let mut sent = 2;
    poll_until(&hosts, 20, || {
        swallow();
        if TAKEN.lock().unwrap().len() == sent {
            send(&hosts, 0, 0, sent as u64);
            sent += 1;
        }
        pause_ms() >= 20 << 3
    });
    assert_eq!(failed(), [0; 0]);
}

/// Of two connections whose time is over at the same poll the first one ends the peer.
#[test]
fn a_peer_is_lost_once() {
    let _guard = start();
    let limits = Limits {
        connect_timeout_ns: 200 * MS,
        silence_timeout_ns: 400 * MS,
        path_timeout_ns: 100 * MS,
        ..quick(Protect::Auth)
    };
    let hosts = hosts(2, limits);
    (0..2).for_each(|path| send(&hosts, 0, path, 0));
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 2);
    (0..2).for_each(|path| drop_all(&hosts, path));
    (0..2).for_each(|path| send(&hosts, 0, path, 1));
    poll_until(&[hosts[0]], 20, || {
        // A process that looks now and then finds both late.
        std::thread::sleep(Duration::from_millis(20));
        hosts[0].poller.lock().hosts_are_due();
        !failed().is_empty()
    });
    for path in 0..2 {
        assert_eq!(state(hosts[0], endpoint(0, path, 2)), State::Closed, "path {path}");
        assert!(!of(hosts[0], endpoint(0, path, 2)).tx.lock().has_proved);
    }
    assert_eq!(failed(), [1]);
}

/// Somebody on the wire changes one byte of what the accepting side says: of its answer, or its verdict.
#[test]
fn a_changed_byte_of_a_first_handshake_is_asked_for_again() {
    let _guard = start();
    let verdict = crate::handshake::HELLO_BYTES;
    for (place, mask) in [(5, 1), (40, 4), (60, 128), (verdict, 1), (verdict, 2), (verdict, 4), (verdict, 8)] {
        TAKEN.lock().unwrap().clear();
        let hosts = [host(0, 1, quick(Protect::Auth)), host(1, 1, quick(Protect::Auth))];
        let (near, far) = (record(hosts[0]), record(hosts[1]));
        let mut relay = Relay::new((far.address, far.port).into());
        hosts[0].transport.add(1, 0, near, AddressRecord { port: relay.port(), ..far }).unwrap();
        hosts[1].transport.add(0, 0, far, near).unwrap();
        hosts[0].transport.send(endpoint(0, 0, 1), PLAIN, 0, b"hello").unwrap();
        let mut passed = 0;
        poll_until(&hosts, 20, || {
            relay.pass(|sender, bytes| {
                if sender == Sender::Accepting {
                    if (passed..passed + bytes.len()).contains(&place) {
                        bytes[place - passed] ^= mask;
                    }
                    passed += bytes.len();
                }
            });
            TAKEN.lock().unwrap().len() == 1 || !failed().is_empty()
        });
        assert_eq!(failed(), [0; 0], "byte {place}, mask {mask}");
        assert!(passed > place, "nothing was changed");
    }
}

#[test]
fn a_late_attempt_names_the_parameter_that_counts() {
    let _guard = start();
    let limits = Limits { connect_timeout_ns: 30_000 * MS, path_timeout_ns: 5000 * MS, ..quick(Protect::Auth) };
    let hosts = hosts(1, limits);
    let connection = of(hosts[0], endpoint(0, 0, 1));
    let said = failure_message::too_late(&hosts[0].transport, &connection.tx.lock());
    assert!(said.contains("within 30 s (btl_tcp_connect_timeout_s)"), "{said}");
    connection.tx.lock().resume = Some(crate::state::Resume::new(&limits, rustix::io::Errno::TIMEDOUT, 0));
    let said = failure_message::too_late(&hosts[0].transport, &connection.tx.lock());
    assert!(said.contains("within 5 s (btl_tcp_path_timeout_s)"), "{said}");
}

/// The connection breaks, and the peer's process, which has nothing to do any more, does not answer.
#[test]
fn who_leaves_does_not_wait_for_an_answer_for_ever() {
    let _guard = start();
    let hosts = hosts(1, Limits { silence_timeout_ns: 300 * MS, ..quick(Protect::Auth) });
    let near = endpoint(0, 0, 1);
    hosts[0].transport.send(near, PLAIN, 0, b"hello").unwrap();
    poll_until(&hosts, 20, || TAKEN.lock().unwrap().len() == 1);
    assert!(reset(hosts[0], near));
    poll_until(&[hosts[0]], 20, || matches!(state(hosts[0], near), State::HelloSent(_)));
    let said = said(|| poll_until(&[hosts[0]], 20, || hosts[0].transport.is_drained()));
    assert!(said.contains("leaves MPI") && said.contains("process 1"), "{said}");
    assert_eq!(state(hosts[0], near), State::Closed);
}

/// The layer above has not added the peer, which gives its attempt up, or ends.
#[test]
fn an_abandoned_attempt_of_a_peer_that_is_not_known_yet_is_closed() {
    let _guard = start();
    for ends in [false, true] {
        let hosts = [host(0, 1, quick(Protect::Auth)), host(1, 1, quick(Protect::Auth))];
        hosts[0].transport.add(1, 0, record(hosts[0]), record(hosts[1])).unwrap();
        let near = endpoint(0, 0, 1);
        hosts[0].transport.send(near, PLAIN, 0, b"hello").unwrap();
        poll_until(&hosts, 20, || state(hosts[0], near) == State::ProofSent);
        let pending = || hosts[1].poller.lock().pending_accepts();
        // The proof is there, too.
        (0..10).for_each(|_| _ = poll_once(hosts[1]));
        assert_eq!(pending(), 1);
        let mut tx = of(hosts[0], near).tx.lock();
        if ends {
            tx.close()
        } else {
            tx.abandon_socket()
        }
        drop(tx);
        poll_until(&[hosts[1]], 20, || pending() == 0);
    }
}
