//! Connections that others make to this process.

use crate::handshake::{self, HELLO_BYTES, Names, Nonce, Refused};
use crate::net::{self, Connection, Net, Token};
use crate::outbound::{Outbound, Stage};
use crate::poll::Receiving;
use crate::socket::{self, Collected};
use crate::wire;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::{message, verbose};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::OwnedFd;

/// Who called and is not proved yet, or is proved but not known here yet.
pub struct Pending {
    socket: Arc<OwnedFd>,
    got: Collected,
    step: Step,
    /// Callers are numbered: the oldest stranger goes when there are too many.
    number: u64,
}

#[derive(Clone, Copy)]
enum Step {
    Hello,
    Proof([u8; HELLO_BYTES], Nonce, Names),
    Known(Names),
}

/// All of them.
pub struct Door {
    slots: Vec<Option<Pending>>,
    number: u64,
    waiting: usize,
    said_full: bool,
}

impl Door {
    /// Nobody called.
    pub const fn new() -> Door {
        Door { slots: Vec::new(), number: 0, waiting: 0, said_full: false }
    }

    /// Somebody called at a listener.
    pub fn admit(&mut self, net: &Net, port: u8, index: u8) -> usize {
        let Some((_, listener)) = net.ports.get(port as usize).and_then(|port| port.listeners.get(index as usize))
        else {
            return 0;
        };
        let mut taken = 0;
        while taken < CALLERS_PER_TURN {
            match socket::accept(listener) {
                Ok(Some(socket)) => self.add(net, socket),
                Ok(None) => break,
                Err(errno) => {
                    if !core::mem::replace(&mut self.said_full, true) {
                        message!("btl/tcp: cannot accept a connection: {}", socket::why(errno));
                    }
                    break;
                }
            }
            taken += 1;
        }
        taken
    }

    fn add(&mut self, net: &Net, socket: OwnedFd) {
        let strangers = |place: &Option<Pending>| match place {
            Some(Pending { step: Step::Hello | Step::Proof(..), number, .. }) => Some(*number),
            _ => None,
        };
        if self.slots.iter().filter_map(strangers).count() >= STRANGERS_MAX + net.job.size as usize {
            let oldest = self.slots.iter().filter_map(strangers).min();
            if let Some(slot) = self.slots.iter().position(|place| strangers(place) == oldest) {
                self.slots[slot] = None;
            }
        }
        let slot = self.slots.iter().position(|place| place.is_none()).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let watched = socket::watch(&net.epoll, &socket, Token::Pending(slot as u32).encode(), EventFlags::IN);
        if watched.is_ok() {
            self.number += 1;
            let (got, number) = (Collected::new(), self.number);
            self.slots[slot] = Some(Pending { socket: Arc::new(socket), got, step: Step::Hello, number });
        }
    }
}

/// A caller said something.
pub fn heard(net: &Net, receiving: &mut Receiving, slot: u32) -> usize {
    let Some(mut pending) = receiving.door.slots.get_mut(slot as usize).and_then(Option::take) else { return 0 };
    match listen(net, &mut pending) {
        Some(()) => {
            if let Step::Known(names) = pending.step {
                // Not watched while it waits to be admitted: a hang-up would wake this process again and again.
                let _ = epoll::delete(&net.epoll, &*pending.socket);
                if !introduce(net, receiving, &pending, names) {
                    receiving.door.waiting += 1;
                    receiving.door.slots[slot as usize] = Some(pending);
                }
            } else {
                receiving.door.slots[slot as usize] = Some(pending);
            }
        }
        None => verbose!(btl::FRAMEWORK, 20, "tcp: closed a connection that does not follow the handshake"),
    }
    1
}

