//! White-box tests: bytes, choices, and two transports in one process that talk over the loopback.
#![allow(unsafe_code)] // SO_ATTACH_FILTER, and what is written to standard error

mod beyond;
mod bytes;
mod choices;
mod connections;
mod ended;
mod failures;
mod hosts;
mod paths;
mod placement;
mod protection;
mod relay;
mod resume;
mod retries;
mod unauthenticated;

use crate::params::Limits;
use crate::poll::Tcp;
use crate::socket;
use crate::transport::{LocalInterface, Transport};
use crate::wire::AddressRecord;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::net::{IpAddr, Ipv4Addr};
use opal_core::framework::btl::Job;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd};

std::thread_local! {
    /// What happens between an answer and the next look at the socket, once.
    static AFTER_ANSWER: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    /// What happens between the two calls that send one message, once.
    static AFTER_FIRST_PART: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// A hello has been answered.
pub fn answered() {
    AFTER_ANSWER.take().into_iter().for_each(|then| then());
}

/// The first part of a message has been sent.
pub fn sent_first_part() {
    AFTER_FIRST_PART.take().into_iter().for_each(|then| then());
}

/// What this process writes to standard error meanwhile.
pub fn said(meanwhile: impl FnOnce()) -> String {
    // SAFETY: a name that ends, and no flags.
    let place = unsafe { libc::memfd_create(c"said".as_ptr(), 0) };
    assert!(place >= 0);
    // SAFETY: open since just now, and of nobody else.
    let mut place = unsafe { File::from_raw_fd(place) };
    // SAFETY: the descriptor of standard error.
    let before = unsafe { libc::dup(2) };
    // SAFETY: two open descriptors.
    assert!(before >= 0 && unsafe { libc::dup2(place.as_raw_fd(), 2) } == 2);
    meanwhile();
    // SAFETY: two open descriptors.
    assert_eq!(unsafe { libc::dup2(before, 2) }, 2);
    // SAFETY: open since the call above, and of nobody else.
    unsafe { libc::close(before) };
    let mut text = String::new();
    place.seek(SeekFrom::Start(0)).unwrap();
    place.read_to_string(&mut text).unwrap();
    text
}

/// Numbers that look random and are the same each time.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

pub fn job(index: u32, size: u32) -> Job {
    Job { number: 0xfeed, index, size, one_node: false, secret: [7; 32] }
}

pub fn limits() -> Limits {
    Limits { connect_timeout_ns: 5_000_000_000, connect_retries: Some(1), ..Limits::new() }
}

/// A process of its own, on the loopback.
pub fn tcp(job: Job) -> &'static Tcp {
    tcp_at(job, IpAddr::V4(Ipv4Addr::LOCALHOST), limits())
}

/// A process of its own, at an address of the loopback.
pub fn tcp_at(job: Job, address: IpAddr, limits: Limits) -> &'static Tcp {
    over(job, limits, vec![interface_at(0, job, address, 0)])
}

/// A process of its own that listens on this port.
pub fn tcp_with_port(job: Job, address: IpAddr, port: u16) -> &'static Tcp {
    over(job, limits(), vec![interface_at(0, job, address, port)])
}

/// A process of its own with several interfaces on the loopback.
pub fn with_interfaces(job: Job, count: u8) -> &'static Tcp {
    let interfaces = (0..count).map(|number| interface_at(number, job, IpAddr::V4(Ipv4Addr::LOCALHOST), 0));
    over(job, limits(), interfaces.collect())
}

/// A process of its own, with networks that need no protection.
pub fn unprotected_within(unprotected: Vec<(IpAddr, u8)>, limits: Limits) -> &'static Tcp {
    let interfaces = vec![interface_at(0, job(0, 2), IpAddr::V4(Ipv4Addr::LOCALHOST), 0)];
    let mut transport = Transport::new(job(0, 2), limits, interfaces).unwrap();
    transport.unprotected = unprotected;
    Box::leak(Box::new(Tcp::new(transport)))
}

fn over(job: Job, limits: Limits, interfaces: Vec<LocalInterface>) -> &'static Tcp {
    Box::leak(Box::new(Tcp::new(Transport::new(job, limits, interfaces).unwrap())))
}

fn interface_at(interface: u8, job: Job, address: IpAddr, port: u16) -> LocalInterface {
    let (listener, port) = socket::listen(address, (port, port), &limits()).unwrap();
    let record =
        AddressRecord { interface, address, prefix: 8, loopback: true, port, mbps: 1000, job: job.number, network: 1 };
    LocalInterface { name: "lo".into(), mbps: 1000, listeners: vec![(record, listener)] }
}

pub fn record(tcp: &Tcp) -> AddressRecord {
    tcp.transport.interfaces[0].listeners[0].0
}

/// From now on this end's system acknowledges nothing and sends nothing, as if its cable were cut.
pub fn silence(descriptor: i32) {
    let mut drop_all = libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: 0 };
    let program = libc::sock_fprog { len: 1, filter: &mut drop_all };
    let (place, bytes) = ((&raw const program).cast(), size_of_val(&program) as u32);
    // SAFETY: an open descriptor, and a program of one instruction that the call copies.
    let result = unsafe { libc::setsockopt(descriptor, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, place, bytes) };
    assert_eq!(result, 0);
}

/// So many seeds of a test, times OMPI_TEST_TRIALS (12 in `cargo xtask test --all`).
pub fn rounds(usual: u64) -> u64 {
    let name = "OMPI_TEST_TRIALS";
    usual
        * std::env::var(name).map_or(1, |times| times.parse().unwrap_or_else(|_| panic!("{name}={times} is no number")))
}
