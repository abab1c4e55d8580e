//! What waits for room in a transport, per process, and its progress.

use crate::peers::endpoint::{self as link, Link};
use crate::protocol::smsc as single;
use crate::raw::Place;
use crate::state::{STATE, State, aborted};
use crate::wire;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use ompi_core::request::{self, Id};
use ompi_core::status::Status;
use opal_core::framework::btl::{AmId, Full};
use opal_core::sync::{AtomicUsize, Ordering};

/// For one process.
pub struct Outgoing {
    /// In the order in which they must leave.
    packets: VecDeque<Packet>,
    /// Long sends whose receivers are ready.
    streams: VecDeque<u32>,
    listed: bool,
}

/// A message without data of the user.
pub struct Control {
    am: AmId,
    immediate: u64,
    bytes: [u8; 8 * NUMBERS],
    length: u8,
}

const NUMBERS: usize = 5;

impl Control {
    /// With at most five numbers.
    pub fn new(am: AmId, immediate: u64, numbers: &[u64]) -> Control {
        let mut bytes = [0; 8 * NUMBERS];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        Control { am, immediate, bytes, length: 8 * numbers.len() as u8 }
    }
}

enum Packet {
    Control(Control),
    Note(Box<[u8]>),
    // A send whose data is still the user's; its request completes when it is sent, unless it is synchronous.
    Eager { immediate: u64, place: Place, cookie: Option<u64>, request: Id },
}

/// Processes with something that waits, and copies to make, for progress to look at without the lock.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// Tries again what waits; called by every progress pass.
pub fn progress() -> usize {
    // Relaxed: what another thread has just queued is seen by the next pass.
    if BUSY.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    let moved = STATE.lock().push_all();
    moved + single::copy_next()
}

impl State {
    /// Sends a control message, now or as soon as there is room.
    pub fn control(&mut self, process: u32, control: Control) {
        if let Some(link) = link::existing(process) {
            self.control_by(link, control);
        }
    }

    /// The same where the way is known; says whether it is on its way already.
    pub fn control_by(&mut self, link: &'static Link, control: Control) -> bool {
        let sent = link.queued.load(Ordering::Relaxed) == 0 && control.send(link).is_ok();
        if !sent {
            self.queue(link, Packet::Control(control));
        }
        sent
    }

    /// Sends a note, now or as soon as there is room.
    pub fn note(&mut self, link: &'static Link, note: &[u8]) {
        let now = link.queued.load(Ordering::Relaxed) == 0;
        if !now || crate::raw::send_bytes(link, wire::NOTE, 0, note).is_err() {
            self.queue(link, Packet::Note(note.into()));
        }
    }

    /// Queues a send that found no room.
    pub fn queue_eager(&mut self, link: &'static Link, immediate: u64, place: Place, cookie: Option<u64>, request: Id) {
        self.queue(link, Packet::Eager { immediate, place, cookie, request });
    }

    /// The envelopes of sends to a process that wait for room.
    pub fn sends_waiting(&self, process: u32) -> impl Iterator<Item = u64> {
        let packets = self.outgoing.get(process as usize).into_iter().flat_map(|outgoing| &outgoing.packets);
        packets.filter_map(|packet| if let Packet::Eager { immediate, .. } = packet { Some(*immediate) } else { None })
    }

    /// Begins to send the fragments of a long send.
    pub fn start_stream(&mut self, process: u32, number: u32) {
        let Some(link) = link::existing(process) else { return };
        let outgoing = self.outgoing_of(process);
        outgoing.streams.push_back(number);
        if outgoing.streams.len() == 1 {
            self.push_streams(link);
        }
        self.list(process);
    }

    /// Fails what waits for a process that is gone.
    pub fn fail_outgoing(&mut self, process: u32) {
        let Some(link) = link::existing(process) else { return };
        let outgoing = self.outgoing_of(process);
        outgoing.streams.clear();
        for packet in core::mem::take(&mut outgoing.packets) {
            if let Packet::Eager { cookie: None, request, .. } = packet {
                request::complete(request, aborted(0));
            }
        }
        link.queued.store(0, Ordering::Release);
    }

