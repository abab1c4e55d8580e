//! Paths that are refused for a time while somebody watches the peer's process, as mpirun does.

use super::connections::{FAILED, poll_once, state};
use super::relay::Relay;
use super::resume::{PLAIN, TAKEN, endpoint, host, poll_until, quick, resumed, start};
use super::retries::{client, free_port, listener};
use super::*;
use crate::record::Protect;
use crate::state::State;
use opal_core::framework::btl;
use std::sync::{Mutex, MutexGuard, Once};
use std::time::{Duration, Instant};

static KNOWN: Mutex<Option<bool>> = Mutex::new(None);

/// Until it is dropped somebody watches the processes.
struct Watched {
    _alone: MutexGuard<'static, ()>,
}

fn watched() -> Watched {
    static REGISTER: Once = Once::new();
    let _alone = start();
    REGISTER.call_once(|| btl::watch_processes(|_| *KNOWN.lock().unwrap()));
    set_ended(false);
    Watched { _alone }
}

fn set_ended(ended: bool) {
    *KNOWN.lock().unwrap() = Some(ended);
}

impl Drop for Watched {
    fn drop(&mut self) {
        *KNOWN.lock().unwrap() = None;
    }
}

/// Two hosts of which the first one alone reaches the other one, through a firewall.
struct Behind {
    hosts: [&'static Tcp; 2],
    port: u16,
    firewall: Option<Relay>,
}

impl Behind {
    fn new(limits: Limits) -> Behind {
        let hosts = [host(0, 1, limits), host(1, 1, limits)];
        let (near, far) = (record(hosts[0]), record(hosts[1]));
        let firewall = Relay::new((far.address, far.port).into());
        let port = firewall.port();
        hosts[0].transport.add(1, 0, near, AddressRecord { port, ..far }).unwrap();
        hosts[1].transport.add(0, 0, far, AddressRecord { port: free_port(), ..near }).unwrap();
        Behind { hosts, port, firewall: Some(firewall) }
    }

    /// What is there is reset, and what is new refused.
    fn reject(&mut self) {
        self.firewall = None;
    }

    fn let_through(&mut self) {
        let far = record(self.hosts[1]);
        self.firewall = Some(Relay::at(self.port, (far.address, far.port).into()));
    }

    /// Polls until so many messages have come, or for so long.
    fn poll(&mut self, messages: usize, at_most: Duration) -> bool {
        let end = Instant::now() + at_most;
        while TAKEN.lock().unwrap().len() < messages {
            if Instant::now() > end {
                return false;
            }
            self.hosts.iter().for_each(|tcp| _ = poll_once(tcp));
            self.firewall.iter_mut().for_each(|relay| relay.pass(|_, _| {}));
        }
        true
    }

