//! Long messages between processes of a node, copied once: the receiver reads one half of the sender's data (RGET) while
//! the sender writes the other half to the receiver's buffer (push).
//!
//! The RTS names the address of the data. The receiver takes one of its claim words, stores *open* in it, sends
//! PUSH_OFFER (address of its buffer, where the second half begins, which claim word), and reads the first half. The
//! second half belongs to the side that changes the word first: the sender when it gets to the offer, or the receiver
//! when it has read its own half. So neither side waits for one that is busy outside of MPI. The sender says PUSH_DONE
//! when it has written what it claimed; the receiver says FIN when everything is there.
//!
//! With several messages under way each side first copies its halves of all of them, in order, and then the halves that
//! the other has not begun. So neither waits for the other. Each core writes the same part of a buffer each time, and
//! the lines of that part stay in its cache. Messages below [`HALVED_BYTES`] are not halved then: each belongs as a
//! whole to the side that changes its word first, because a call of the system costs as much as copying a dozen KiB.
//!
//! The word holds the receiver's handle beside its state, so that a late offer, whose word already serves another message,
//! claims nothing. Without a word (all are in use, no memory is shared) the receiver reads all. Where a copy fails (memory
//! that the kernel does not let others see) the receiver asks for fragments with CTS_RESEND.
//!
//! A peer names addresses in its own memory; this process's is read and written only in the range of the request.
//! Copies are made by progress, one at a time and without the state's lock. Invariant: an operation with a copy under way
//! does not end, because progress also delivers the messages and failures that could end it.

pub mod rget;

use self::rget::{Offer, PushRange, PushState, Rget, Side, claim};
use crate::counters::DAMAGED;
use crate::peers::endpoint::{self, Endpoint};
use crate::protocol::operation::OperationState;
use crate::protocol::selection::{Memory, Protocol};
use crate::raw::{Contiguous, UserBuffer};
use crate::state::{STATE, State};
use crate::wire::{self, Control, Cts, PushOffer};
use ompi_core::request::Id;
use opal_core::framework::smsc;
use opal_core::{Error, Result, verbose_once};

/// One copy.
struct CopyStep {
    handle: u64,
    smsc: smsc::Endpoint,
    own: Contiguous,
    remote: u64,
    offset: usize,
    bytes: usize,
    reads: bool,
}

/// Makes the next copy that is due, for progress; returns how many.
pub fn copy_next() -> usize {
    let Some(step) = STATE.lock().next_copy() else { return 0 };
    let result = step.copy();
    STATE.lock().copied(&step, result);
    1
}

/// A receive that can be made in a single copy.
pub struct Single {
    endpoint: &'static Endpoint,
    /// Where the data lies at the sender.
    pub remote: u64,
    /// How this side reaches it.
    pub mechanism: smsc::Mechanism,
    /// The receive's buffer.
    pub target: Contiguous,
    // Both sides copy a half.
    halved: bool,
}

/// Whether a receive of `wanted` bytes that the sender has at `remote` can be made in a single copy.
pub fn reachable(process: u32, buffer: &UserBuffer, remote: u64, wanted: usize) -> Option<Single> {
    let endpoint = endpoint::existing(process)?;
    let smsc = endpoint.smsc_endpoint.as_ref()?;
    let mechanism = *smsc.mechanism(remote, wanted).filter(|mechanism| wanted >= mechanism.module.caps().min_bytes)?;
    let target = buffer.contiguous()?;
    // The sender's part is not to take longer than this side's: it has the same mechanism, or a better one.
    let back = target.peers_mechanism(smsc).filter(|_| wanted >= mechanism.module.caps().halved_bytes);
    let halved = back.is_some_and(|back| back.name == mechanism.name || !back.module.caps().any_memory);
    Some(Single { endpoint, remote, mechanism, target, halved })
}

impl State {
    /// Begins to receive in a single copy.
    pub fn start_rget(&mut self, single: &Single, mut rget: Rget, context: u32, request: Id) {
        let endpoint = single.endpoint;
        let begin = match self.copies.is_empty() {
            _ if rget.alone || !single.halved => rget.wanted,
            true => rget.middle(HEAD_START),
            false if rget.wanted >= HALVED_BYTES => rget.middle(0),
            false => 0,
        };
        let claim_word = if begin < rget.wanted { endpoint.take_claim_word() } else { None };
        if let Some(index) = claim_word {
            rget.offer(begin, index);
        }
        let (sender, wanted, address) = (rget.sender, rget.wanted as u64, rget.target.address());
        let envelope = wire::context_bits(context, false);
        let handle = self.operations.begin(endpoint.process, envelope, request, OperationState::Rget(rget));
        if let Some(index) = claim_word {
            rget::open(endpoint, index, handle);
            let offer = PushOffer { handle, wanted, address, begin: begin as u64, claim_word: u64::from(index) };
            self.control(endpoint.process, sender, Control::PushOffer(offer));
        }
        self.copy_later(handle);
    }

