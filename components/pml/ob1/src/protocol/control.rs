//! Sends control messages, RTS and out-of-band messages, now or from the backlog as soon as there is room.

use crate::counters::RTS_SENT;
use crate::peers::backlog::{Packet, QueuedSend};
use crate::peers::endpoint::{self, Endpoint};
use crate::protocol::failure::own_context;
use crate::protocol::operation::OperationState;
use crate::raw::send_bytes;
use crate::state::{State, aborted};
use crate::wire::{self, Control, Envelope, RemoteKey, Rts};
use alloc::boxed::Box;
use ompi_core::status::Status;
use ompi_core::{process, request};
use opal_core::mem::Untrusted;

impl State {
    /// Sends a control message to the peer's operation `handle`.
    pub fn control(&mut self, process: u32, handle: u64, control: Control) {
        let packet = Packet::Control(handle, control.pack());
        if let Some(endpoint) = endpoint::existing(process) {
            self.send_packet(endpoint, packet);
        } else if (process as usize) < process::count() {
            // Another thread is about to connect to it, and its transport has been told already.
            self.backlog(process).packets.push_back(packet);
            self.list_pending(process);
        }
    }

    /// Sends an RTS; says whether it has left already.
    pub fn rts(&mut self, endpoint: &'static Endpoint, envelope: u64, rts: Rts, key: Option<Box<RemoteKey>>) -> bool {
        RTS_SENT.count();
        self.send_packet(endpoint, Packet::Rts(envelope, rts.pack(), key))
    }

    /// Sends an out-of-band message.
    pub fn oob(&mut self, endpoint: &'static Endpoint, message: &[u8]) {
        if endpoint.has_backlog() || send_bytes(endpoint, wire::OOB, 0, message).is_err() {
            self.queue(endpoint, Packet::Oob(message.into()));
        }
    }

    /// Queues an eager send that found no room.
    pub fn queue_eager(&mut self, endpoint: &'static Endpoint, send: QueuedSend) {
        if let Some((_, operation)) = send.sync.and_then(|handle| self.operations.find_own(handle)) {
            operation.state = OperationState::SyncQueued;
        }
        self.queue(endpoint, Packet::Eager(send));
    }

    /// The envelopes of sends to a process that wait for room.
    pub fn queued_sends(&self, process: u32) -> impl Iterator<Item = u64> {
        let packets = self.backlogs.get(process as usize).into_iter().flat_map(|backlog| &backlog.packets);
        packets.filter_map(|packet| if let Packet::Eager(send) = packet { Some(send.envelope) } else { None })
    }

    /// Sends what waits for a process; returns how many messages left.
    pub fn push_packets(&mut self, endpoint: &'static Endpoint) -> usize {
        let mut moved = 0;
        loop {
            if endpoint.is_stopped() {
                self.announce_next(endpoint);
            }
            let backlog = self.backlogs.entry(endpoint.process as usize);
            if backlog.packets.front_mut().is_none_or(|packet| packet.send(endpoint).is_err()) {
                break;
            }
            if let Some(Packet::Eager(QueuedSend { sync, request, .. })) = backlog.packets.pop_front() {
                match sync.map(|handle| self.operations.find_own(handle)) {
                    None => request::complete(request, Status::EMPTY),
                    Some(Some((_, operation))) => operation.state = OperationState::AwaitingAck,
                    Some(None) => {}
                }
            }
            moved += 1;
        }
        endpoint.set_backlog(self.backlog(endpoint.process).packets.len());
        moved
    }

    /// Fails what waits for a process that is gone.
    pub fn fail_backlog(&mut self, process: u32) {
        let Some(endpoint) = endpoint::existing(process) else { return };
        let backlog = self.backlog(process);
        backlog.active_sends.truncate(0);
        for packet in core::mem::take(&mut backlog.packets) {
            if let Packet::Eager(QueuedSend { sync: None, request, envelope, .. }) = packet {
                let context = own_context(process, Envelope::of(envelope).context);
                request::complete(request, aborted(process, context));
            }
        }
        endpoint.set_backlog(0);
    }

    fn send_packet(&mut self, endpoint: &'static Endpoint, mut packet: Packet) -> bool {
        let sent = !endpoint.has_backlog() && packet.send(endpoint).is_ok();
        if !sent {
            self.queue(endpoint, packet);
        }
        sent
    }

    // The process was lost after its operations had failed: what was begun since then ends here.
    fn fail_packet(&mut self, process: u32, packet: &Packet) {
        let handle = match packet {
            Packet::Eager(QueuedSend { sync: None, request, envelope, .. }) => {
                let context = own_context(process, Envelope::of(*envelope).context);
                return request::complete(*request, aborted(process, context));
            }
            Packet::Eager(QueuedSend { sync: Some(handle), .. }) => Some(*handle),
            Packet::Rts(_, rts, _) => Rts::unpack(Untrusted::of(rts)).map(|rts| rts.handle),
            Packet::Control(..) | Packet::Oob(_) => None,
        };
        if let Some((number, _)) = handle.and_then(|handle| self.operations.find_own(handle)) {
            self.fail_operation(number);
        }
    }

    fn queue(&mut self, endpoint: &'static Endpoint, packet: Packet) {
        if endpoint.is_dead() {
            return self.fail_packet(endpoint.process, &packet);
        }
        let backlog = self.backlog(endpoint.process);
        backlog.packets.push_back(packet);
        endpoint.set_backlog(backlog.packets.len());
        self.list_pending(endpoint.process);
    }
}

#[cfg(test)]
mod tests;
