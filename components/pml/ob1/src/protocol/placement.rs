//! Eager messages that a transport receives straight into the user's buffer. When it has read the header it asks where the
//! payload belongs, giving the envelope. If a posted receive matches, the rest needs no copy: it is then a long receive
//! without RTS.
//!
//! Otherwise 64 KiB over TCP are read into a buffer of the transport that is as large as the message, and copied from
//! there.

use crate::context::Receive;
use crate::counters::uncount_posted;
use crate::protocol::operation::OperationState;
use crate::state::{EagerPlacement, State};
use crate::wire::Envelope;
use core::ops::Range;
use ompi_core::framework::pml;
use ompi_core::status::Status;
use opal_core::framework::btl::Fill;
use opal_core::verbose_once;

impl State {
    /// Calls `fill` with the place for `part` of an eager message, up to its end. `false` if no receive is posted for it
    /// yet, or its buffer is no single run, or too short.
    pub fn place_eager(&mut self, process: u32, envelope: u64, part: Range<usize>, fill: Fill<'_>) -> bool {
        let known = self.placement(process).map(|index| self.placements[index]);
        let handle = match known {
            Some(known) if (known.envelope, known.bytes) == (envelope, part.end) => known.handle,
            // The second of two at once from one process is copied.
            Some(_) => return false,
            None if part.start > 0 => return false,
            None => match self.match_placement(process, envelope, part.end) {
                Some(handle) => handle,
                None => return false,
            },
        };
        self.place(process, handle, 0, part, fill)
    }

    /// All of an eager message is in its place. `false` if no receive wants it any more.
    pub fn placed_eager(&mut self, process: u32, envelope: u64, bytes: usize) -> bool {
        let Some(index) = self.placement(process) else { return false };
        let known = self.placements[index];
        if (known.envelope, known.bytes) != (envelope, bytes) {
            return false;
        }
        self.placements.swap_remove(index);
        self.placed(process, known.handle, 0, bytes)
    }

    /// The message of a process that is being placed. If its receive failed meanwhile, it is forgotten.
    fn placement(&mut self, process: u32) -> Option<usize> {
        let index = self.placements.iter().position(|known| known.process == process)?;
        let handle = self.placements[index].handle;
        if self.operations.find(process, handle).is_some() {
            return Some(index);
        }
        self.placements.swap_remove(index);
        None
    }

    /// Takes the first receive posted for a message's source, if it matches and its buffer is one run and long enough.
    fn match_placement(&mut self, process: u32, envelope: u64, bytes: usize) -> Option<u64> {
        let Envelope { context: number, collective, tag } = Envelope::of(envelope);
        let context = self.context(number).filter(|context| !context.closing)?;
        let source = context.rank_of(process)?;
        let mut list = context.matcher(collective).posted_list(source)?;
        let mut first = list.first(tag)?;
        let receive = first.receive();
        if receive.buffer.contiguous().is_none() || receive.buffer.bytes() < bytes {
            return None;
        }
        let Receive { buffer, request, .. } = core::mem::take(receive);
        first.consume();
        uncount_posted();
        self.count_matched(number, collective, source, tag, bytes, request);
        verbose_once!(pml::FRAMEWORK, 20, "{bytes} bytes from process {process} are read straight to their receive");
        let status = Status::new(source as i32, tag, bytes as u64);
        let state = OperationState::ReceivingFragments { buffer, status, wanted: bytes, received: 0, chosen: None };
        let handle = self.operations.begin(process, envelope, request, state);
        self.placements.push(EagerPlacement { process, envelope, bytes, handle });
        Some(handle)
    }
}

#[cfg(test)]
mod tests;
