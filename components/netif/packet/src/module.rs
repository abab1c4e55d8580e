//! One interface.

use crate::raw::{Interface, Ring, Socket, why};
use alloc::vec::Vec;
use core::result::Result;
use opal_core::framework::netif::{Caps, Full, HEADER_BYTES, LEAST_BYTES, Link, Module, PROTOCOLS_MAX};
use opal_core::sync::{AtomicU64, ConditionalLock, Once, Ordering};
use opal_core::{Error, message, sys};

/// An interface in use.
pub struct Packet {
    caps: Caps,
    interface: Interface,
    name: &'static str,
    /// Frames leave by it. It receives none.
    socket: Socket,
    outgoing: ConditionalLock<Outgoing>,
    rings: [Once<Incoming>; PROTOCOLS_MAX],
    dropped: AtomicU64,
}

/// Frames of one type.
struct Incoming {
    ring: Ring,
    /// The place that is looked at next.
    place: ConditionalLock<usize>,
}

/// Where frames are written before they leave.
struct Outgoing {
    frame: Vec<u8>,
    /// Of a frame that the system had no room for; 0: there is none.
    waiting: usize,
}

impl Packet {
    /// Over a socket that receives nothing.
    pub fn new(socket: Socket, interface: Interface, name: &'static str) -> Packet {
        let Interface { mac, mtu, .. } = interface;
        let frame = alloc::vec![0; (HEADER_BYTES + mtu).max(LEAST_BYTES)];
        Packet {
            caps: Caps { mac, mtu },
            interface,
            name,
            socket,
            outgoing: ConditionalLock::new(Outgoing { frame, waiting: 0 }),
            rings: [const { Once::new() }; PROTOCOLS_MAX],
            dropped: AtomicU64::new(0),
        }
    }

    /// Hands the frame that waits to the system; false if it has still no room. What the system refuses for another reason is lost, as on a
    /// wire without an end.
    fn send_waiting(&self, outgoing: &mut Outgoing) -> bool {
        if outgoing.waiting == 0 {
            return true;
        }
        if self.socket.send(self.interface.index, &outgoing.frame[..outgoing.waiting]) == Err(Full) {
            return false;
        }
        outgoing.waiting = 0;
        true
    }
}

impl Incoming {
    /// The next frame of the ring goes to `take`; `None` if there is none, false for a giant, which was dropped. The place is given back
    /// afterwards only, so `take` may send.
    fn receive(&self, longest: usize, take: &mut dyn FnMut(&[u8])) -> Option<bool> {
        // Whoever is inside looks at this place now.
        let mut place = self.place.try_lock()?;
        let frame = self.ring.frame(*place)?;
        let is_whole = (HEADER_BYTES..=longest).contains(&frame.bytes().len()) && frame.is_whole();
        if is_whole {
            take(frame.bytes());
        }
        drop(frame);
        *place = (*place + 1) % self.ring.places();
        Some(is_whole)
    }
}

impl Module for Packet {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn link(&self) -> Link {
        match self.socket.is_running(self.name) {
            true => Link::Up { mbps: sys::link_mbps(self.name).unwrap_or(0) },
            false => Link::Down,
        }
    }

    fn send(&self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<(), Full> {
        assert!((HEADER_BYTES..=HEADER_BYTES + self.caps.mtu).contains(&bytes), "no frame has {bytes} bytes");
        let outgoing = &mut *self.outgoing.lock();
        if !self.send_waiting(outgoing) {
            return Err(Full);
        }
        let on_wire = bytes.max(LEAST_BYTES);
        let frame = &mut outgoing.frame[..on_wire];
        fill(&mut frame[..bytes]);
        frame[bytes..].fill(0);
        outgoing.waiting = on_wire;
        // Where there is no room it leaves with the next one, or with the next look for one.
        self.send_waiting(outgoing);
        Ok(())
    }

    fn receive(&self, take: &mut dyn FnMut(&[u8])) -> bool {
        if let Some(mut outgoing) = self.outgoing.try_lock() {
            self.send_waiting(&mut outgoing);
        }
        let longest = HEADER_BYTES + self.caps.mtu;
        let rings = self.rings.iter().map_while(|place| place.get());
        let Some(is_whole) = rings.into_iter().find_map(|incoming| incoming.receive(longest, take)) else {
            return false;
        };
        self.dropped.fetch_add(u64::from(!is_whole), Ordering::Relaxed);
        true
    }

    fn listen(&self, ethertype: u16) -> opal_core::Result<Option<i32>> {
        let ring = Ring::new(&self.interface, ethertype).map_err(|errno| {
            message!("netif/packet: frames of interface {} cannot be received: {} ({errno})", self.name, why(errno));
            Error::OutOfResource
        })?;
        let descriptor = ring.descriptor();
        let mut incoming = Some(Incoming { ring, place: ConditionalLock::new(0) });
        for place in &self.rings {
            place.call_once(|| incoming.take().expect("it is put into one place"));
            if incoming.is_none() {
                return Ok(Some(descriptor));
            }
        }
        Err(Error::OutOfResource)
    }

    fn dropped(&self) -> u64 {
        // Reading clears them.
        let counted: u64 = self.rings.iter().map_while(|place| place.get()).map(|incoming| incoming.ring.drops()).sum();
        self.dropped.fetch_add(counted, Ordering::Relaxed) + counted
    }
}
