//! Rendezvous: RTS, and what the receiver answers. It says how much it wants, so what would be cut off is never sent.

use crate::checksum;
use crate::context::{PendingRts, Receive};
use crate::counters::{FRAGMENTED, GETS, SINGLE_COPIES, STREAMED};
use crate::peers::endpoint::{self, Endpoint};
use crate::protocol::get;
use crate::protocol::operation::OperationState;
use crate::protocol::selection::{Memory, Protocol};
use crate::protocol::smsc;
use crate::protocol::smsc::rget::{PushState, Rget};
use crate::raw::UserBuffer;
use crate::state::State;
use crate::wire::{self, Control, Cts, Rts};
use ompi_core::request::Id;
use ompi_core::status::Status;

impl State {
    /// Starts a long send, of which `data_bytes` go along with the RTS.
    pub fn send_rts(
        &mut self,
        endpoint: &'static Endpoint,
        envelope: u64,
        request: Id,
        buffer: UserBuffer,
        data_bytes: usize,
    ) {
        let bytes = buffer.bytes();
        let run = buffer.peers_mechanism(endpoint).and_then(|_| buffer.contiguous());
        let push = if run.is_some() { PushState::AddressSent } else { PushState::NoAddress };
        let (exposure, key) = match run {
            None if data_bytes == 0 => get::expose(endpoint, &buffer).unzip(),
            _ => (None, None),
        };
        let state = OperationState::RtsSent { buffer, push, sent: 0, exposure };
        let handle = self.operations.begin(endpoint.process, envelope, request, state);
        // Address 0 stands for none.
        let address = run.map(|run| run.address());
        let checksum = run.filter(|_| checksum::is_on()).map_or(0, |run| run.checksum(bytes));
        let rts = Rts { bytes: bytes as u64, handle, address, data_bytes: data_bytes as u32, checksum };
        if self.rts(endpoint, envelope, rts, key) && data_bytes > 0 {
            self.send_rts_data(endpoint, handle, data_bytes);
        }
    }

    /// A receive met an RTS.
    pub fn answer_rts(
        &mut self,
        receive: Receive,
        mut status: Status,
        context: u32,
        process: u32,
        PendingRts { rts, key, data }: PendingRts,
    ) {
        let sender = rts.handle;
        let Receive { buffer, request, from_busy, .. } = receive;
        let wanted = buffer.bytes().min(usize::try_from(rts.bytes).unwrap_or(usize::MAX));
        if rts.bytes > wanted as u64 {
            status.fail_truncated(rts.bytes, context);
        }
        status.set_bytes(wanted as u64);
        // The checksum is that of the whole message.
        let address = rts.address.filter(|_| !checksum::is_on() || rts.bytes == wanted as u64);
        let single = address.and_then(|remote| smsc::reachable(process, &buffer, remote, wanted));
        // Through a wire there is nothing to choose.
        let has_fifos = || endpoint::existing(process).is_some_and(|endpoint| endpoint.fifo_pair.is_some());
        let near = wanted > 0 && (single.is_some() || has_fifos());
        let to = buffer.contiguous().map_or(0, |run| run.address());
        // A sender that computes has no time for fragments, and what it takes meanwhile says nothing of others.
        let alone = from_busy && single.is_some() && Protocol::forced().is_none();
        let chosen = match near {
            true if alone => Some(Protocol::SingleCopy),
            true => {
                let from = single.as_ref().map(|single| Memory::of(Some(&single.mechanism)));
                let sends = self.operations.sends_long();
                Some(self.selection(process).begin(wanted, to, from, sends))
            }
            false => None,
        };
        if let (Some(Protocol::SingleCopy), Some(single)) = (chosen, single) {
            data.into_iter().for_each(|number| self.drop_rts_data(process, sender, number));
            SINGLE_COPIES.count();
            let rget = Rget::new(buffer, single.target, status, wanted, sender, single.remote);
            let rget = Rget { alone, checksum: rts.checksum, ..rget };
            return self.start_rget(&single, rget, context, request);
        }
        if wanted == 0 {
            data.into_iter().for_each(|number| self.drop_rts_data(process, sender, number));
            self.complete(request, status);
            return self.control(process, sender, Control::NoneWanted);
        }
        if let Some(mut getting) = key.and_then(|key| get::reachable(process, &buffer, &key, wanted, sender)) {
            data.into_iter().for_each(|number| self.drop_rts_data(process, sender, number));
            GETS.count();
            (getting.buffer, getting.status) = (buffer, status);
            return self.start_get(process, getting, context, request);
        }
        if chosen == Some(Protocol::Streamed) {
            STREAMED.count()
        } else {
            FRAGMENTED.count()
        };
        let state = OperationState::ReceivingFragments { buffer, status, wanted, received: 0, chosen };
        let handle = self.operations.begin(process, wire::context_bits(context, false), request, state);
        let resend = data.is_some_and(|number| self.rts_data.is_refused(number));
        let cts = Cts { handle, wanted: wanted as u64 };
        self.control(process, sender, if resend { Control::CtsResend(cts) } else { Control::Cts(cts) });
        match data {
            Some(number) if resend => self.drop_rts_data(process, sender, number),
            Some(number) => self.receive_rts_data(process, sender, number, handle),
            None => {}
        }
    }

    /// CTS arrived, or CTS_RESEND. `false` if that process has no such operation.
    pub fn cts(&mut self, process: u32, handle: u64, cts: Cts, resend: bool) -> bool {
        let Some((number, operation)) = self.operations.find(process, handle) else { return false };
        let OperationState::RtsSent { buffer, sent, .. } = &mut operation.state else { return false };
        let (bytes, sent) = (buffer.bytes(), if resend { 0 } else { *sent });
        let wanted = usize::try_from(cts.wanted).unwrap_or(usize::MAX).min(bytes);
        record(process, buffer, Protocol::Fragments);
        if wanted <= sent {
            self.end_operation(number, Status::EMPTY);
            return true;
        }
        let buffer = core::mem::take(buffer);
        operation.state = OperationState::SendingFragments { buffer, to: cts.handle, wanted, sent };
        self.start_fragments(process, number);
        true
    }

    /// NONE_WANTED arrived. `false` if that process has no such operation.
    pub fn none_wanted(&mut self, process: u32, handle: u64) -> bool {
        self.cts(process, handle, Cts { handle: 0, wanted: 0 }, false)
    }

    /// ACK arrived. `false` if that process has no such operation.
    pub fn ack(&mut self, process: u32, handle: u64) -> bool {
        let Some((number, operation)) = self.operations.find(process, handle) else { return false };
        let OperationState::AwaitingAck = operation.state else { return false };
        self.end_operation(number, Status::EMPTY);
        true
    }

    /// FIN arrived. `false` if that process has no such operation, or the receiver could neither copy nor read it.
    pub fn fin(&mut self, process: u32, handle: u64) -> bool {
        let Some((number, operation)) = self.operations.find(process, handle) else { return false };
        let OperationState::RtsSent { buffer, push, exposure, .. } = &operation.state else { return false };
        match (push, exposure) {
            (PushState::NoAddress, None) => return false,
            (_, Some(_)) => {}
            (_, None) => record(process, buffer, Protocol::SingleCopy),
        }
        self.end_operation(number, Status::EMPTY);
        true
    }
}

fn record(process: u32, buffer: &UserBuffer, protocol: Protocol) {
    if let Some(endpoint) = endpoint::existing(process) {
        endpoint.history.record((buffer.bytes(), buffer.memory(endpoint)), protocol);
    }
}
