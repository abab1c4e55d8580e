//! The module: sends, frames that arrive, and what is due.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::params::{EXCLUSIVITY, SILENCE_NOTE_S, SILENCE_TIMEOUT_S};
use crate::state::{Peer, Peers};
use crate::window::{Acknowledged, Arrival, FRAMES, Message};
use crate::wire::{self, HEADER_BYTES, Header, Key};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::result::Result;
use opal_core::framework::btl::{self, AmId, Caps, Endpoint, Full, Job, Module, RemoteCaps, deliver};
use opal_core::framework::netif::{self, Card, Link, Mac, Received};
use opal_core::mem::Untrusted;
use opal_core::sync::{AtomicBool, AtomicU64, ConditionalLock, Once, Ordering};
use opal_core::wait::Timed;
use opal_core::{Error, message, sys};

/// The one module, for the handler of its frames.
pub static ETH: Once<Eth> = Once::new();

/// Messages by one card.
pub struct Eth {
    caps: Caps,
    card: Card,
    job: u64,
    rank: u32,
    size: u32,
    key: Key,
    state: ConditionalLock<State>,
    /// Frames are taken by [`Module::poll`] alone: who else polls the cards may be where no message can be handled. Those frames
    /// are sent again.
    polling: AtomicBool,
    sent_again: AtomicU64,
    forged: AtomicU64,
}

struct State {
    peers: Peers,
    /// Ranks that sent something and were not added.
    unknown: Vec<u32>,
    /// Peers, by their number for the layer above, of which it has not been told that they are lost.
    lost: Vec<u32>,
    delivered: usize,
    /// Something may have to be sent again, which no frame says.
    due: Timed,
}

impl Eth {
    /// Over a card, in a job.
    pub fn new(card: Card, job: &Job) -> Eth {
        let payload = card.module.caps().mtu - HEADER_BYTES;
        let state = State {
            peers: Peers::new(job.size),
            unknown: Vec::new(),
            lost: Vec::new(),
            delivered: 0,
            due: Timed::new(),
        };
        let bandwidth_mbps = match card.module.link() {
            Link::Up { mbps } if mbps > 0 => mbps,
            _ => UNKNOWN_MBPS,
        };
        Eth {
            caps: Caps {
                immediate_bits: 64,
                inline_bytes: payload,
                eager_bytes: payload,
                send_bytes: payload,
                latency_ns: 30_000,
                bandwidth_mbps,
                exclusivity: EXCLUSIVITY.size() as u32,
                remote: RemoteCaps::NONE,
                wire_id: wire::WIRE_ID,
            },
            card,
            job: job.number,
            rank: job.index,
            size: job.size,
            key: Key::of_job(&job.secret),
            state: ConditionalLock::new(state),
            polling: AtomicBool::new(false),
            sent_again: AtomicU64::new(0),
            forged: AtomicU64::new(0),
        }
    }

    /// Frames of this job that were not made with its secret.
    pub fn forged(&self) -> u64 {
        self.forged.load(Ordering::Relaxed)
    }

    /// Frames that were sent again.
    pub fn sent_again(&self) -> u64 {
        self.sent_again.load(Ordering::Relaxed)
    }

    /// Sends a message with this number, or only an acknowledgement. False if the card's ring is full.
    fn transmit(&self, peer: &mut Peer, number: u32, what: What) -> bool {
        let message = match what {
            What::Nothing => None,
            What::Oldest => peer.outgoing.oldest().map(|(_, message)| message),
            What::Newest => peer.outgoing.newest().map(|(_, message)| message),
        };
        let payload = message.map_or(&[][..], |message| &message.payload);
        let header = Header {
            from: self.rank,
            job: self.job,
            to: peer.rank,
            number,
            wanted: peer.incoming.wanted(),
            am: message.map(|message| message.am),
            misses: peer.incoming.misses(),
            bytes: payload.len() as u16,
            immediate: message.map_or(0, |message| message.immediate),
        };
        let mut bytes = header.encode();
        self.key.seal(self.card.module.caps().mac, peer.outgoing.wraps_of(number), &mut bytes, payload);
        let sent = netif::send(&self.card, peer.card, wire::ETHERTYPE, HEADER_BYTES + payload.len(), &mut |place| {
            let (head, rest) = place.split_at_mut(HEADER_BYTES);
            head.copy_from_slice(&bytes);
            rest.copy_from_slice(payload);
        });
        if sent.is_ok() {
            peer.incoming.acknowledged();
            (peer.waits, peer.hurries) = (false, false);
        }
        sent.is_ok()
    }

