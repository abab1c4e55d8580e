//! Long messages between processes of a node, copied once: the receiver reads one half of the sender's data while the
//! sender writes the other half.
//!
//! The ask names the address of the data. The receiver takes one of its words that it shares with the sender, stores
//! *open* in it, asks the sender to *share* (address of the place, where the second half begins, which word), and reads
//! the first half. The second half belongs to whoever changes the word first: the sender when it gets to the share, or the
//! receiver when it is done with its own. So a side that is busy outside of MPI costs nothing. The sender says when
//! what it claimed is *shared*; the receiver acknowledges when everything is there.
//!
//! With several messages under way each side copies its halves of all of them first, in order, and only then what the other
//! did not get to: neither waits for the other, and the same core writes the same part of a buffer each time, whose lines
//! then stay in its cache. Messages below [`HALVED_BYTES`] are not halved then: each belongs as a whole to who changes its
//! word first, because a call of the system costs as much as copying a dozen KiB.
//!
//! The word holds the receiver's cookie beside its state, so that a share that is looked at late, when the word already
//! serves another message, claims nothing. Without a word (all are in use, no memory is shared) the receiver reads all.
//! Where a copy fails (memory that the kernel does not let others see) the receiver has the message sent in fragments.
//!
//! What a peer names are places in its own memory; this process's is read and written only in the range of the request.
//! Copies are made by progress, one at a time and without the state's lock. Invariant: an operation with a copy under way
//! does not end, because arrivals and failures that could end it are handed out by progress, too.

use crate::peers::backlog::Control;
use crate::peers::endpoint::{self as link, Link};
use crate::protocol::rendezvous::Work;
use crate::protocol::selection as ways;
use crate::raw::{Place, Run};
use crate::state::{STATE, State, aborted};
use crate::wire;
use ompi_core::request::{self, Id};
use ompi_core::status::Status;
use opal_core::framework::smsc::{self, Endpoint};
use opal_core::sync::{AtomicBool, Ordering};
use opal_core::{Error, Result, verbose};

/// The receiver's side of a message.
pub struct Pull {
    place: Place,
    run: Run,
    // What the receive's status will be.
    status: Status,
    // The sender's cookie, and where its data lies.
    theirs: u64,
    remote: u64,
    wanted: usize,
    // How much was read, and the end of what this side reads.
    got: usize,
    end: usize,
    // Decides who copies from `end` on.
    word: Option<u32>,
    // What the sender said of its part.
    written: Option<bool>,
    failed: bool,
}

/// The sender's side of a message.
#[derive(Clone, Copy)]
pub enum Push {
    /// The data cannot be copied once.
    No,
    /// The ask named the address of the data.
    Offered,
    /// The receiver asked to share the work.
    Asked(Part),
    /// The sender did what it could.
    Done,
}

/// What the sender is to copy, or already does.
#[derive(Clone, Copy)]
pub struct Part {
    // The receiver's cookie, and where its place lies.
    to: u64,
    remote: u64,
    at: usize,
    end: usize,
    word: u32,
    claimed: bool,
}

/// A share as it came: anything.
pub struct Share {
    /// The receiver's cookie.
    pub cookie: u64,
    /// How much it wants in all.
    pub wanted: u64,
    /// Where its place lies.
    pub address: u64,
    /// Where the sender's part begins.
    pub begin: u64,
    /// Index of the receiver's word.
    pub word: u64,
}

/// One copy.
struct Step {
    cookie: u64,
    way: Endpoint,
    run: Run,
    remote: u64,
    offset: usize,
    bytes: usize,
    pulls: bool,
}

/// Makes the next copy that is due, for progress; returns how many.
pub fn copy_next() -> usize {
    let Some(step) = STATE.lock().next_step() else { return 0 };
    let result = step.copy();
    STATE.lock().stepped(&step, result);
    1
}

/// Whether a receive of `wanted` bytes can be made in a single copy: by which link, and to where.
pub fn reachable(process: u32, place: &Place, wanted: usize) -> Option<(&'static Link, Run)> {
    let link = link::existing(process)?;
    link.copier.filter(|way| wanted >= way.module.caps().min_bytes)?;
    Some((link, place.run()?))
}

impl Pull {
    /// Of `wanted` bytes at `remote`, announced by the operation `theirs`.
    pub fn new(place: Place, run: Run, status: Status, wanted: usize, (theirs, remote): (u64, u64)) -> Pull {
        let (written, failed) = (None, false);
        Pull { place, run, status, theirs, remote, wanted, got: 0, end: wanted, word: None, written, failed }
    }
}

