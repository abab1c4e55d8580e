//! Receiving: the queues of this process's own inbox.

use crate::inbox::Inbox;
use crate::module::Sm;
use alloc::boxed::Box;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::message;
use opal_core::queue::lines::{Consumer, Peeked};
use opal_core::sync::Ordering;

/// The receiving side's state; held by who polls.
pub struct Receiving {
    senders: Box<[Sender]>,
    // Local ranks that have sent something and are known, in the order in which they appeared.
    active: Vec<u32>,
    // The part of the inbound bitmap that `active` covers.
    seen: Box<[u64]>,
}

struct Sender {
    consumer: Consumer,
    peer: u32,
}

const UNKNOWN: u32 = u32::MAX;
/// So that one busy sender does not starve the others.
const MESSAGES_PER_TURN: usize = 64;

impl Receiving {
    /// From nobody yet.
    pub fn new(inbox: &Inbox, ranks: u32) -> Receiving {
        let senders = (0..ranks).map(|rank| Sender { consumer: Consumer::new(inbox.queue(rank)), peer: UNKNOWN });
        let seen = (0..ranks.div_ceil(64)).map(|_| 0).collect();
        Receiving { senders: senders.collect(), active: Vec::new(), seen }
    }

    /// From now on what rank `rank` of the node sends is taken, as coming from `peer`.
    pub fn admit(&mut self, rank: u32, peer: u32) {
        self.senders[rank as usize].peer = peer;
    }

    /// Nothing is taken from it any more.
    pub fn dismiss(&mut self, rank: u32) {
        self.senders[rank as usize].peer = UNKNOWN;
        self.active.retain(|active| *active != rank);
    }

    /// The next message of one sender, polling at most `polls` times.
    #[inline(always)]
    pub fn peek(&mut self, rank: u32, polls: u32) -> Option<Peeked> {
        let sender = &mut self.senders[rank as usize];
        for _ in 0..polls {
            match sender.consumer.peek() {
                Ok(None) => core::hint::spin_loop(),
                Ok(found) => return found,
                // The next full poll closes it.
                Err(_) => return None,
            }
        }
        None
    }

    /// Takes it.
    #[inline(always)]
    pub fn advance(&mut self, rank: u32) {
        self.senders[rank as usize].consumer.advance();
    }

    /// Takes everything; returns how many messages.
    #[inline]
    pub fn poll(&mut self, sm: &Sm) -> usize {
        for index in 0..self.seen.len() {
            // Acquire pairs with the Release in `mark_inbound`.
            if sm.inbox().inbound(index).load(Ordering::Acquire) != self.seen[index] {
                self.look_for_senders(sm, index);
            }
        }
        let mut taken = 0;
        for place in 0..self.active.len() {
            taken += self.drain(sm, place);
        }
        if sm.broken.load(Ordering::Relaxed) {
            self.tell_broken(sm);
        }
        taken
    }

    #[inline(always)]
    fn drain(&mut self, sm: &Sm, place: usize) -> usize {
        let rank = self.active[place];
        let sender = &mut self.senders[rank as usize];
        for taken in 0..MESSAGES_PER_TURN {
            match sender.consumer.peek() {
                Ok(Some(peeked)) => {
                    if taken > 1 {
                        sender.consumer.fetch_ahead();
                    }
                    btl::deliver(peeked.kind, sender.peer, peeked.head, crate::raw::payload(&peeked));
                    sender.consumer.advance();
                }
                Ok(None) => {
                    if taken > 0 {
                        sm.note_arrival(rank);
                    }
                    return taken;
                }
                Err(_) => {
                    close_malformed(sm, rank, sender.peer);
                    return taken;
                }
            }
        }
        MESSAGES_PER_TURN
    }

    #[cold]
    #[inline(never)]
    fn look_for_senders(&mut self, sm: &Sm, index: usize) {
        let mut new = sm.inbox().inbound(index).load(Ordering::Acquire) & !self.seen[index];
        while new != 0 {
            let bit = new.trailing_zeros();
            new &= new - 1;
            let rank = index as u32 * 64 + bit;
            // Who is not connected yet keeps its bit unseen; bits beyond the node's ranks are nobody's.
            if self.senders.get(rank as usize).is_some_and(|sender| sender.peer != UNKNOWN) {
                self.seen[index] |= 1 << bit;
                self.active.push(rank);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_broken(&mut self, sm: &Sm) {
        sm.broken.store(false, Ordering::Relaxed);
        for rank in 0..self.senders.len() as u32 {
            let closed = sm.outbound[rank as usize].get().is_some_and(|outbound| outbound.is_closed());
            let peer = self.senders[rank as usize].peer;
            if closed && peer != UNKNOWN {
                self.dismiss(rank);
                btl::failed(peer);
            }
        }
    }
}

#[cold]
#[inline(never)]
fn close_malformed(sm: &Sm, rank: u32, peer: u32) {
    let Some(outbound) = sm.outbound[rank as usize].get() else { return };
    outbound.close();
    message!("btl/sm: process {peer} wrote a message that does not follow the format; the connection to it is closed");
    sm.broken.store(true, Ordering::Relaxed);
}