    /// PUSH_OFFER arrived. `false` if it fits no send.
    pub fn push_offered(&mut self, process: u32, handle: u64, offer: PushOffer) -> bool {
        let Some((_, operation)) = self.operations.find(process, handle) else { return false };
        let OperationState::RtsSent { buffer, push, .. } = &mut operation.state else { return false };
        let range = (usize::try_from(offer.begin), usize::try_from(offer.wanted), u32::try_from(offer.claim_word));
        let (PushState::AddressSent, (Ok(at), Ok(end), Ok(claim_word))) = (*push, range) else { return false };
        let (bytes, memory) =
            (buffer.bytes(), endpoint::existing(process).map_or(Memory::Private, |endpoint| buffer.memory(endpoint)));
        if at >= end || end > bytes || offer.address.checked_add(offer.wanted).is_none() {
            return false;
        }
        let (to, remote) = (offer.handle, offer.address);
        *push = PushState::Offered(PushRange { to, remote, at, end, claim_word, claimed: false });
        if let Some(endpoint) = endpoint::existing(process) {
            endpoint.history.record((bytes, memory), Protocol::SingleCopy);
        }
        self.copy_later(handle);
        true
    }

    /// PUSH_DONE or PUSH_FAILED arrived. `false` if no offer is open.
    pub fn pushed(&mut self, process: u32, handle: u64, written: bool) -> bool {
        let Some((_, operation)) = self.operations.find(process, handle) else { return false };
        let OperationState::Rget(rget) = &mut operation.state else { return false };
        if rget.offer != Offer::Open {
            return false;
        }
        rget.offer = if written { Offer::Pushed } else { Offer::PushFailed };
        if rget.is_read() || rget.failed {
            self.advance_rget(handle);
        }
        true
    }

    fn copy_later(&mut self, handle: u64) {
        self.copies.push_back(handle);
        self.count_pending();
    }

    fn next_copy(&mut self) -> Option<CopyStep> {
        loop {
            while let Some(handle) = self.copies.front().copied() {
                if let Some(step) = self.copy_step(handle) {
                    return Some(step);
                }
                self.copies.pop_front();
            }
            let Some(handle) = self.deferred_pushes.pop_front() else { break };
            self.advance_rget(handle);
        }
        self.count_pending();
        None
    }

    // `None`: there is nothing to copy for it now.
    fn copy_step(&mut self, handle: u64) -> Option<CopyStep> {
        let (_, operation) = self.operations.find_own(handle)?;
        let endpoint = endpoint::existing(operation.process)?;
        let smsc = endpoint.smsc_endpoint?;
        let most = smsc.max_bytes();
        match &mut operation.state {
            OperationState::Rget(rget) if !rget.failed => {
                let all_offered = rget.end == 0 && rget.offer == Offer::Open;
                if all_offered && claim(endpoint, Side::Receiver, rget.claim_word?, handle) {
                    rget.keep_rest();
                }
                if rget.is_read() {
                    return None;
                }
                let (own, offset, bytes) = (rget.target, rget.read, most.min(rget.end - rget.read));
                let remote = rget.remote.saturating_add(offset as u64);
                Some(CopyStep { handle, smsc, own, remote, offset, bytes, reads: true })
            }
            OperationState::RtsSent { buffer, push, .. } => {
                let PushState::Offered(range) = push else { return None };
                if !range.claimed && !claim(endpoint, Side::Sender, range.claim_word, range.to) {
                    *push = PushState::Done;
                    return None;
                }
                range.claimed = true;
                let (offset, bytes) = (range.at, most.min(range.end - range.at));
                let remote = range.remote + offset as u64;
                Some(CopyStep { handle, smsc, own: buffer.contiguous()?, remote, offset, bytes, reads: false })
            }
            _ => None,
        }
    }

