//! Polling: what the completion queue says, and the messages that came.

use crate::module::Ofi;
use crate::peer::{Early, Peer, Turn};
use crate::raw::{EVENTS, Event, Failure, Read};
use crate::state::State;
use crate::wire::{CREDITS, HEADER_BYTES, Header, LABEL};
use opal_core::framework::btl::{self, AM_IDS, deliver};
use opal_core::mem::Untrusted;
use opal_core::{Error, sys, verbose};
use opal_fabric::memory;

impl Ofi {
    /// Takes what has completed; returns how many messages were taken.
    pub fn poll_once(&self) -> usize {
        let mut events = [Event::Foreign; EVENTS];
        let read = {
            let mut state = self.state.lock();
            let read = state.fabric.read(&mut events);
            state.note(&read, &events)
        };
        let mut taken = 0;
        for event in &events[..read] {
            if let Event::Received(slot, bytes) = *event {
                taken += self.take(slot, bytes);
            }
        }
        let (ended, lost) = {
            let mut state = self.state.lock();
            state.try_again();
            (state.memory.take_ended(), core::mem::take(&mut state.lost))
        };
        memory::tell(ended);
        lost.into_iter().for_each(btl::failed);
        taken
    }

    /// Hands out a message, and those that waited for it. Returns how many.
    fn take(&self, slot: u32, bytes: usize) -> usize {
        let Some(header) = self.checked(slot, bytes) else { return 0 };
        let rank = header.head.from;
        if header.am == CREDITS {
            // Whoever waits for room tries again in this very pass of progress.
            self.state.lock().receive(slot);
            return 0;
        }
        let turn = self.state.lock().take_turn(Early { header, slot, bytes });
        match turn {
            Turn::Early => return 0,
            Turn::Next => {}
            Turn::Never => {
                let mut state = self.state.lock();
                state.lose(rank, "breaks the format", "it numbers its messages as no sender does");
                state.receive(slot);
                return 0;
            }
        }
        let mut taken = 1;
        self.hand_out(Early { header, slot, bytes });
        loop {
            let next = self.state.lock().next_early(rank);
            let Some(next) = next else { return taken };
            self.hand_out(next);
            taken += 1;
        }
    }

    /// The header of what came into a buffer, if a peer sent it that is open; otherwise the buffer receives again.
    fn checked(&self, slot: u32, bytes: usize) -> Option<Header> {
        let header = self.header_of_job(slot, bytes);
        if let Some(header) = header
            && self.is_unknown(header.head.from)
        {
            btl::unknown_peer(header.head.from);
        }
        let mut state = self.state.lock();
        if let Some(header) = header
            && let Some(peer) = state.peers.get_mut(header.head.from as usize)
        {
            match Self::note_header(peer, &header) {
                Ok(true) => {
                    state.ended.heard(header.head.from, sys::monotonic_ns);
                    return Some(header);
                }
                Ok(false) => {}
                Err(why) => state.lose(header.head.from, "breaks the format", why),
            }
        } else {
            state.dropped += 1;
            verbose!(btl::FRAMEWORK, 10, "ofi: dropped a message of {bytes} bytes that no process of the job has sent");
        }
        state.receive(slot);
        None
    }

    /// Takes the credits that a message of a peer returns. Whether the message counts; `Err`: no sender writes such a header, and why.
    fn note_header(peer: &mut Peer, header: &Header) -> Result<bool, &'static str> {
        if peer.closed {
            return Ok(false);
        }
        if usize::from(header.am) >= AM_IDS && header.am != CREDITS {
            return Err("it sends messages of a kind that there is not");
        }
        match peer.take_back(header.returned) {
            true => Ok(true),
            false => Err("it returns more messages than were sent to it"),
        }
    }

    /// The header of a message that only a process of the job can have sent to this one.
    fn header_of_job(&self, slot: u32, bytes: usize) -> Option<Header> {
        let state = self.state.lock();
        let payload = state.fabric.received(slot, bytes);
        let header = Header::parse(&payload.array::<HEADER_BYTES>()?)?;
        let known = |rank| state.peers.get(rank as usize).map(|peer: &Peer| peer.token_here);
        header.head.is_of_job(LABEL, &state.job, known).then_some(header)
    }

    fn is_unknown(&self, rank: u32) -> bool {
        self.state.lock().peers.get(rank as usize).is_none()
    }

    /// Calls the handler, without the lock: it may send. Then the buffer receives again.
    fn hand_out(&self, message: Early) {
        let Early { header, slot, bytes } = message;
        let (index, all) = {
            let state = self.state.lock();
            let index = state.peers.get(header.head.from as usize).map(|peer| peer.index);
            (index, state.fabric.received(slot, bytes))
        };
        if let Some(index) = index {
            let payload: Untrusted<'_> = all.skip(HEADER_BYTES);
            deliver(header.am, index, header.head.immediate, payload);
        }
        self.state.lock().handed_out(header.head.from, slot);
    }
}

impl State {
    /// Notes messages that have left, and failures. Returns how many events to go through.
    fn note(&mut self, read: &Read, events: &[Event; EVENTS]) -> usize {
        let count = match read {
            Read::Done(count) => *count,
            Read::Failed(failure) => {
                self.note_failure(failure);
                0
            }
            Read::Broken(error) => {
                self.break_down("hears nothing of its fabric any more", *error);
                0
            }
        };
        for event in &events[..count] {
            match *event {
                Event::Sent(slot) => _ = self.sent(slot),
                Event::Reached(slot) => {
                    let finds = self.memory.note(slot).is_some_and(|noted| noted.finds);
                    let found = if finds { self.fabric.found(slot) } else { 0 };
                    self.memory.end(slot, Ok(found));
                }
                Event::Received(..) | Event::Foreign => {}
            }
        }
        count
    }

    #[cold]
    fn note_failure(&mut self, failure: &Failure) {
        match failure.event {
            Event::Sent(slot) => {
                if let Some(rank) = self.sent(slot) {
                    self.lose(rank, "was not reached", &failure.words);
                }
            }
            Event::Reached(slot) => {
                if let Some(noted) = self.memory.end(slot, Err(Error::Unreachable)) {
                    self.lose(noted.rank, "has memory that was not reached", &failure.words);
                }
            }
            // Longer than any of ours, say: whoever sent it is no process of the job, or what it sent next is missed.
            Event::Received(slot, _) => {
                self.dropped += 1;
                verbose!(btl::FRAMEWORK, 1, "ofi: a message was not received: {}", failure.words);
                self.receive(slot);
            }
            Event::Foreign => verbose!(btl::FRAMEWORK, 1, "ofi: the fabric says: {}", failure.words),
        }
    }
}