    /// Keeps a message whose payload `fill` writes, and sends it. A full ring of the card is like a loss: it is sent again.
    fn send_filled(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: impl FnOnce(*mut u8),
    ) -> Result<(), Full> {
        assert!(bytes <= self.caps.send_bytes, "a message of {bytes} bytes fits no frame");
        let mut state = self.state.lock();
        let peer = state.peers.at(to).filter(|peer| !peer.closed && peer.outgoing.has_room()).ok_or(Full)?;
        let mut payload = peer.outgoing.take_payload(bytes);
        fill(payload.as_mut_ptr());
        let number = peer.outgoing.next();
        peer.outgoing.keep(Message { am, immediate, payload }, sys::monotonic_ns());
        self.transmit(peer, number, What::Newest);
        Ok(())
    }

    /// Checks a frame and does what it says; hands out the messages that it completes.
    fn take(&self, frame: Received<'_>) {
        let Some((header, payload)) = wire::parse(frame.payload) else { return };
        let is_mine = header.job == self.job && header.to == self.rank && header.from != self.rank;
        if !is_mine || header.from >= self.size {
            return;
        }
        let arrival = {
            let State { peers, unknown, .. } = &mut *self.state.lock();
            let Some(peer) = peers.of(header.from) else {
                // Nothing came of it yet: it is at its first numbers.
                if !self.key.made(frame.from, 0, frame.payload, payload) {
                    return self.note_forged(frame.from, header.from);
                }
                if header.am.is_some() && !unknown.contains(&header.from) {
                    unknown.push(header.from);
                }
                return;
            };
            if peer.card != frame.from || peer.closed {
                return;
            }
            if !self.key.made(frame.from, peer.incoming.wraps_of(header.number), frame.payload, payload) {
                return self.note_forged(frame.from, header.from);
            }
            let now_ns = sys::monotonic_ns();
            match peer.outgoing.acknowledge(header.wanted, header.misses, now_ns) {
                Acknowledged::Fine => {}
                // Whoever writes that is not the peer, which keeps to the format: its next frame says what is right.
                Acknowledged::Nonsense => return,
                Acknowledged::Missing => self.send_again(peer),
            }
            let Some(am) = header.am else { return };
            let arrival = peer.incoming.arrive(header.number);
            match arrival {
                Arrival::Next => {}
                Arrival::Early => {
                    let message = Message { am, immediate: header.immediate, payload: payload.to_vec() };
                    peer.incoming.keep_early(header.number, message);
                    peer.hurries = true;
                }
                Arrival::Again => peer.hurries = true,
                Arrival::Nonsense => {}
            }
            (arrival == Arrival::Next).then_some((am, peer.index))
        };
        let Some((am, index)) = arrival else { return };
        // The lock is free: handlers send.
        deliver(am, index, header.immediate, Untrusted::of(payload));
        self.state.lock().delivered += 1;
        while let Some(message) = self.next_early(header.from) {
            deliver(message.am, index, message.immediate, Untrusted::of(&message.payload));
            self.state.lock().delivered += 1;
        }
    }

    #[cold]
    fn note_forged(&self, card: Mac, rank: u32) {
        if self.forged.fetch_add(1, Ordering::Relaxed) == 0 {
            message!(
                "a frame of card {card} that says to come from rank {rank} was not made with this job's secret: it was changed on the way, or \
                 somebody else made it. It is ignored, as all like it will be, which btl_eth_forged counts"
            );
        }
    }

    fn next_early(&self, rank: u32) -> Option<Message> {
        self.state.lock().peers.of(rank)?.incoming.next_early()
    }

    fn send_again(&self, peer: &mut Peer) {
        let Some((number, _)) = peer.outgoing.oldest() else { return };
        self.sent_again.fetch_add(1, Ordering::Relaxed);
        self.transmit(peer, number, What::Oldest);
    }