/// Tries again those that were proved before this process knew them.
pub fn reconsider(net: &Net, receiving: &mut Receiving) -> usize {
    if receiving.door.waiting == 0 {
        return 0;
    }
    let mut admitted = 0;
    for slot in 0..receiving.door.slots.len() {
        let Some(Pending { step: Step::Known(names), .. }) = receiving.door.slots[slot] else { continue };
        let Some(pending) = receiving.door.slots[slot].take() else { continue };
        if introduce(net, receiving, &pending, names) {
            receiving.door.waiting -= 1;
            admitted += 1;
        } else {
            receiving.door.slots[slot] = Some(pending);
        }
    }
    admitted
}

/// Takes what a caller says; `None` if it is to be closed.
fn listen(net: &Net, pending: &mut Pending) -> Option<()> {
    loop {
        match pending.step {
            Step::Hello => {
                let Some(hello) = pending.got.collect(&pending.socket).ok()? else { return Some(()) };
                let names = handshake::greeted(&net.job, &hello).map_err(say_refused).ok()?;
                let nonce = net::nonce().ok()?;
                let answer = handshake::answer(&net.job, &hello, &nonce);
                if socket::send(&pending.socket, &answer).ok()? != answer.len() {
                    return None;
                }
                pending.step = Step::Proof(hello, nonce, names);
            }
            Step::Proof(hello, nonce, names) => {
                let Some(proof) = pending.got.collect(&pending.socket).ok()? else { return Some(()) };
                if !handshake::is_proved(&net.job, &hello, &nonce, &proof) {
                    return None;
                }
                pending.step = Step::Known(names);
                return Some(());
            }
            Step::Known(_) => return Some(()),
        }
    }
}

/// Lets a proved caller in or sends it away; `false` if this process does not know it yet.
fn introduce(net: &Net, receiving: &mut Receiving, pending: &Pending, names: Names) -> bool {
    let meant = |connection: &&Connection| {
        connection.local.interface == names.to_interface && connection.remote.interface == names.from_interface
    };
    let mut known = false;
    let connection = net.to_peer(names.from).inspect(|_| known = true).find(meant);
    let Some(connection) = connection else {
        if known {
            verbose!(btl::FRAMEWORK, 20, "tcp: process {} means a pair of interfaces that is none here", names.from);
        }
        return known;
    };
    let mut outbound = connection.outbound.lock();
    match verdict(net, connection, &outbound) {
        Some(handshake::WELCOME) => {
            let welcomed = socket::send(&pending.socket, &[handshake::WELCOME]) == Ok(1)
                && socket::watch(
                    &net.epoll,
                    &pending.socket,
                    Token::Connection(connection.id).encode(),
                    EventFlags::IN,
                )
                .is_ok();
            // Who went away meanwhile comes back, or its own end says why not.
            if welcomed {
                receiving.adopt(net, connection, &mut outbound, pending.socket.clone());
            }
        }
        Some(verdict) => _ = socket::send(&pending.socket, &[verdict]),
        None => {}
    }
    true
}

/// Of two connections that are made at the same time the one that the lower index began stays: its other end gives way, it
/// does not. Before it said hello it gives way, too: nobody has heard of its attempt.
fn verdict(net: &Net, connection: &Connection, outbound: &Outbound) -> Option<u8> {
    match outbound.stage {
        Stage::Backoff | Stage::Connecting { .. } | Stage::Expecting => Some(handshake::WELCOME),
        Stage::Greeted(_) | Stage::Proved if net.job.index < connection.peer => Some(handshake::YIELD),
        Stage::Greeted(_) | Stage::Proved => Some(handshake::WELCOME),
        Stage::Open | Stage::Broken(_) | Stage::Detour(_) | Stage::Closed => None,
    }
}

fn say_refused(refused: Refused) {
    if let Refused::OtherFormat(theirs) = refused {
        message!(
            "btl/tcp: somebody who speaks wire format {theirs:#010x} called, this process speaks {:#010x} ({}); all processes \
             of a job need the same version of this library",
            wire::WIRE_ID,
            wire::FORMAT
        );
    }
}

const CALLERS_PER_TURN: usize = 64;
/// So many connections may be in the handshake at once, beside one per process of the job.
const STRANGERS_MAX: usize = 64;
