//! Long messages in fragments, after CTS. The sender gives them to its rails as these have room; a transport that is full
//! is tried again by progress. The receiver copies each to its offset, or a transport reads it straight to there.

use crate::peers::endpoint::{self, Endpoint};
use crate::protocol::operation::{Operation, OperationState};
use crate::protocol::selection::Protocol;
use crate::raw::UserBuffer;
use crate::state::State;
use crate::wire;
use core::ops::Range;
use ompi_core::framework::pml;
use ompi_core::status::Status;
use opal_core::framework::btl::{Fill, Full};
use opal_core::mem::Untrusted;
use opal_core::verbose_once;

/// Where a part of a long message belongs.
struct Target<'a> {
    number: u32,
    offset: usize,
    buffer: &'a mut UserBuffer,
    protocol: Option<Protocol>,
}

impl State {
    /// Begins to send the fragments of a long send.
    pub fn start_fragments(&mut self, process: u32, number: u32) {
        let Some(endpoint) = endpoint::existing(process) else { return };
        let backlog = self.backlog(process);
        backlog.active_sends.push_back(number);
        if backlog.active_sends.len() == 1 {
            self.push_fragments(endpoint);
        }
        self.list_pending(process);
    }

    /// Sends fragments to a process as long as there is room; returns how many sends moved on.
    pub fn push_fragments(&mut self, endpoint: &'static Endpoint) -> usize {
        let mut moved = 0;
        while let Some(number) = self.backlogs.entry(endpoint.process as usize).active_sends.front().copied() {
            let before = self.sent(number);
            match self.send_fragments(number, endpoint) {
                Ok(()) => _ = self.backlogs.entry(endpoint.process as usize).active_sends.pop_front(),
                Err(Full) => return moved + usize::from(self.sent(number) != before),
            }
            moved += 1;
        }
        moved
    }

    fn sent(&self, number: u32) -> usize {
        match self.operations.get(number).state {
            OperationState::SendingFragments { sent, .. } => sent,
            _ => 0,
        }
    }

    // `Ok` when all are sent.
    fn send_fragments(&mut self, number: u32, endpoint: &Endpoint) -> Result<(), Full> {
        let state = &mut self.operations.get_mut(number).state;
        if let OperationState::SendingFragments { buffer, to, wanted, sent } = state {
            while *sent < *wanted {
                *sent += endpoint.rails.spread(|rail| {
                    let bytes = rail.fragment_bytes.min(*wanted - *sent);
                    buffer.send_part(rail.path, wire::FRAG, *to, *sent as u64, *sent, bytes)?;
                    Ok(bytes)
                })?;
            }
        }
        self.end_operation(number, Status::EMPTY);
        Ok(())
    }

    /// A fragment arrived. `false` if no receive wants it.
    pub fn fragment(&mut self, process: u32, handle: u64, offset: u64, data: Untrusted<'_>) -> bool {
        let Some(Target { number, offset, buffer, protocol }) = self.target(process, handle, offset, data.len()) else {
            return false;
        };
        match protocol {
            Some(Protocol::Streamed) => {
                buffer.stream_at(offset, data);
                let bytes = data.len();
                verbose_once!(pml::FRAMEWORK, 20, "{bytes} bytes from process {process} are stored around the cache");
            }
            _ => buffer.write_at(offset, data),
        }
        self.received(number, data.len());
        true
    }

    /// Calls `fill` with the part of the buffer that a fragment's missing bytes belong to, if it is one run.
    pub fn place(&mut self, process: u32, handle: u64, offset: u64, part: Range<usize>, fill: Fill<'_>) -> bool {
        let Some(Target { offset, buffer, .. }) = self.target(process, handle, offset, part.end) else { return false };
        buffer.with_contiguous(offset + part.start, part.len(), fill)
    }

    /// All of a fragment is in its place. `false` if no receive wants it any more.
    pub fn placed(&mut self, process: u32, handle: u64, offset: u64, bytes: usize) -> bool {
        let Some(Target { number, .. }) = self.target(process, handle, offset, bytes) else { return false };
        self.received(number, bytes);
        true
    }

    fn target(&mut self, process: u32, handle: u64, offset: u64, bytes: usize) -> Option<Target<'_>> {
        let (number, operation) = self.operations.find(process, handle)?;
        let OperationState::ReceivingFragments { buffer, wanted, received, chosen, .. } = &mut operation.state else {
            return None;
        };
        let offset = usize::try_from(offset).ok()?;
        // Each byte once: the sum of the lengths must not exceed what is wanted either.
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= *wanted) && bytes <= *wanted - *received;
        (fits && bytes > 0).then_some(Target { number, offset, buffer, protocol: *chosen })
    }

    fn received(&mut self, number: u32, bytes: usize) {
        let state = &mut self.operations.get_mut(number).state;
        let OperationState::ReceivingFragments { wanted, received, .. } = state else { return };
        *received += bytes;
        if *received == *wanted {
            let Operation { process, request, state, .. } = self.operations.remove(number);
            if let OperationState::ReceivingFragments { status, chosen, wanted, .. } = state {
                if chosen.is_some() {
                    self.selection(process).end(wanted);
                }
                self.complete(request, status);
            }
        }
    }
}
