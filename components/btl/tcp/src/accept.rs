//! The accepting side: connections that others make to this process, from accept(2) to this process's verdict.

use crate::connection::Connection;
use crate::handshake::{self, EndpointIds, HELLO_BYTES, Nonce, Refused};
use crate::handshake_buffer::{self, HandshakeBuffer};
use crate::rx_table::RxTable;
use crate::socket;
use crate::state::State;
use crate::transport::{Token, Transport};
use crate::tx::Tx;
use crate::wire;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::{message, verbose};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::OwnedFd;

/// An accepted connection before the verdict.
struct PendingAccept {
    socket: Arc<OwnedFd>,
    received: HandshakeBuffer,
    step: Step,
    /// They are numbered: the oldest unauthenticated one is closed when there are too many.
    number: u64,
}

/// The step of the handshake that was taken last.
#[derive(Clone, Copy)]
enum Step {
    /// The hello has not come.
    Accepted,
    /// The hello was answered, the proof has not come.
    Answered([u8; HELLO_BYTES], Nonce, EndpointIds),
    /// The proof was valid. This process does not know the peer yet: the layer above has not added it.
    Proved(EndpointIds),
}

/// All accepted connections before the verdict.
pub struct PendingAccepts {
    slots: Vec<Option<PendingAccept>>,
    last_number: u64,
    awaiting_peer: usize,
    said_full: bool,
}

impl PendingAccepts {
    /// None.
    pub const fn new() -> PendingAccepts {
        PendingAccepts { slots: Vec::new(), last_number: 0, awaiting_peer: 0, said_full: false }
    }

    /// Accepts what waits at a listener, a turn's worth at most; returns how many.
    pub fn accept(&mut self, transport: &Transport, interface: u8, index: u8) -> usize {
        let interface = transport.interfaces.get(interface as usize);
        let Some((_, listener)) = interface.and_then(|interface| interface.listeners.get(index as usize)) else {
            return 0;
        };
        let mut accepted = 0;
        while accepted < ACCEPTS_PER_TURN {
            match socket::accept(listener) {
                Ok(Some(socket)) => self.add(transport, socket),
                Ok(None) => break,
                Err(errno) => {
                    if !core::mem::replace(&mut self.said_full, true) {
                        message!("btl/tcp: cannot accept a connection: {}", socket::why(errno));
                    }
                    break;
                }
            }
            accepted += 1;
        }
        accepted
    }

    /// Takes what came on an accepted connection; returns how many things moved.
    pub fn advance(&mut self, transport: &Transport, table: &mut RxTable, slot: u32) -> usize {
        let Some(mut pending) = self.slots.get_mut(slot as usize).and_then(Option::take) else { return 0 };
        match pending.receive(transport) {
            Some(()) => {
                if let Step::Proved(ids) = pending.step {
                    // Not watched while it waits for the peer: a hang-up would wake this process again and again.
                    let _ = epoll::delete(&transport.epoll, &*pending.socket);
                    if !give_verdict(transport, table, &pending, ids) {
                        self.awaiting_peer += 1;
                        self.slots[slot as usize] = Some(pending);
                    }
                } else {
                    self.slots[slot as usize] = Some(pending);
                }
            }
            None => verbose!(btl::FRAMEWORK, 20, "tcp: closed a connection that does not follow the handshake"),
        }
        1
    }

    /// Gives the verdict on connections whose peer has been added since they were proved; returns how many.
    pub fn retry_awaiting_peer(&mut self, transport: &Transport, table: &mut RxTable) -> usize {
        if self.awaiting_peer == 0 {
            return 0;
        }
        let mut decided = 0;
        for slot in &mut self.slots {
            let Some(PendingAccept { step: Step::Proved(ids), .. }) = *slot else { continue };
            let Some(pending) = slot.take() else { continue };
            if give_verdict(transport, table, &pending, ids) {
                self.awaiting_peer -= 1;
                decided += 1;
            } else {
                *slot = Some(pending);
            }
        }
        decided
    }

