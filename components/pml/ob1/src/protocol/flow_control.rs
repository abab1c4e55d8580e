//! Flow control of eager messages: a sender that runs ahead does not fill the receiver's memory.
//!
//! The receiver counts what is unexpected of each process. When that is more than the parameters allow it says XOFF, and XON
//! when half of it was received. In between the sender announces each message by RTS, whatever its size: the data stays in the
//! sender's memory, and a blocking send waits for its receive (MPI 5.0 §3.5 allows both). RTS are not counted. Each belongs to
//! an operation of the sender, so their number is bounded by the sender's memory.
//!
//! Where memory is shared XOFF is a word, which the sender reads where it takes the transport's own call: at least once
//! in each pass over the ring of its FIFO pair. Elsewhere XOFF and XON are control messages. So that a process that
//! does nothing but send reads them, it makes a pass of progress now and then ([`poll_if_due`]). What is under way when
//! the receiver says XOFF still comes: a ring, or what the buffers of a socket hold.
//!
//! Messages to this process itself are not counted: nobody runs ahead of itself, and a blocking send would wait for ever.

use crate::context::{Body, Payload};
use crate::counters::{RTS_SENT, UNEXPECTED_MEMORY};
use crate::params::{UNEXPECTED_BYTES, UNEXPECTED_MESSAGES};
use crate::peers::backlog::{Packet, QueuedSend};
use crate::peers::endpoint::{self, Endpoint};
use crate::protocol::operation::OperationState;
use crate::protocol::smsc::rget::PushState;
use crate::raw::UserBuffer;
use crate::state::{State, UnexpectedCount};
use crate::wire::{Control, Rts};
use alloc::format;
use ompi_core::framework::pml;
use ompi_core::init;
use ompi_core::request::Id;
use opal_core::mem::Untrusted;
use opal_core::sync::Ordering;
use opal_core::{progress, verbose_once};

/// After an eager message of so many bytes by a transport that gives no queues away: makes a pass of progress if none was
/// made for long, for the XOFF and XON of peers.
#[inline(always)]
pub fn poll_if_due(endpoint: &Endpoint, bytes: usize) {
    if endpoint.unpolled.add(bytes) {
        poll();
    }
}

#[cold]
#[inline(never)]
fn poll() {
    progress::pass();
}

impl State {
    /// Keeps an eager message that no receive matches, and counts it.
    #[inline(never)]
    pub fn keep_unexpected(&mut self, process: u32, payload: Untrusted<'_>, sync: Option<u64>) -> Body {
        let Some(payload) = Payload::new(payload) else { self.out_of_memory(process) };
        let count = self.unexpected_count(process);
        count.messages += 1;
        count.bytes += payload.memory_bytes();
        UNEXPECTED_MEMORY.add(payload.memory_bytes() as u64);
        if !count.is_stopped && (count.messages > UNEXPECTED_MESSAGES.size() || count.bytes > UNEXPECTED_BYTES.size()) {
            self.send_xoff(process, true);
        }
        Body::Whole(payload, sync)
    }

    /// A message that was kept is received, or nobody will receive it.
    pub fn uncount_unexpected(&mut self, process: u32, payload: &Payload) {
        let count = self.unexpected_count(process);
        count.messages -= 1;
        count.bytes -= payload.memory_bytes();
        UNEXPECTED_MEMORY.take(payload.memory_bytes() as u64);
        let (messages, bytes) = (UNEXPECTED_MESSAGES.size() / 2, UNEXPECTED_BYTES.size() / 2);
        if count.is_stopped && count.messages <= messages && count.bytes <= bytes {
            self.send_xoff(process, false);
        }
    }

    /// XOFF or XON arrived as a message. `false` if the process should say it by a word in shared memory.
    pub fn xoff(&mut self, process: u32, is_stopped: bool) -> bool {
        match endpoint::existing(process) {
            Some(endpoint) if endpoint.xoff_words.is_none() => {
                endpoint.set_xoff(is_stopped);
                true
            }
            _ => false,
        }
    }

