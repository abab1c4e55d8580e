//! White-box tests: bytes, choices, and two networks in one process that talk over the loopback.

mod bytes;
mod choices;
mod doors;
mod landing;
mod roads;

use crate::net::{Net, Port};
use crate::params::Limits;
use crate::socket;
use crate::wire::Entry;
use alloc::boxed::Box;
use alloc::vec;
use core::net::{IpAddr, Ipv4Addr};
use opal_core::framework::btl::Job;

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
    Job { number: 0xfeed, index, size, secret: [7; 32] }
}

pub fn limits() -> Limits {
    Limits { connect_timeout_ns: 5_000_000_000, ..Limits::new() }
}

/// A process of its own, on the loopback.
pub fn net(job: Job) -> &'static Net {
    net_at(job, IpAddr::V4(Ipv4Addr::LOCALHOST), limits())
}

/// A process of its own, at an address of the loopback.
pub fn net_at(job: Job, address: IpAddr, limits: Limits) -> &'static Net {
    Box::leak(Box::new(Net::new(job, limits, vec![port_at(0, job, address)]).unwrap()))
}

/// A process of its own with several ports on the loopback.
pub fn with_ports(job: Job, ports: u8) -> &'static Net {
    let ports = (0..ports).map(|number| port_at(number, job, IpAddr::V4(Ipv4Addr::LOCALHOST))).collect();
    Box::leak(Box::new(Net::new(job, limits(), ports).unwrap()))
}

fn port_at(interface: u8, job: Job, address: IpAddr) -> Port {
    let (listener, port) = socket::listen(address, (0, 0), &limits()).unwrap();
    let entry = Entry { interface, address, prefix: 8, loopback: true, port, mbps: 1000, job: job.number, network: 1 };
    Port { name: "lo".into(), mbps: 1000, listeners: vec![(entry, listener)] }
}

pub fn entry(net: &Net) -> Entry {
    net.ports[0].listeners[0].0
}
