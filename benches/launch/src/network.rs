//! When a message arrives: each host has one wire out, one in, and one thread that handles what comes.

use crate::constants::Constants;

/// Time in ns since the start of mpirun.
pub type Ns = u64;

/// The hosts, by node.
#[derive(Clone, Debug)]
pub struct Network {
    wire_per_kib: u64,
    latency: u64,
    frame: u64,
    handle_per_kib: u64,
    hosts: Vec<Host>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Host {
    /// Until when each is busy.
    out: Ns,
    inward: Ns,
    thread: Ns,
    sent: u64,
    received: u64,
}

impl Network {
    /// So many hosts, all idle.
    pub fn new(constants: &Constants, hosts: usize) -> Network {
        Network {
            wire_per_kib: constants.ns("wire_per_kib_ns"),
            latency: constants.ns("latency_us"),
            frame: constants.ns("frame_us"),
            handle_per_kib: constants.ns("handle_per_kib_ns"),
            hosts: vec![Host::default(); hosts],
        }
    }

    /// A host's thread does something for so long, as soon as it can after `at`: when it is done.
    pub fn work(&mut self, host: usize, at: Ns, ns: u64) -> Ns {
        let thread = &mut self.hosts[host].thread;
        *thread = (*thread).max(at) + ns;
        *thread
    }

    /// Sends a frame that is ready at `at`: when its last byte has come. The receiver then has to [`handle`](Network::handle) it.
    pub fn send(&mut self, from: usize, to: usize, bytes: u64, at: Ns) -> Ns {
        let handle = self.frame + bytes * self.handle_per_kib / 1024;
        let ready = self.work(from, at, handle);
        let wire = bytes * self.wire_per_kib / 1024;
        let sender = &mut self.hosts[from];
        let start = sender.out.max(ready);
        sender.out = start + wire;
        sender.sent += bytes;
        let receiver = &mut self.hosts[to];
        // The first byte comes after the latency, the last one when both wires were free for all of them.
        receiver.inward = receiver.inward.max(start + self.latency) + wire;
        receiver.received += bytes;
        receiver.inward
    }

    /// A frame of so many bytes has come: when the receiver's thread has handled it.
    pub fn handle(&mut self, host: usize, bytes: u64, at: Ns) -> Ns {
        self.work(host, at, self.frame + bytes * self.handle_per_kib / 1024)
    }

    /// Bytes that a host sent and received.
    pub fn bytes(&self, host: usize) -> (u64, u64) {
        (self.hosts[host].sent, self.hosts[host].received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::GIVEN;

    #[test]
    fn a_wire_carries_one_frame_after_the_other() {
        let constants = Constants::read(GIVEN).unwrap().scaled("frame_us", 0.0).scaled("handle_per_kib_ns", 0.0);
        let mut network = Network::new(&constants, 3);
        assert_eq!(network.send(0, 1, 1024, 0), 50_000 + 820);
        assert_eq!(network.send(0, 2, 1024, 0), 820 + 50_000 + 820);
        // Both senders are idle, the receiver's wire is not.
        assert_eq!(network.send(2, 1, 1024, 0), 50_000 + 2 * 820);
        assert_eq!((network.bytes(0), network.bytes(1)), ((2048, 0), (0, 2048)));
    }

    #[test]
    fn a_thread_does_one_thing_after_the_other() {
        let mut network = Network::new(&Constants::read(GIVEN).unwrap(), 1);
        assert_eq!((network.work(0, 5, 10), network.work(0, 5, 10), network.work(0, 100, 10)), (15, 25, 110));
    }
}