    /// How many there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    fn add(&mut self, transport: &Transport, socket: OwnedFd) {
        let unauthenticated = |place: &Option<PendingAccept>| match place {
            Some(PendingAccept { step: Step::Accepted | Step::Answered(..), number, .. }) => Some(*number),
            _ => None,
        };
        let count = self.slots.iter().filter_map(unauthenticated).count();
        if count >= UNAUTHENTICATED_MAX + transport.job.size as usize {
            let oldest = self.slots.iter().filter_map(unauthenticated).min();
            if let Some(slot) = self.slots.iter().position(|place| unauthenticated(place) == oldest) {
                self.slots[slot] = None;
            }
        }
        let slot = self.slots.iter().position(|place| place.is_none()).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        // No deadline by the clock: a peer that computes goes on with the handshake at its next MPI call.
        let watched = socket::detect_silence(&socket, Some(transport.limits.connect_timeout_ns)).and_then(|()| {
            socket::watch(&transport.epoll, &socket, Token::Pending(slot as u32).encode(), EventFlags::IN)
        });
        if watched.is_ok() {
            self.last_number += 1;
            let (received, number) = (HandshakeBuffer::new(), self.last_number);
            let (socket, step) = (Arc::new(socket), Step::Accepted);
            self.slots[slot] = Some(PendingAccept { socket, received, step, number });
        }
    }
}

impl PendingAccept {
    /// Takes what has come; `None` if the connection is to be closed.
    fn receive(&mut self, transport: &Transport) -> Option<()> {
        loop {
            match self.step {
                Step::Accepted => {
                    let Some(hello) = self.received.receive(&self.socket).ok()? else { return Some(()) };
                    let ids = handshake::check_hello(&transport.job, &hello).map_err(say_refused).ok()?;
                    let nonce = handshake_buffer::nonce().ok()?;
                    let answer = handshake::answer(&transport.job, &hello, &nonce);
                    if socket::send(&self.socket, &answer).ok()? != answer.len() {
                        return None;
                    }
                    self.step = Step::Answered(hello, nonce, ids);
                }
                Step::Answered(hello, nonce, ids) => {
                    let Some(proof) = self.received.receive(&self.socket).ok()? else { return Some(()) };
                    if !handshake::is_proof_valid(&transport.job, &hello, &nonce, &proof) {
                        return None;
                    }
                    self.step = Step::Proved(ids);
                    return Some(());
                }
                Step::Proved(_) => return Some(()),
            }
        }
    }
}

/// Gives the verdict on a proved connection: puts it in force, has it yield, or closes it. `false` if this process does not
/// know the peer yet.
fn give_verdict(transport: &Transport, table: &mut RxTable, pending: &PendingAccept, ids: EndpointIds) -> bool {
    let meant = |connection: &&Connection| {
        connection.local.interface == ids.to_interface && connection.remote.interface == ids.from_interface
    };
    let mut known = false;
    let connection = transport.to_peer(ids.from).inspect(|_| known = true).find(meant);
    let Some(connection) = connection else {
        if known {
            verbose!(btl::FRAMEWORK, 20, "tcp: process {} means a pair of interfaces that is none here", ids.from);
        }
        return known;
    };
    let mut tx = connection.tx.lock();
    match verdict(transport, connection, &tx) {
        Some(handshake::WELCOME) => {
            let token = Token::Connection(connection.id).encode();
            let welcomed = socket::send(&pending.socket, &[handshake::WELCOME]) == Ok(1)
                && socket::watch(&transport.epoll, &pending.socket, token, EventFlags::IN).is_ok();
            // A peer that went away meanwhile connects again, or reports why not.
            if welcomed {
                table.connected(transport, connection, &mut tx, pending.socket.clone());
            }
        }
        Some(verdict) => _ = socket::send(&pending.socket, &[verdict]),
        None => {}
    }
    true
}

/// Of two connections that are made at the same time the one stays that the process with the lower index began: its other
/// end gives way, it does not. Before its hello it gives way, too: the peer knows nothing of its attempt.
fn verdict(transport: &Transport, connection: &Connection, tx: &Tx) -> Option<u8> {
    match tx.state {
        State::Idle | State::Backoff { .. } | State::Connecting | State::Yielded => Some(handshake::WELCOME),
        State::HelloSent(_) | State::ProofSent if transport.job.index < connection.peer => Some(handshake::YIELD),
        State::HelloSent(_) | State::ProofSent => Some(handshake::WELCOME),
        State::Connected | State::Failed(_) | State::FailedOver(_) | State::Closed => None,
    }
}

fn say_refused(refused: Refused) {
    if let Refused::OtherFormat(theirs) = refused {
        message!(
            "btl/tcp: a process that speaks wire format {theirs:#010x} connected, this process speaks {:#010x} ({}); all \
             processes of a job need the same version of this library",
            wire::WIRE_ID,
            wire::FORMAT
        );
    }
}

const ACCEPTS_PER_TURN: usize = 64;
/// So many connections may be in the handshake at the same time, beside one per process of the job.
const UNAUTHENTICATED_MAX: usize = 64;