    /// Announces a message that is no long one, instead of sending it eagerly.
    pub fn announce(&mut self, endpoint: &'static Endpoint, envelope: u64, request: Id, buffer: UserBuffer) {
        let bytes = buffer.bytes();
        let handle = self.operations.begin(endpoint.process, envelope, request, rts_sent(buffer));
        self.rts(endpoint, envelope, rts(bytes, handle), None);
    }

    /// The next message of the backlog, if it is an eager one, becomes the announcement of it.
    pub fn announce_next(&mut self, endpoint: &Endpoint) {
        let packets = &mut self.backlogs.entry(endpoint.process as usize).packets;
        let send = match packets.pop_front() {
            Some(Packet::Eager(send)) => send,
            other => return other.into_iter().for_each(|packet| packets.push_front(packet)),
        };
        let QueuedSend { envelope, buffer, sync, request } = send;
        let bytes = buffer.bytes();
        // A synchronous one has its operation already. If that is gone, nobody waits for the message.
        let handle = match sync.map(|handle| self.operations.find_own(handle).map(|found| (handle, found))) {
            None => self.operations.begin(endpoint.process, envelope, request, rts_sent(buffer)),
            Some(Some((handle, (number, _)))) => {
                self.operations.announce(number, rts_sent(buffer));
                handle
            }
            Some(None) => return,
        };
        let packets = &mut self.backlogs.entry(endpoint.process as usize).packets;
        packets.push_front(Packet::Rts(envelope, rts(bytes, handle).pack(), None));
        RTS_SENT.count();
    }

    /// Ends the job: there is no memory for what a process sent.
    #[cold]
    #[inline(never)]
    pub fn out_of_memory(&mut self, process: u32) -> ! {
        let kept = (0..self.context_numbers()).filter_map(|number| Some(self.context(number)?.unexpected(process)));
        let messages: usize = kept.sum();
        // Gives memory back, for the message below.
        for number in 0..self.context_numbers() {
            let Some(context) = self.context(number) else { continue };
            [false, true].into_iter().for_each(|collective| drop(context.matcher(collective).take_any()));
        }
        init::abort(
            1,
            &format!(
                "out of memory: {messages} unexpected messages from rank {process} in MPI_COMM_WORLD wait here for their \
                 receives; receive them sooner, or lower pml_ob1_unexpected_bytes ({}) and pml_ob1_unexpected_messages ({})",
                UNEXPECTED_BYTES.size(),
                UNEXPECTED_MESSAGES.size()
            ),
        )
    }

    /// Sends XOFF, or XON if the process is not to be stopped any more.
    #[cold]
    #[inline(never)]
    fn send_xoff(&mut self, process: u32, is_stopped: bool) {
        // Not known yet: the next message asks again.
        let Some(endpoint) = endpoint::existing(process).filter(|endpoint| !endpoint.is_self) else { return };
        self.unexpected_count(process).is_stopped = is_stopped;
        match &endpoint.xoff_words {
            Some(words) => words.sent.store(u64::from(is_stopped), Ordering::Relaxed),
            None => self.control(process, 0, if is_stopped { Control::Xoff } else { Control::Xon }),
        }
        if is_stopped {
            let UnexpectedCount { messages, bytes, .. } = *self.unexpected_count(process);
            verbose_once!(
                pml::FRAMEWORK,
                20,
                "process {process} runs ahead: {messages} messages of it are unexpected ({bytes} bytes), more must wait there"
            );
        }
    }

    fn unexpected_count(&mut self, process: u32) -> &mut UnexpectedCount {
        self.unexpected_counts.entry(process as usize)
    }
}

fn rts_sent(buffer: UserBuffer) -> OperationState {
    OperationState::RtsSent { buffer, push: PushState::NoAddress, sent: 0, exposure: None }
}

fn rts(bytes: usize, handle: u64) -> Rts {
    Rts { bytes: bytes as u64, handle, address: None, data_bytes: 0, checksum: 0 }
}

#[cfg(test)]
mod tests;
