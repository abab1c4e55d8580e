//! What is to be sent on a connection, and what was sent and is not acknowledged: one run of a stream whose bytes are
//! numbered from 0 for the life of the connection, whatever sockets carry it. A byte's number never travels: both ends
//! count.

use crate::wire::Malformed;
use alloc::vec::Vec;

/// The queue of one connection.
pub struct SendQueue {
    bytes: Vec<u8>,
    // Places in `bytes`: the first that is not acknowledged, and the first that was not sent. Where nothing is retained
    // they are equal.
    first: usize,
    start: usize,
    // The number of the first byte of `bytes`.
    base: u64,
    retains: bool,
}

impl SendQueue {
    /// Nothing was sent yet.
    pub const fn new() -> SendQueue {
        SendQueue { bytes: Vec::new(), first: 0, start: 0, base: 0, retains: false }
    }

    /// From now on what is sent stays until it is acknowledged, or not.
    pub fn set_retains(&mut self, retains: bool) {
        self.retains = retains;
        if !retains {
            self.first = self.start;
        }
    }

    /// Whether what is sent stays until it is acknowledged.
    #[inline]
    pub fn retains(&self) -> bool {
        self.retains
    }

    /// What is to be sent.
    #[inline]
    pub fn unsent(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// The number of the first byte that is not acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.base + self.first as u64
    }

    /// Bytes that were sent and are not acknowledged.
    #[inline]
    pub fn unacknowledged(&self) -> usize {
        self.start - self.first
    }

    /// Everything that waits here for one thing or another.
    #[cfg(test)]
    pub fn all(&self) -> usize {
        self.bytes.len() - self.first
    }

    /// Appends what is to be sent.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends what `append` adds.
    pub fn push_with(&mut self, bytes: usize, append: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        append(&mut self.bytes);
        assert_eq!(self.bytes.len(), before + bytes);
    }

    /// So many bytes of [`SendQueue::unsent`] have gone.
    #[inline]
    pub fn sent(&mut self, bytes: usize) {
        self.start += bytes;
        debug_assert!(self.start <= self.bytes.len());
        if !self.retains {
            self.first = self.start;
            if self.start == self.bytes.len() {
                self.base += self.start as u64;
                self.clear();
            }
        }
    }

    /// `parts` have gone, or so many bytes of what is unsent and of them: the rest is queued. Where nothing is retained what has
    /// gone is not copied.
    #[inline]
    pub fn sent_with(&mut self, sent: usize, parts: [&[u8]; 2]) {
        if self.retains {
            parts.iter().for_each(|part| self.push(part));
            return self.sent(sent);
        }
        let queued = self.unsent().len().min(sent);
        self.sent(queued);
        let mut gone = sent - queued;
        for part in parts {
            let here = part.len().min(gone);
            // Numbers go on, although the bytes were never here.
            if self.bytes.is_empty() {
                self.base += here as u64;
            }
            self.push(&part[here..]);
            gone -= here;
        }
    }

    /// The peer has all before this number. An acknowledgement that is sent again says less than the handshake before it. `Err` if
    /// the peer cannot have so much.
    pub fn acknowledge(&mut self, received: u64) -> Result<(), Malformed> {
        if !self.retains || received > self.base + self.start as u64 {
            return Err(Malformed);
        }
        if let Some(place) = self.place(received) {
            self.first = place;
            self.compact();
        }
        Ok(())
    }

    /// What the peer lacks from this number on is to be sent again. Returns how many bytes. `Err` if it cannot
    /// have so much, or had more.
    pub fn resume(&mut self, received: u64) -> Result<usize, Malformed> {
        let place = self.place(received).ok_or(Malformed)?;
        let again = self.start - place;
        (self.first, self.start) = (place, place);
        self.compact();
        Ok(again)
    }

    /// Takes everything, which was never sent.
    pub fn take(&mut self) -> Vec<u8> {
        debug_assert!(self.base == 0 && self.start == 0);
        core::mem::take(&mut self.bytes)
    }

    /// Gives the room before the first byte back, if that is most of it.
    pub fn compact(&mut self) {
        if self.first == self.bytes.len() {
            self.base += self.first as u64;
            self.clear();
        } else if self.first > self.bytes.len() / 2 {
            self.bytes.drain(..self.first);
            self.base += self.first as u64;
            self.start -= self.first;
            self.first = 0;
        }
    }

    /// Nothing of it is needed any more.
    pub fn drop_all(&mut self) {
        *self = SendQueue { retains: self.retains, base: self.base + self.bytes.len() as u64, ..SendQueue::new() };
    }

