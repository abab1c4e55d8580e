//! What every network interface promises, and one whose wire is a socket.

use crate::declined::{accepted, opened};
use opal_core::framework::netif::{Caps, Component, Full, HEADER_BYTES, LEAST_BYTES, Link, Mac, Module};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs every case for each card of the component; panics at the first broken promise.
///
/// # Panics
/// With the component's own sentence if it declines.
pub fn suite(component: &'static dyn Component) {
    opened(component);
    let modules = accepted(component.info(), component.query());
    assert!(!modules.is_empty(), "who has no card declines");
    modules.into_iter().for_each(one);
}

/// Runs every case for a card.
pub fn one(module: &dyn Module) {
    let Caps { mac, mtu } = *module.caps();
    assert!(mac.is_one_card(), "{mac}");
    assert!(HEADER_BYTES + mtu >= LEAST_BYTES, "{mtu}");
    let (Link::Up { .. } | Link::Down) = module.link();
    for bytes in [HEADER_BYTES, LEAST_BYTES - 1, LEAST_BYTES, HEADER_BYTES + mtu] {
        let mut fills = 0;
        let sent = module.send(bytes, &mut |place| {
            assert_eq!(place.len(), bytes);
            place.fill(0);
            fills += 1;
        });
        assert_eq!(fills, usize::from(sent.is_ok()), "the frame is asked for once, if at all");
    }
    let before = module.dropped();
    while module.receive(&mut |frame| assert!((HEADER_BYTES..=HEADER_BYTES + mtu).contains(&frame.len()))) {}
    assert!(module.dropped() >= before);
}

/// Two sockets, each of which sends to the other.
pub fn sockets() -> [UdpSocket; 2] {
    let pair = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("the loopback is up"));
    for (own, other) in [(0, 1), (1, 0)] {
        pair[own].connect(pair[other].local_addr().expect("it is bound")).expect("the loopback is up");
        pair[own].set_nonblocking(true).expect("sockets can");
    }
    pair
}

/// A card whose wire is a socket.
pub struct SocketCard {
    caps: Caps,
    socket: UdpSocket,
    dropped: AtomicU64,
}

impl SocketCard {
    /// One end.
    pub fn new(socket: UdpSocket, mac: Mac) -> SocketCard {
        SocketCard { caps: Caps { mac, mtu: 1500 }, socket, dropped: AtomicU64::new(0) }
    }
}

impl Module for SocketCard {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn link(&self) -> Link {
        Link::Up { mbps: 0 }
    }

    fn send(&self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<(), Full> {
        let mut frame = vec![0; bytes.max(LEAST_BYTES)];
        fill(&mut frame[..bytes]);
        // What does not fit is lost, as on a wire.
        let _ = self.socket.send(&frame);
        Ok(())
    }

    fn receive(&self, take: &mut dyn FnMut(&[u8])) -> bool {
        let mut frame = [0; 2048];
        let Ok(bytes) = self.socket.recv(&mut frame) else { return false };
        match (HEADER_BYTES..=HEADER_BYTES + self.caps.mtu).contains(&bytes) {
            true => take(&frame[..bytes]),
            false => _ = self.dropped.fetch_add(1, Ordering::Relaxed),
        }
        true
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    opal_core::image![opal_core::framework::atomics, memcpy_portable];

    #[test]
    fn a_card_over_a_socket() {
        let [here, there] = sockets();
        one(&SocketCard::new(here, Mac([2, 0, 0, 0, 0, 1])));
        let there = SocketCard::new(there, Mac([2, 0, 0, 0, 0, 2]));
        // Three frames are as short as frames may be, or padded; one is as long as they may be.
        let mut lengths = Vec::new();
        while lengths.len() < 4 {
            there.receive(&mut |frame| lengths.push(frame.len()));
        }
        assert_eq!(lengths, [60, 60, 60, 1514]);
        one(&there);
    }
}