    fn queue(&mut self, link: &'static Link, packet: Packet) {
        if link.is_dead() {
            if let Packet::Eager { request, .. } = packet {
                request::complete(request, aborted(0));
            }
            return;
        }
        let outgoing = self.outgoing_of(link.process);
        outgoing.packets.push_back(packet);
        link.queued.store(outgoing.packets.len() as u32, Ordering::Release);
        self.list(link.process);
    }

    fn push_all(&mut self) -> usize {
        let (mut moved, mut index) = (0, 0);
        while index < self.busy.len() {
            let process = self.busy[index];
            if let Some(link) = link::existing(process) {
                moved += self.push_packets(link);
                moved += self.push_streams(link);
            }
            let outgoing = &mut self.outgoing[process as usize];
            if outgoing.packets.is_empty() && outgoing.streams.is_empty() {
                outgoing.listed = false;
                self.busy.swap_remove(index);
            } else {
                index += 1;
            }
        }
        self.count_busy();
        moved
    }

    fn push_packets(&mut self, link: &'static Link) -> usize {
        let outgoing = &mut self.outgoing[link.process as usize];
        let mut moved = 0;
        while let Some(packet) = outgoing.packets.front_mut() {
            if packet.send(link).is_err() {
                break;
            }
            if let Some(Packet::Eager { cookie: None, request, .. }) = outgoing.packets.pop_front() {
                request::complete(request, Status::EMPTY);
            }
            moved += 1;
        }
        // Release pairs with the Acquire in the sends: what was queued has left before what comes now.
        link.queued.store(outgoing.packets.len() as u32, Ordering::Release);
        moved
    }

    fn push_streams(&mut self, link: &'static Link) -> usize {
        let mut moved = 0;
        while let Some(number) = self.outgoing[link.process as usize].streams.front().copied() {
            let before = self.sent(number);
            match self.stream(number, link) {
                Ok(()) => _ = self.outgoing[link.process as usize].streams.pop_front(),
                Err(Full) => return moved + usize::from(self.sent(number) != before),
            }
            moved += 1;
        }
        moved
    }

    fn list(&mut self, process: u32) {
        let outgoing = &mut self.outgoing[process as usize];
        let waits = !outgoing.packets.is_empty() || !outgoing.streams.is_empty();
        if waits && !outgoing.listed {
            outgoing.listed = true;
            self.busy.push(process);
            self.count_busy();
        }
    }

    /// After a change of what waits.
    pub fn count_busy(&self) {
        BUSY.store(self.busy.len() + self.copies.len() + self.second_halves.len(), Ordering::Relaxed);
    }

    fn outgoing_of(&mut self, process: u32) -> &mut Outgoing {
        let index = process as usize;
        if self.outgoing.len() <= index {
            let none = || Outgoing { packets: VecDeque::new(), streams: VecDeque::new(), listed: false };
            self.outgoing.resize_with(index + 1, none);
        }
        &mut self.outgoing[index]
    }
}

impl Control {
    fn send(&self, link: &Link) -> Result<(), Full> {
        crate::raw::send_bytes(link, self.am, self.immediate, &self.bytes[..self.length as usize])
    }
}

impl Packet {
    fn send(&mut self, link: &Link) -> Result<(), Full> {
        match self {
            Packet::Control(control) => control.send(link),
            Packet::Note(note) => crate::raw::send_bytes(link, wire::NOTE, 0, note),
            Packet::Eager { immediate, place, cookie: None, .. } => place.send_whole(link, wire::EAGER, *immediate),
            Packet::Eager { immediate, place, cookie: Some(cookie), .. } => {
                let bytes = place.bytes();
                place.send_part(link.path(), wire::SYNCHRONOUS, *immediate, *cookie, 0, bytes)
            }
        }
    }
}
