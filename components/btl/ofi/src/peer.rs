//! One peer: its place among the messages of both directions, and how many of them may be on their way.
//!
//! A process that does not poll reads nothing, and whatever is sent to it lies in its fabric's memory, or blocks it. So the receiver
//! says in its address how many messages of a sender may be unreturned, its *window*. It returns one when the handler has run: with
//! whatever it sends to that peer next, or, once half a window is owed, in a message of its own. That one needs no credit, so floods
//! that cross each other cannot wait for each other. What is returned adds up, so it does not matter in which order it comes.

use crate::abi::FiAddr;
use crate::wire::Header;
use alloc::vec::Vec;

/// A peer that was added.
pub struct Peer {
    /// Its number for the layer above.
    pub index: u32,
    /// Where it stands in the address vector.
    pub address: FiAddr,
    /// The token of messages to it.
    pub token_there: u64,
    /// The token of its messages.
    pub token_here: u64,
    /// Number of the next message to it.
    next: u32,
    /// Number of its next message.
    wanted: u32,
    /// Messages to it that it has not returned.
    unreturned: u16,
    /// How many of them it allows.
    window: u16,
    /// Messages of it that were handed out and not returned.
    owed: u16,
    /// Buffers with messages to it that have not left this process.
    pub under_way: u32,
    /// What came before its turn.
    pub early: Vec<Early>,
    /// A buffer, with so many bytes, for which the provider had no room.
    pub waiting: Option<(u32, usize)>,
    /// It was removed, or broke the format, or counts as lost.
    pub closed: bool,
}

/// A message that waits for those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Early {
    /// What stands before it.
    pub header: Header,
    /// The buffer that it lies in.
    pub slot: u32,
    /// Its length with the header.
    pub bytes: usize,
}

/// What a message is to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is next.
    Next,
    /// It waits, in its buffer.
    Early,
    /// No sender numbers messages so.
    Never,
}

impl Peer {
    /// A peer to which nothing was sent. Tokens of messages there and here; it allows so many messages on their way.
    pub fn new(index: u32, address: FiAddr, [token_there, token_here]: [u64; 2], window: u16) -> Peer {
        Peer {
            index,
            address,
            token_there,
            token_here,
            next: 0,
            wanted: 0,
            unreturned: 0,
            window,
            owed: 0,
            under_way: 0,
            early: Vec::new(),
            waiting: None,
            closed: false,
        }
    }

    /// Whether a message to it may take one of so many free buffers. Those of a few peers that do not read
    /// must not be all there are, so as many stay free as the messages to any one of them have.
    pub fn may_send(&self, free: usize) -> bool {
        !self.closed && self.waiting.is_none() && self.unreturned < self.window && (self.under_way as usize) < free
    }

    /// The number of a message that is sent now, after `may_send`, and the credits that it returns.
    pub fn number(&mut self) -> (u32, u16) {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.unreturned += 1;
        (number, core::mem::take(&mut self.owed))
    }

    /// It returns credits. `false`: more than it has.
    pub fn take_back(&mut self, returned: u16) -> bool {
        match self.unreturned.checked_sub(returned) {
            Some(left) => self.unreturned = left,
            None => return false,
        }
        true
    }

    /// A message of it was handed out. Whether a message of its own must return what is owed, since this process allows so many.
    pub fn owe(&mut self, window: u16) -> bool {
        self.owed += 1;
        self.owes(window)
    }

    /// Whether a message of its own must return what is owed.
    pub fn owes(&self, window: u16) -> bool {
        !self.closed && self.owed >= window / 2
    }

    /// What is owed, for a message of its own; `returned` follows when the provider has taken it.
    pub fn owed(&self) -> u16 {
        self.owed
    }

    /// What was owed when that message was made is returned.
    pub fn returned(&mut self) {
        self.owed = 0;
    }

    /// Places a message of it among its others, of which so many may be on their way. One that is early is kept.
    pub fn take_turn(&mut self, early: Early, window: u16) -> Turn {
        match early.header.number.wrapping_sub(self.wanted) {
            0 => {
                self.wanted = self.wanted.wrapping_add(1);
                Turn::Next
            }
            ahead
                if ahead < u32::from(window)
                    && !self.early.iter().any(|one| one.header.number == early.header.number) =>
            {
                self.early.push(early);
                Turn::Early
            }
            _ => Turn::Never,
        }
    }