impl State {
    /// Begins to receive in a single copy.
    pub fn pull(&mut self, link: &Link, mut pull: Pull, request: Id) {
        let begin = match self.copies.is_empty() {
            true => middle(&pull, HEAD_START),
            false if pull.wanted >= HALVED_BYTES => middle(&pull, 0),
            false => 0,
        };
        let word = if begin < pull.wanted { link.take_word() } else { None };
        if word.is_some() {
            pull.end = begin;
        }
        pull.word = word;
        let (theirs, wanted, address) = (pull.theirs, pull.wanted, pull.run.address());
        let (_, ours) = self.begin(link.process, request, Work::Pulling(pull));
        if let Some(index) = word {
            if let Some(word) = link.shared_word(true, index) {
                // Release pairs with the Acquire of who claims it.
                word.store(ours << STATE_BITS | OPEN, Ordering::Release);
            }
            let share = [ours, wanted as u64, address, begin as u64, u64::from(index)];
            self.control(link.process, Control::new(wire::CLEAR, theirs, &share));
        }
        self.copy_later(ours);
    }

    /// The receiver asks this side to share the work. `false` if it fits nothing.
    pub fn asked_to_share(&mut self, process: u32, cookie: u64, share: Share) -> bool {
        let Some((_, operation)) = self.find(process, cookie) else { return false };
        let Work::Announced { place, push, .. } = &mut operation.work else { return false };
        let range = (usize::try_from(share.begin), usize::try_from(share.wanted), u32::try_from(share.word));
        let (Push::Offered, (Ok(at), Ok(end), Ok(word))) = (*push, range) else { return false };
        if at >= end || end > place.bytes() || share.address.checked_add(share.wanted).is_none() {
            return false;
        }
        *push = Push::Asked(Part { to: share.cookie, remote: share.address, at, end, word, claimed: false });
        let bytes = place.bytes();
        if let Some(link) = link::existing(process) {
            link.habit.note(bytes, ways::Way::Single);
        }
        self.copy_later(cookie);
        true
    }

    /// The sender has written its part, or could not. `false` if it fits nothing.
    pub fn shared(&mut self, process: u32, cookie: u64, written: bool) -> bool {
        let Some((_, operation)) = self.find(process, cookie) else { return false };
        let Work::Pulling(pull) = &mut operation.work else { return false };
        if pull.end == pull.wanted || pull.written.is_some() {
            return false;
        }
        pull.written = Some(written);
        if pull.got == pull.end || pull.failed {
            self.settle(cookie);
        }
        true
    }

    fn copy_later(&mut self, cookie: u64) {
        self.copies.push_back(cookie);
        self.count_busy();
    }

    fn next_step(&mut self) -> Option<Step> {
        loop {
            while let Some(cookie) = self.copies.front().copied() {
                if let Some(step) = self.step(cookie) {
                    return Some(step);
                }
                self.copies.pop_front();
            }
            let Some(cookie) = self.second_halves.pop_front() else { break };
            self.settle(cookie);
        }
        self.count_busy();
        None
    }

    // `None`: there is nothing to copy for it now.
    fn step(&mut self, cookie: u64) -> Option<Step> {
        let (_, operation) = self.find_own(cookie)?;
        let link = link::existing(operation.process)?;
        let way = link.copier?;
        let most = way.module.caps().max_bytes;
        match &mut operation.work {
            Work::Pulling(pull) if !pull.failed => {
                if pull.end == 0 && pull.written.is_none() && claim(link, true, pull.word?, cookie, RECEIVERS) {
                    pull.end = pull.wanted;
                }
                if pull.got == pull.end {
                    return None;
                }
                let (run, offset, bytes) = (pull.run, pull.got, most.min(pull.end - pull.got));
                let remote = pull.remote.saturating_add(offset as u64);
                Some(Step { cookie, way, run, remote, offset, bytes, pulls: true })
            }
            Work::Announced { place, push, .. } => {
                let Push::Asked(part) = push else { return None };
                if !part.claimed && !claim(link, false, part.word, part.to, SENDERS) {
                    *push = Push::Done;
                    return None;
                }
                part.claimed = true;
                let (offset, bytes) = (part.at, most.min(part.end - part.at));
                let remote = part.remote + offset as u64;
                Some(Step { cookie, way, run: place.run()?, remote, offset, bytes, pulls: false })
            }
            _ => None,
        }
    }

    fn stepped(&mut self, step: &Step, result: Result<()>) {
        let Some((number, operation)) = self.find_own(step.cookie) else { return };
        let process = operation.process;
        match &mut operation.work {
            Work::Pulling(_) if result == Err(Error::Unreachable) => {
                request::complete(self.operations.remove(number).request, aborted(0));
            }
            Work::Pulling(pull) => {
                pull.got += step.bytes;
                pull.failed = result.is_err();
                if pull.got == pull.end || pull.failed {
                    self.copies.pop_front();
                    self.settle(step.cookie);
                }
            }
            Work::Announced { push, .. } => {
                let Push::Asked(part) = push else { return };
                part.at += step.bytes;
                if part.at == part.end || result.is_err() {
                    let to = part.to;
                    *push = Push::Done;
                    self.control(process, Control::new(wire::SHARED, to, &[u64::from(result.is_ok())]));
                }
            }
            _ => {}
        }
    }