    fn clear(&mut self) {
        self.bytes.clear();
        (self.first, self.start) = (0, 0);
        if self.bytes.capacity() > KEPT_BYTES {
            self.bytes.shrink_to(KEPT_BYTES);
        }
    }

    /// Where in `bytes` a number is that a peer says it has received.
    fn place(&self, received: u64) -> Option<usize> {
        let place = usize::try_from(received.checked_sub(self.base)?).ok()?;
        (self.retains && self.first <= place && place <= self.start).then_some(place)
    }
}

/// A queue that was longer gives its memory back.
const KEPT_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Dice;
    use alloc::vec;

    /// A stream over a wire that breaks at any byte, with acknowledgements at any time: all arrives, once and in order.
    #[test]
    fn a_stream_survives_any_breaks() {
        let mut breaks = 0;
        for seed in 0..400 {
            let mut dice = Dice::new(seed);
            let mut queue = SendQueue::new();
            queue.set_retains(true);
            // All that was pushed, what the peer has, and what is on the wire.
            let (mut pushed, mut received, mut wire): (Vec<u8>, Vec<u8>, Vec<u8>) = (vec![], vec![], vec![]);
            while received.len() < 20_000 {
                match dice.roll(6) {
                    0 if pushed.len() < 20_000 => {
                        let more: Vec<u8> = (0..1 + dice.roll(900)).map(|_| dice.roll(256) as u8).collect();
                        pushed.extend(&more);
                        match dice.roll(2) {
                            0 => queue.push(&more),
                            _ => {
                                let (one, other) = more.split_at(dice.roll(more.len()));
                                let most = queue.unsent().len() + more.len();
                                let sent = dice.roll(most + 1);
                                let all: Vec<u8> = queue.unsent().iter().chain(&more).copied().collect();
                                wire.extend(&all[..sent]);
                                queue.sent_with(sent, [one, other]);
                            }
                        }
                    }
                    1 => {
                        let bytes = dice.roll(queue.unsent().len() + 1);
                        wire.extend(&queue.unsent()[..bytes]);
                        queue.sent(bytes);
                    }
                    2 | 3 => {
                        let bytes = dice.roll(wire.len() + 1);
                        received.extend(wire.drain(..bytes));
                    }
                    4 => queue.acknowledge(received.len() as u64).unwrap(),
                    _ if dice.roll(20) == 0 => {
                        breaks += 1;
                        wire.clear();
                        queue.resume(received.len() as u64).unwrap();
                    }
                    _ => {}
                }
                if pushed.len() >= 20_000 && received.len() == pushed.len() {
                    break;
                }
            }
            assert!(received == pushed[..received.len()], "seed {seed}: not what was sent");
            queue.acknowledge(received.len() as u64).unwrap();
            if received.len() == pushed.len() {
                assert_eq!(queue.all(), 0, "seed {seed}: acknowledged bytes are kept");
            }
        }
        assert!(breaks > 400, "only {breaks} breaks");
    }

    #[test]
    fn what_no_peer_can_know_is_malformed() {
        let mut queue = SendQueue::new();
        queue.set_retains(true);
        queue.push(&[1; 100]);
        queue.sent(60);
        assert_eq!(queue.acknowledge(61), Err(Malformed), "of what was not sent");
        assert_eq!(queue.acknowledge(u64::MAX), Err(Malformed));
        assert_eq!(queue.acknowledge(50), Ok(()));
        assert_eq!(queue.acknowledge(49), Ok(()), "less than before is an old one");
        assert_eq!(queue.unacknowledged(), 10);
        assert_eq!(queue.resume(40), Err(Malformed), "what it has acknowledged");
        assert_eq!(queue.resume(50), Ok(10));
        assert_eq!(queue.unsent().len(), 50);
        let mut other = SendQueue::new();
        other.push(&[1; 100]);
        other.sent(60);
        assert_eq!(other.acknowledge(60), Err(Malformed), "nothing is retained");
    }

    #[test]
    fn numbers_go_on_where_nothing_is_copied() {
        let mut queue = SendQueue::new();
        queue.sent_with(30, [&[1; 10], &[2; 20]]);
        queue.sent_with(25, [&[1; 10], &[2; 20]]);
        assert_eq!((queue.unsent().len(), queue.all()), (5, 5));
        queue.sent(5);
        queue.set_retains(true);
        queue.push(&[3; 10]);
        queue.sent(10);
        assert_eq!(queue.acknowledge(70), Ok(()));
        assert_eq!(queue.all(), 0);
    }
}
