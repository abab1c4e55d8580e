//! One card: which buffer is whose.

use crate::raw::{BUFFERS, Buffers, Card};
use core::result::Result;
use hw_x86_64::pci::Device;
use opal_core::framework::netif::{Caps, Full, HEADER_BYTES, LEAST_BYTES, Link, Mac, Module};
use opal_core::sync::{AtomicU64, ConditionalLock, Ordering};

/// A card at work.
pub struct Virtio {
    caps: Caps,
    card: ConditionalLock<Rings>,
    dropped: AtomicU64,
}

struct Rings {
    card: Card,
    incoming: Buffers,
    /// By token of the receive queue: which buffer.
    queued: [u16; BUFFERS],
    outgoing: Buffers,
    /// Likewise of the send queue.
    sending: [u16; BUFFERS],
    /// Buffers to send from, and how many.
    free: [u16; BUFFERS],
    free_count: usize,
}

impl Virtio {
    /// Sets the card up, with all its receive buffers queued. `Err` with half a sentence.
    pub fn new(device: Device) -> Result<Virtio, &'static str> {
        let card = Card::new(device)?;
        let no_memory = "there is not enough memory for the buffers of its card";
        let (incoming, outgoing) = (Buffers::new(BUFFERS).ok_or(no_memory)?, Buffers::new(BUFFERS).ok_or(no_memory)?);
        let caps = Caps { mac: Mac(card.mac()), mtu: MTU };
        if !caps.mac.is_one_card() {
            return Err("its card has no address of its own");
        }
        let (queued, sending) = ([0; BUFFERS], [0; BUFFERS]);
        let free = core::array::from_fn(|index| index as u16);
        let mut rings = Rings { card, incoming, queued, outgoing, sending, free, free_count: BUFFERS };
        (0..BUFFERS as u16).for_each(|buffer| rings.queue(buffer));
        Ok(Virtio { caps, card: ConditionalLock::new(rings), dropped: AtomicU64::new(0) })
    }
}

impl Rings {
    /// Gives a receive buffer to the card.
    fn queue(&mut self, buffer: u16) {
        // The queue has a place for each buffer.
        if let Some(token) = self.card.begin_receive(&mut self.incoming, buffer) {
            self.queued[usize::from(token) % BUFFERS] = buffer;
        }
    }

    /// Takes back the send buffers that the card is done with.
    fn reclaim(&mut self) {
        while let Some(token) = self.card.sent() {
            let buffer = self.sending[usize::from(token) % BUFFERS];
            self.card.end_send(token, &self.outgoing, buffer);
            self.free[self.free_count] = buffer;
            self.free_count += 1;
        }
    }
}

impl Module for Virtio {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn link(&self) -> Link {
        // No card of today says how fast it is.
        if self.card.lock().card.is_link_up() { Link::Up { mbps: 0 } } else { Link::Down }
    }

    fn send(&self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<(), Full> {
        assert!((HEADER_BYTES..=HEADER_BYTES + MTU).contains(&bytes), "no frame has {bytes} bytes");
        let rings = &mut *self.card.lock();
        rings.reclaim();
        let Some(last) = rings.free_count.checked_sub(1) else { return Err(Full) };
        let buffer = rings.free[last];
        let on_wire = bytes.max(LEAST_BYTES);
        let place = &mut rings.outgoing.bytes_mut(buffer)[..rings.card.header_bytes() + on_wire];
        let (header, frame) = place.split_at_mut(rings.card.header_bytes());
        header.fill(0);
        fill(&mut frame[..bytes]);
        frame[bytes..].fill(0);
        let all = rings.card.header_bytes() + on_wire;
        // There are as many places in the queue as buffers.
        let token = rings.card.begin_send(&rings.outgoing, buffer, all).ok_or(Full)?;
        rings.free_count = last;
        rings.sending[usize::from(token) % BUFFERS] = buffer;
        Ok(())
    }

    fn receive(&self, take: &mut dyn FnMut(&[u8])) -> bool {
        let (buffer, frame) = {
            let rings = &mut *self.card.lock();
            let Some(token) = rings.card.received() else { return false };
            let buffer = rings.queued[usize::from(token) % BUFFERS];
            (buffer, rings.card.end_receive(token, &mut rings.incoming, buffer))
        };
        match frame.filter(|frame| (HEADER_BYTES..=HEADER_BYTES + MTU).contains(&frame.len())) {
            // The buffer is nobody's until it is queued again, so `take` may send by this card.
            Some(frame) => take(frame),
            None => _ = self.dropped.fetch_add(1, Ordering::Relaxed),
        }
        self.card.lock().queue(buffer);
        true
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

const MTU: usize = 1500;