    fn copied(&mut self, step: &CopyStep, result: Result<()>) {
        let Some((number, operation)) = self.operations.find_own(step.handle) else { return };
        let process = operation.process;
        match &mut operation.state {
            OperationState::Rget(rget) if result == Err(Error::Unreachable) => {
                let claim_word = rget.claim_word.take();
                if let (Some(index), Some(endpoint)) = (claim_word, endpoint::existing(process)) {
                    endpoint.give_claim_word(index);
                }
                self.fail_operation(number);
            }
            OperationState::Rget(rget) => {
                rget.read += step.bytes;
                rget.failed = result.is_err();
                if rget.is_read() || rget.failed {
                    self.copies.pop_front();
                    self.advance_rget(step.handle);
                }
            }
            OperationState::RtsSent { push, .. } => {
                let PushState::Offered(range) = push else { return };
                range.at += step.bytes;
                if range.at == range.end || result.is_err() {
                    let to = range.to;
                    *push = PushState::Done;
                    let control = if result.is_ok() { Control::PushDone } else { Control::PushFailed };
                    self.control(process, to, control);
                }
            }
            _ => {}
        }
    }

    // This side has read its part or failed, or the sender has reported on its own.
    fn advance_rget(&mut self, handle: u64) {
        let others = !self.copies.is_empty();
        let Some((number, operation)) = self.operations.find_own(handle) else { return };
        let (process, OperationState::Rget(rget)) = (operation.process, &mut operation.state) else { return };
        if others && rget.offer == Offer::Open && !rget.failed {
            self.deferred_pushes.push_back(handle);
            return self.count_pending();
        }
        let Some(endpoint) = endpoint::existing(process) else { return };
        match rget.offer {
            Offer::None => return self.end_rget(number, endpoint, handle),
            Offer::Pushed if !rget.failed => return self.end_rget(number, endpoint, handle),
            Offer::Open => {
                let claim_word = rget.claim_word.unwrap_or(u32::MAX);
                if !claim(endpoint, Side::Receiver, claim_word, handle) {
                    // The sender has it and will say so.
                    return;
                }
            }
            Offer::Pushed | Offer::PushFailed => {}
        }
        rget.keep_rest();
        if rget.failed {
            return self.end_rget(number, endpoint, handle);
        }
        // Before all others: its buffers are warm.
        self.copies.push_front(handle);
        self.count_pending();
    }

    // Nobody copies any more.
    fn end_rget(&mut self, number: u32, endpoint: &Endpoint, handle: u64) {
        let operation = self.operations.get_mut(number);
        let OperationState::Rget(rget) = &mut operation.state else { return };
        rget.claim_word.take().into_iter().for_each(|word| endpoint.give_claim_word(word));
        if !rget.failed && rget.is_damaged() {
            DAMAGED.count();
            rget.failed = true;
        }
        let (sender, status, wanted, alone) = (rget.sender, rget.status, rget.wanted, rget.alone);
        if rget.failed {
            let process = endpoint.process;
            verbose_once!(
                smsc::FRAMEWORK,
                10,
                "a message of process {process} comes in fragments: it cannot be read as it is"
            );
            let (buffer, chosen) = (core::mem::take(&mut rget.buffer), (!alone).then_some(Protocol::SingleCopy));
            operation.state = OperationState::ReceivingFragments { buffer, status, wanted, received: 0, chosen };
            let cts = Cts { handle, wanted: wanted as u64 };
            return self.control(endpoint.process, sender, Control::CtsResend(cts));
        }
        self.control(endpoint.process, sender, Control::Fin);
        if !alone {
            self.selection(endpoint.process).end(wanted);
        }
        self.end_operation(number, status);
    }
}

impl CopyStep {
    fn copy(&self) -> Result<()> {
        let CopyStep { ref smsc, ref own, remote, offset, bytes, reads, .. } = *self;
        if reads {
            own.read_from(smsc, remote, offset, bytes)?;
            verbose_once!(smsc::FRAMEWORK, 20, "first single copy: {bytes} bytes read from a peer's memory");
        } else {
            own.write_to(smsc, remote, offset, bytes)?;
            verbose_once!(smsc::FRAMEWORK, 20, "first single copy: {bytes} bytes written to a peer's memory");
        }
        Ok(())
    }
}

/// How much more than half the receiver copies while its offer is on the way, if it does nothing else meanwhile: it begins
/// earlier and is then not waited for.
const HEAD_START: u64 = 2048;
/// Of several messages of this length each side copies halves. Measured with 2, 4 and 16 of 1 MiB under way: 32, 21 and 19
/// GB/s, against 15, 17 and 17 with whole ones; with 8 of 64 KiB 21 against 26.
const HALVED_BYTES: usize = 256 * 1024;

#[cfg(test)]
mod tests;