    /// Sends as process `side`, which must be possible within 20 s.
    fn send(&mut self, side: usize, number: u64, bytes: usize) {
        let transport = &self.hosts[side].transport;
        let end = Instant::now() + Duration::from_secs(20);
        // What has broken takes nothing until the next poll.
        while let Err(why) = transport.send(endpoint(side, 0, 1), PLAIN, number, &vec![1; bytes]) {
            let failed = FAILED.lock().unwrap().clone();
            assert!(failed.is_empty(), "process {side} was to send message {number}, and counts {failed:?} as lost");
            assert!(Instant::now() < end, "process {side} was to send message {number}, and for 20 s: {why:?}");
            self.poll(usize::MAX, Duration::from_millis(1));
        }
        self.hosts[side].transport.flush();
    }
}

/// It refuses for a second, at any byte of messages in both directions.
#[test]
fn a_firewall_that_rejects_for_a_time_ends_nobody_who_lives() {
    let _watched = watched();
    for seed in 0..rounds(6) {
        std::println!("seed {seed}");
        TAKEN.lock().unwrap().clear();
        let mut dice = Dice::new(seed);
        let mut behind = Behind::new(quick([Protect::None, Protect::Auth][seed as usize % 2]));
        behind.send(0, 0, 5);
        assert!(behind.poll(1, Duration::from_secs(20)));
        let count = 20;
        let mut send = |behind: &mut Behind, number: u64| {
            behind.send(number as usize % 2, number, dice.roll(50_000));
            dice.roll(10)
        };
        // Some of it is on its way.
        let taken = (1..10).map(|number| send(&mut behind, number)).last().unwrap();
        behind.poll(taken, Duration::from_millis(20));
        behind.reject();
        (10..count).for_each(|number| _ = send(&mut behind, number));
        assert!(!behind.poll(usize::MAX, Duration::from_secs(1)));
        assert_eq!(*FAILED.lock().unwrap(), [0; 0], "seed {seed}");
        behind.let_through();
        assert!(behind.poll(count as usize, Duration::from_secs(20)), "seed {seed}");
        // A copy: an assertion that fails holds no lock.
        let taken = TAKEN.lock().unwrap().clone();
        for side in [0, 1] {
            let numbers: Vec<u64> = taken.iter().filter(|one| one.0 == side).map(|one| one.1).collect();
            assert!(numbers.is_sorted() && numbers.len() == 10, "seed {seed}: {numbers:?}");
        }
        assert!(resumed(&behind.hosts) > 0, "seed {seed}");
    }
}

#[test]
fn a_watched_peer_is_lost_when_it_is_known_to_have_ended() {
    let _watched = watched();
    let mut behind = Behind::new(quick(Protect::Auth));
    behind.send(0, 0, 5);
    assert!(behind.poll(1, Duration::from_secs(20)));
    behind.reject();
    behind.send(0, 1, 5);
    // Its pauses have become longer than what is asserted below.
    assert!(!behind.poll(2, Duration::from_millis(1500)));
    assert_eq!(*FAILED.lock().unwrap(), [0; 0]);
    set_ended(true);
    poll_once(behind.hosts[0]);
    assert_eq!(*FAILED.lock().unwrap(), [1]);
    assert!(behind.hosts[0].transport.is_drained());
}

#[test]
fn a_watched_peer_that_is_refused_for_too_long_is_out_of_reach() {
    let _watched = watched();
    let mut behind = Behind::new(Limits { connect_timeout_ns: 1_000_000_000, ..quick(Protect::Auth) });
    behind.send(0, 0, 5);
    assert!(behind.poll(1, Duration::from_secs(20)));
    behind.reject();
    let start = Instant::now();
    let near = behind.hosts[0];
    let said = said(|| poll_until(&[near], 20, || *FAILED.lock().unwrap() == [1]));
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    for part in ["process 1 cannot be reached any more", "Tried: from 127.0.0.1", "nobody listens"] {
        assert!(said.contains(part), "`{said}` does not say `{part}`");
    }
}

/// A firewall that accepts for the peer and closes at once. Somebody else who does that is given up after fifteen times.
#[test]
fn a_watched_peer_may_be_closed_more_often_than_a_stranger() {
    let watched = watched();
    let closed_so_often = |expected: fn(State) -> bool| {
        let (listener, port) = listener();
        listener.set_nonblocking(true).unwrap();
        let (low, there) = client(Duration::from_secs(30), None, port);
        low.transport.send(there, PLAIN, 1, b"hello?").unwrap();
        // Fifteen times take ten seconds, with their pauses.
        low.transport.connection(there.0).unwrap().tx.lock().closed = 15;
        poll_until(&[low], 20, || {
            _ = listener.accept();
            expected(state(low, there))
        });
        (low, port)
    };
    let (low, port) = closed_so_often(|state| matches!(state, State::Backoff { .. }));
    assert_eq!(*FAILED.lock().unwrap(), [0; 0]);
    let high = tcp_with_port(job(1, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    high.transport.add(0, 0, record(high), record(low)).unwrap();
    poll_until(&[low, high], 20, || TAKEN.lock().unwrap().len() == 1);
    assert_eq!(*FAILED.lock().unwrap(), [0; 0]);

    *KNOWN.lock().unwrap() = None;
    closed_so_often(|state| state == State::Closed);
    assert_eq!(*FAILED.lock().unwrap(), [1]);
    drop(watched);
}
