//! One card.

use crate::raw::{Registers, Ring};
use crate::registers::{
    CTRL, CTRL_RST, CTRL_SLU, DROPPED, ICR, IMC, MTA, MTA_WORDS, RAH_AV, RAH0, RAL0, RCTL, RCTL_BAM, RCTL_EN,
    RCTL_SECRC, RDBAL, RING, STATUS, STATUS_LU, STATUS_SPEED, TCTL, TCTL_COLLISIONS, TCTL_EN, TCTL_PSP, TDBAL, TIPG,
    TIPG_COPPER,
};
use crate::ring::{Descriptor, PLACES, Received, Turn};
use hw_x86_64::pci::Device;
use hw_x86_64::tsc;
use opal_core::framework::netif::{Caps, Full, HEADER_BYTES, LEAST_BYTES, Link, Mac, Module};
use opal_core::sync::{AtomicU64, ConditionalLock, Ordering};

/// A card at work.
pub struct E1000e {
    caps: Caps,
    registers: Registers,
    incoming: ConditionalLock<Incoming>,
    outgoing: ConditionalLock<Outgoing>,
    dropped: AtomicU64,
}

struct Incoming {
    ring: Ring,
    turn: Turn,
    // Whether the next descriptor begins a frame.
    begins: bool,
}

struct Outgoing {
    ring: Ring,
    turn: Turn,
}

impl E1000e {
    /// Resets the card and sets it up, with all its receive buffers given to it. `Err` with half a sentence.
    pub fn new(device: Device) -> Result<E1000e, &'static str> {
        let registers = Registers::of(device)?;
        reset(&registers)?;
        let no_memory = "there is not enough memory for the rings of its card";
        let (incoming, outgoing) = (Ring::new().ok_or(no_memory)?, Ring::new().ok_or(no_memory)?);
        // What the card read from its own memory when it was reset.
        let (low, high) = (registers.read(RAL0).to_le_bytes(), registers.read(RAH0).to_le_bytes());
        let caps = Caps { mac: Mac([low[0], low[1], low[2], low[3], high[0], high[1]]), mtu: MTU };
        if !caps.mac.is_one_card() {
            return Err("its card has no address of its own");
        }
        registers.write(RAH0, registers.read(RAH0) | RAH_AV);
        (0..MTA_WORDS).for_each(|word| registers.write(MTA + 4 * word, 0));
        place_ring(&registers, RDBAL, &incoming);
        place_ring(&registers, TDBAL, &outgoing);
        let mut incoming = Incoming { ring: incoming, turn: Turn::new(), begins: true };
        let tail = incoming.give_all();
        registers.write(RCTL, RCTL_EN | RCTL_BAM | RCTL_SECRC);
        registers.write(RDBAL + RING[3], tail as u32);
        registers.write(TIPG, TIPG_COPPER);
        registers.write(TCTL, TCTL_EN | TCTL_PSP | TCTL_COLLISIONS);
        registers.write(CTRL, registers.read(CTRL) | CTRL_SLU);
        let outgoing = Outgoing { ring: outgoing, turn: Turn::new() };
        let (incoming, outgoing) = (ConditionalLock::new(incoming), ConditionalLock::new(outgoing));
        Ok(E1000e { caps, registers, incoming, outgoing, dropped: AtomicU64::new(0) })
    }

    fn drop_one(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Resets everything and turns interrupts off (82574 datasheet, 4.6).
fn reset(registers: &Registers) -> Result<(), &'static str> {
    registers.write(IMC, u32::MAX);
    registers.write(RCTL, 0);
    registers.write(TCTL, 0);
    registers.write(CTRL, registers.read(CTRL) | CTRL_RST);
    // It must not be touched for a microsecond (10.2.2.1).
    tsc::spin_us(10);
    let end = tsc::ns() + RESET_NS;
    while registers.read(CTRL) & CTRL_RST != 0 {
        if tsc::ns() > end {
            return Err("its card does not come back from a reset");
        }
        core::hint::spin_loop();
    }
    registers.write(IMC, u32::MAX);
    registers.read(ICR);
    Ok(())
}

fn place_ring(registers: &Registers, base: usize, ring: &Ring) {
    let physical = ring.physical();
    registers.write(base, physical as u32);
    registers.write(base + RING[0], (physical >> 32) as u32);
    registers.write(base + RING[1], (PLACES * size_of::<Descriptor>()) as u32);
    registers.write(base + RING[2], 0);
    registers.write(base + RING[3], 0);
}

impl Incoming {
    /// Gives the card every place it can have; the new tail.
    fn give_all(&mut self) -> usize {
        let mut tail = 0;
        while let Some(place) = self.turn.to_give() {
            self.ring.write(place, Descriptor { buffer: self.ring.buffer(place), rest: 0 });
            tail = self.turn.give();
        }
        tail
    }
}

impl Outgoing {
    /// Takes back what the card is done with.
    fn reclaim(&mut self) {
        while let Some(place) = self.turn.to_take() {
            if !self.ring.read(place).is_done() {
                return;
            }
            self.turn.take();
        }
    }
}

impl Module for E1000e {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn link(&self) -> Link {
        let status = self.registers.read(STATUS);
        let mbps = [10, 100, 1000, 1000][(status >> STATUS_SPEED & 3) as usize];
        if status & STATUS_LU != 0 { Link::Up { mbps } } else { Link::Down }
    }

    fn send(&self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<(), Full> {
        assert!((HEADER_BYTES..=HEADER_BYTES + MTU).contains(&bytes), "no frame has {bytes} bytes");
        let outgoing = &mut *self.outgoing.lock();
        outgoing.reclaim();
        let Outgoing { ring, turn } = outgoing;
        let place = turn.to_give().ok_or(Full)?;
        let on_wire = bytes.max(LEAST_BYTES);
        let frame = &mut ring.bytes_mut(place)[..on_wire];
        fill(&mut frame[..bytes]);
        frame[bytes..].fill(0);
        ring.write(place, Descriptor::to_send(ring.buffer(place), on_wire as u16));
        self.registers.write(TDBAL + RING[3], turn.give() as u32);
        Ok(())
    }

    fn receive(&self, take: &mut dyn FnMut(&[u8])) -> bool {
        let (place, received) = {
            let incoming = &mut *self.incoming.lock();
            let Some(place) = incoming.turn.to_take() else { return false };
            let descriptor = incoming.ring.read(place);
            let received = descriptor.received(incoming.begins, HEADER_BYTES + MTU);
            if received == Received::Nothing {
                return false;
            }
            incoming.begins = descriptor.ends_frame();
            (incoming.ring.bytes(place), received)
        };
        match received {
            // The place is given back below only, so `take` may send by this card.
            Received::Frame(bytes) => take(&place[..bytes]),
            Received::Dropped | Received::Nothing => self.drop_one(),
        }
        let incoming = &mut *self.incoming.lock();
        incoming.turn.take();
        let tail = incoming.give_all();
        self.registers.write(RDBAL + RING[3], tail as u32);
        true
    }

    fn dropped(&self) -> u64 {
        // Reading clears them.
        let counted: u64 = DROPPED.iter().map(|register| u64::from(self.registers.read(*register))).sum();
        self.dropped.fetch_add(counted, Ordering::Relaxed) + counted
    }
}

const MTU: usize = 1500;
/// The datasheet says microseconds; a card that is broken says nothing.
const RESET_NS: u64 = 100_000_000;
