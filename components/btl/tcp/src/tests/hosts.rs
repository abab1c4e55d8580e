//! Hosts that fall silent, and programs that close what is not theirs.
#![allow(unsafe_code)] // a descriptor that two own

use super::connections::{ARRIVED, FAILED, acquainted, alone, poll_until};
use super::*;
use rustix::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Two processes that are connected; the first one gives a silent host up after a second.
fn connected() -> (&'static Tcp, &'static Tcp, opal_core::framework::btl::Endpoint) {
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let low = tcp_at(job(0, 2), address, Limits { silence_timeout_ns: 1_000_000_000, ..limits() });
    let (low, high, there, _) = acquainted(low, tcp(job(1, 2)));
    low.transport.send(there, 0, 1, b"hello").unwrap();
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == 1);
    (low, high, there)
}

fn cut(tcp: &'static Tcp) {
    let connection = tcp.transport.all().next().unwrap();
    silence(connection.tx.lock().socket.as_ref().unwrap().as_raw_fd());
}

#[test]
fn a_silent_host_is_noticed_where_nothing_is_under_way() {
    let _guard = alone();
    let (low, high, _) = connected();
    cut(high);
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
}

#[test]
fn a_silent_host_is_noticed_where_a_message_is_under_way() {
    let _guard = alone();
    let (low, high, there) = connected();
    cut(high);
    low.transport.send(there, 0, 2, &[5; 1000]).unwrap();
    low.transport.flush();
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
}

/// Sends until nothing more fits, and so long that all there was room for is there; returns how many messages.
fn fill(low: &'static Tcp, there: opal_core::framework::btl::Endpoint, seconds: u64) -> usize {
    let payload = vec![1; 100_000];
    let mut sent = 0;
    while low.transport.send(there, 0, 2, &payload).is_ok() {
        sent += 1;
        low.transport.flush();
    }
    let start = Instant::now();
    poll_until(&[low], || start.elapsed() > Duration::from_secs(seconds));
    sent
}

/// Nothing is under way then, and something waits: the system asks now and then whether there is room.
#[test]
fn a_silent_host_is_noticed_where_its_process_read_nothing() {
    let _guard = alone();
    let (low, high, there) = connected();
    fill(low, there, 1);
    cut(high);
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
}

#[test]
fn a_peer_that_reads_nothing_is_not_silent() {
    let _guard = alone();
    let (low, high, there) = connected();
    let sent = 1 + fill(low, there, 4);
    assert_eq!(*FAILED.lock().unwrap(), []);
    poll_until(&[low, high], || ARRIVED.lock().unwrap().len() == sent);
}

#[test]
fn a_closed_epoll_descriptor_fails_the_peers() {
    let _guard = alone();
    let (low, _, there) = connected();
    // As closefrom(3) of a program does it, with a file of the program at the same number since.
    let file = std::fs::File::open("/dev/null").unwrap();
    let (file, epoll) = (std::os::fd::AsRawFd::as_raw_fd(&file), low.transport.epoll.as_raw_fd());
    // SAFETY: two open descriptors. What the second one was is closed, which is what this is about.
    assert_eq!(unsafe { libc::dup2(file, epoll) }, epoll);
    poll_until(&[low], || *FAILED.lock().unwrap() == [1]);
    assert!(low.transport.send(there, 0, 2, b"nothing").is_err());
    assert!(low.transport.is_drained());
    low.sleep(1000);
    poll_until(&[low], || true);
    assert_eq!(*FAILED.lock().unwrap(), [1], "told once");
}