    // This side's part is done or failed, or the sender told of its own: what now?
    fn settle(&mut self, cookie: u64) {
        let others = !self.copies.is_empty();
        let Some((number, operation)) = self.find_own(cookie) else { return };
        let (process, Work::Pulling(pull)) = (operation.process, &mut operation.work) else { return };
        if others && pull.end < pull.wanted && pull.written.is_none() && !pull.failed {
            self.second_halves.push_back(cookie);
            return self.count_busy();
        }
        let Some(link) = link::existing(process) else { return };
        if pull.end < pull.wanted {
            let word = pull.word.unwrap_or(u32::MAX);
            match pull.written {
                Some(true) if !pull.failed => return self.pulled(number, link, cookie),
                None if !claim(link, true, word, cookie, RECEIVERS) => return,
                _ => pull.end = pull.wanted,
            }
            if !pull.failed {
                // Before all others: its buffers are warm.
                self.copies.push_front(cookie);
                return self.count_busy();
            }
        }
        self.pulled(number, link, cookie);
    }

    // Nobody copies any more.
    fn pulled(&mut self, number: u32, link: &Link, cookie: u64) {
        let operation = self.operations.get_mut(number);
        let Work::Pulling(pull) = &mut operation.work else { return };
        pull.word.take().into_iter().for_each(|word| link.give_word(word));
        let (theirs, status, wanted) = (pull.theirs, pull.status, pull.wanted);
        if pull.failed {
            if !SAID_FRAGMENTS.swap(true, Ordering::Relaxed) {
                let process = link.process;
                verbose!(smsc::FRAMEWORK, 10, "a message of process {process} comes in fragments: it cannot be read");
            }
            let place = core::mem::take(&mut pull.place);
            operation.work = Work::Receiving { place, status, wanted, got: 0, chosen: Some(ways::Way::Single) };
            return self.control(link.process, Control::new(wire::CLEAR, theirs, &[cookie, wanted as u64, 0]));
        }
        let request = self.operations.remove(number).request;
        self.control(link.process, Control::new(wire::ACKNOWLEDGE, theirs, &[]));
        self.ways_of(link.process).end(wanted);
        request::complete(request, status);
    }
}

impl Step {
    fn copy(&self) -> Result<()> {
        let Step { ref way, ref run, remote, offset, bytes, pulls, .. } = *self;
        let (result, said, what) = match pulls {
            true => (run.pull(way, remote, offset, bytes), &SAID_PULL, "read from"),
            false => (run.push(way, remote, offset, bytes), &SAID_PUSH, "written to"),
        };
        if result.is_ok() && !said.swap(true, Ordering::Relaxed) {
            verbose!(smsc::FRAMEWORK, 20, "first single copy: {bytes} bytes {what} a peer's memory");
        }
        result
    }
}

// No page of the receiver's place is written by both.
fn middle(pull: &Pull, head_start: u64) -> usize {
    let begins = pull.run.address();
    let middle = begins.saturating_add(pull.wanted as u64 / 2 + head_start).next_multiple_of(PAGE);
    (middle.saturating_sub(begins) as usize).min(pull.wanted)
}

// Makes an open word ours. It may hold anything: the other side writes it, too.
fn claim(link: &Link, own: bool, index: u32, cookie: u64, side: u64) -> bool {
    let Some(word) = link.shared_word(own, index) else { return false };
    let (open, ours) = (cookie << STATE_BITS | OPEN, cookie << STATE_BITS | side);
    // One of both succeeds. Acquire pairs with the Release of who opened it.
    word.compare_exchange(open, ours, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

static SAID_PULL: AtomicBool = AtomicBool::new(false);
static SAID_PUSH: AtomicBool = AtomicBool::new(false);
static SAID_FRAGMENTS: AtomicBool = AtomicBool::new(false);

const STATE_BITS: u32 = 2;
const OPEN: u64 = 1;
const RECEIVERS: u64 = 2;
const SENDERS: u64 = 3;
/// What the receiver copies while its share is on the way, if it does nothing else meanwhile: it begins earlier and is then
/// not waited for.
const HEAD_START: u64 = 2048;
/// Of several messages of this length each side copies halves. Measured with 2, 4 and 16 of 1 MiB under way: 32, 21 and 19
/// GB/s, against 15, 17 and 17 with whole ones; with 8 of 64 KiB 21 against 26.
const HALVED_BYTES: usize = 256 * 1024;
const PAGE: u64 = 4096;

#[cfg(test)]
mod tests;