    /// Acknowledges and sends again what is due. An acknowledgement waits for one poll: the answer of the program may take it along.
    fn tend(&self) {
        let State { peers, lost, due, .. } = &mut *self.state.lock();
        let mut waits = false;
        for peer in peers.each().filter(|peer| !peer.closed) {
            let owed = peer.incoming.owed();
            if peer.hurries || owed >= OWED_MAX || (owed > 0 && peer.waits) {
                let number = peer.outgoing.next();
                self.transmit(peer, number, What::Nothing);
            } else {
                peer.waits = owed > 0;
            }
            waits |= peer.waits || peer.hurries || !peer.outgoing.is_empty();
            if peer.outgoing.is_empty() {
                continue;
            }
            let now_ns = sys::monotonic_ns();
            if peer.outgoing.is_due(now_ns) {
                self.send_again(peer);
                self.look_at_silence(peer, now_ns, lost);
            }
        }
        due.set(waits);
    }

    fn look_at_silence(&self, peer: &mut Peer, now_ns: u64, lost: &mut Vec<u32>) {
        let seconds = peer.outgoing.silent_ns(now_ns) / 1_000_000_000;
        let is_over = |limit: u64| limit > 0 && seconds >= limit;
        let Peer { rank, card, .. } = *peer;
        let link = || match self.card.module.link() {
            Link::Up { .. } => "",
            Link::Down => "; this machine's own cable is out",
        };
        if is_over(SILENCE_TIMEOUT_S.int().unsigned_abs()) {
            message!(
                "rank {rank} ({card}) acknowledged nothing for {seconds} s, btl_eth_silence_timeout_s{}; btl/eth gives it up",
                link()
            );
            peer.closed = true;
            lost.push(peer.index);
        } else if is_over(SILENCE_NOTE_S.int().unsigned_abs()) && !peer.outgoing.told {
            peer.outgoing.told = true;
            message!(
                "rank {rank} ({card}) has acknowledged nothing for {seconds} s: it computes without calling MPI, or it is off or its cable \
                 out{}",
                link()
            );
        }
    }
}

/// What a frame takes along.
enum What {
    Nothing,
    Oldest,
    Newest,
}

/// Handles a frame of [`wire::ETHERTYPE`].
pub fn arrived(frame: Received<'_>) {
    if let Some(eth) = ETH.get().filter(|eth| eth.polling.load(Ordering::Relaxed)) {
        eth.take(frame);
    }
}

impl Module for Eth {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn address(&self) -> Vec<u8> {
        wire::address(self.card.module.caps().mac).to_vec()
    }

    fn add_peer(&self, peer: btl::Peer<'_>) -> opal_core::Result<Option<Endpoint>> {
        if peer.is_self || peer.address.is_empty() {
            return Ok(None);
        }
        let index = peer.index;
        if wire::wire_id_of(peer.address) != Some(wire::WIRE_ID) {
            message!("process {index} was started with another version of this library");
            return Err(Error::Mismatch);
        }
        let Some(card) = wire::card_of(peer.address) else {
            message!("the address of process {index} for btl/eth cannot be: it was damaged on the way");
            return Err(Error::Malformed);
        };
        // A card never sends to itself: those of one interface reach each other otherwise.
        if card == self.card.module.caps().mac {
            return Ok(None);
        }
        // Within a job, a process's number for the layer above is its rank.
        Ok(self.state.lock().peers.add(index, index, card))
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        if let Some(peer) = self.state.lock().peers.at(endpoint) {
            peer.closed = true;
        }
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> Result<(), Full> {
        self.send_filled(to, am, immediate, bytes, fill)
    }

    fn path_detail(&self, _to: Endpoint) -> String {
        format!("{} {}", self.card.name, self.card.module.caps().mac)
    }

    fn is_drained(&self) -> bool {
        let State { peers, .. } = &mut *self.state.lock();
        peers.each().all(|peer| peer.closed || (peer.outgoing.is_empty() && peer.incoming.owed() == 0))
    }

    fn poll(&self) -> usize {
        self.polling.store(true, Ordering::Relaxed);
        netif::poll();
        self.polling.store(false, Ordering::Relaxed);
        self.tend();
        let (unknown, lost, delivered) = {
            let state = &mut *self.state.lock();
            let (unknown, lost) = (core::mem::take(&mut state.unknown), core::mem::take(&mut state.lost));
            (unknown, lost, core::mem::take(&mut state.delivered))
        };
        unknown.into_iter().for_each(btl::unknown_peer);
        lost.into_iter().for_each(|peer| btl::path_failed(peer, wire::WIRE_ID));
        delivered
    }
}

/// Where the card does not say what its link carries.
const UNKNOWN_MBPS: u32 = 1000;
/// Messages that are acknowledged at once, before the sender has no more credit.
const OWED_MAX: u32 = FRAMES as u32 / 4;
