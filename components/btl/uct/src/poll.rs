//! Polling: what UCT brought.

use crate::abi::OK;
use crate::module::Uct;
use crate::peer::Peer;
use crate::raw::{Batch, Message};
use crate::wire::{HEADER_BYTES, LABEL, LEAVES, WIRE_ID};
use opal_core::framework::btl::{self, deliver};
use opal_core::mem::Untrusted;
use opal_core::{Error, sys, verbose};
use opal_fabric::head::Head;
use opal_fabric::memory;

impl Uct {
    /// Takes what has come; returns how many messages were taken.
    pub fn poll_once(&self) -> usize {
        let mut batch = self.state.lock().progress();
        let mut taken = 0;
        for message in &batch.messages {
            taken += usize::from(self.take(&batch, *message));
        }
        let (ended, lost) = {
            let mut state = self.state.lock();
            for (slot, status) in &batch.ended {
                let ended = if *status == OK { Ok(0) } else { Err(Error::Unreachable) };
                state.memory.end(*slot, ended);
            }
            for (ep, status) in &batch.failed {
                state.failed(*ep, *status);
            }
            batch.clear();
            state.empty = batch;
            let ended = state.memory.take_ended();
            state.note_due();
            (ended, core::mem::take(&mut state.lost))
        };
        memory::tell(ended);
        lost.into_iter().for_each(btl::failed);
        taken
    }

    /// Hands out a message, without the lock: its handler may send. Whether it was one.
    fn take(&self, batch: &Batch, message: Message) -> bool {
        let whole = batch.bytes(message);
        let Some(header) = self.header_of_job(whole) else {
            self.state.lock().dropped += 1;
            verbose!(
                btl::FRAMEWORK,
                10,
                "uct: dropped a message of {} bytes that no process of the job has sent",
                whole.len()
            );
            return false;
        };
        if message.am == LEAVES {
            self.state.lock().leaves(header.from);
            return false;
        }
        if self.state.lock().peers.get(header.from as usize).is_none() {
            btl::unknown_peer(header.from);
        }
        let index = {
            let mut state = self.state.lock();
            let open = state.peers.get(header.from as usize).filter(|peer| !peer.closed).map(|peer| peer.index);
            state.dropped += u64::from(open.is_none());
            state.ended.heard(header.from, sys::monotonic_ns);
            open
        };
        let Some(index) = index else { return false };
        deliver(message.am, index, header.immediate, whole.skip(HEADER_BYTES));
        true
    }

    /// The header of a message that only a process of the job can have sent to this one.
    fn header_of_job(&self, whole: Untrusted<'_>) -> Option<Head> {
        let header = Head::parse(&whole.array::<HEADER_BYTES>()?, WIRE_ID)?;
        let state = self.state.lock();
        let known = |rank| state.peers.get(rank as usize).map(|peer: &Peer| peer.token_here);
        header.is_of_job(LABEL, &state.job, known).then_some(header)
    }
}