    /// The message that came before its turn and is next now.
    pub fn next_early(&mut self) -> Option<Early> {
        let at = self.early.iter().position(|early| early.header.number == self.wanted)?;
        self.wanted = self.wanted.wrapping_add(1);
        Some(self.early.swap_remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opal_fabric::head::Head;

    const WINDOW: u16 = 4;

    fn peer(wanted: u32) -> Peer {
        Peer { wanted, ..Peer::new(0, 0, [0, 0], WINDOW) }
    }

    fn message(number: u32) -> Early {
        let head = Head { from: 0, token: 0, immediate: 0 };
        let header = Header { head, number, am: 0, returned: 0 };
        Early { header, slot: number, bytes: 32 }
    }

    /// A short message overtakes a long one, also where the numbers begin anew.
    #[test]
    fn what_comes_early_waits_for_its_turn() {
        for first in [0, u32::MAX - 1] {
            let number = |offset: u32| first.wrapping_add(offset);
            let mut peer = peer(first);
            assert_eq!(peer.take_turn(message(number(2)), WINDOW), Turn::Early);
            assert_eq!(peer.take_turn(message(number(1)), WINDOW), Turn::Early);
            assert_eq!(peer.next_early(), None);
            assert_eq!(peer.take_turn(message(number(0)), WINDOW), Turn::Next);
            let waited = [peer.next_early(), peer.next_early(), peer.next_early()];
            assert_eq!(waited, [Some(message(number(1))), Some(message(number(2))), None]);
            assert_eq!(peer.take_turn(message(number(3)), WINDOW), Turn::Next);
        }
    }

    #[test]
    fn numbers_that_cannot_be() {
        let mut peer = peer(7);
        assert_eq!(peer.take_turn(message(6), WINDOW), Turn::Never, "it was there");
        assert_eq!(peer.take_turn(message(7 + u32::from(WINDOW)), WINDOW), Turn::Never, "its sender had no credit");
        assert_eq!(peer.take_turn(message(8), WINDOW), Turn::Early);
        assert_eq!(peer.take_turn(message(8), WINDOW), Turn::Never, "twice");
    }

    #[test]
    fn a_sender_stops_at_the_window_and_goes_on_with_what_is_returned() {
        let mut peer = peer(0);
        for number in 0..u32::from(WINDOW) {
            assert!(peer.may_send(9));
            assert_eq!(peer.number(), (number, 0));
        }
        assert!(!peer.may_send(9), "its window is full");
        assert!(!peer.take_back(WINDOW + 1), "more than were sent");
        assert!(peer.take_back(1) && peer.may_send(9));
        assert_eq!(peer.number().0, u32::from(WINDOW));
        assert!(!peer.may_send(9) && peer.take_back(WINDOW) && !peer.take_back(1));
    }

    #[test]
    fn what_is_owed_goes_with_a_message_or_by_itself() {
        let mut peer = peer(0);
        assert_eq!([peer.owe(WINDOW), peer.owe(WINDOW), peer.owe(WINDOW)], [false, true, true]);
        assert_eq!((peer.number().1, peer.owed(), peer.owes(WINDOW)), (3, 0, false), "a message takes it along");
        assert!(!peer.owe(WINDOW) && peer.owe(WINDOW));
        assert_eq!(peer.owed(), 2);
        peer.returned();
        assert_eq!((peer.owed(), peer.number().1), (0, 0));
        peer.owed = WINDOW;
        peer.closed = true;
        assert!(!peer.owes(WINDOW), "a peer that is closed");
    }

    /// Peers that read nothing do not take all buffers.
    #[test]
    fn buffers_are_left_to_others() {
        let mut free = 64usize;
        let mut peers: Vec<Peer> = (0..20).map(|_| Peer::new(0, 0, [0, 0], u16::MAX)).collect();
        for _ in 0..64 {
            for peer in &mut peers {
                if peer.may_send(free) {
                    peer.number();
                    peer.under_way += 1;
                    free -= 1;
                }
            }
        }
        assert!(free > 0 && peers.iter().all(|peer| peer.under_way > 0), "{free} of 64 are left");
    }

    #[test]
    fn memory_per_peer() {
        assert!(size_of::<Option<Peer>>() <= 128, "{} bytes", size_of::<Option<Peer>>());
    }
}
