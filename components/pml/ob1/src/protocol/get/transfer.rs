//! How far a read through a transport is: on the receiver's side, and on the sender's, whose memory is registered meanwhile.

use crate::peers::rail::Getter;
use crate::raw::{Contiguous, UserBuffer};
use crate::wire::RemoteKey;
use alloc::boxed::Box;
use core::ops::Range;
use ompi_core::framework::bml::Path;
use ompi_core::status::Status;
use opal_core::Result;
use opal_core::framework::btl::Remote;
use opal_core::framework::rcache::{Lease, Registrations};

/// The sender's side: its memory can be read until this is dropped.
pub struct Exposure {
    with: &'static Registrations,
    // `None` only while it is dropped.
    lease: Option<Lease>,
}

impl Exposure {
    /// Registers a buffer; with what the receiver must know. `Ok(None)`: that is too long to be sent along.
    pub fn new(run: &Contiguous, getter: &Getter) -> Result<Option<(Exposure, Box<RemoteKey>)>> {
        let mut packed = None;
        let lease = run.acquire(getter.registrations, &mut |key| {
            packed = RemoteKey::new(run.address(), getter.wire_id, key);
        })?;
        let exposure = Exposure { with: getter.registrations, lease: Some(lease) };
        Ok(packed.map(|key| (exposure, Box::new(key))))
    }
}

impl Drop for Exposure {
    fn drop(&mut self) {
        self.lease.take().into_iter().for_each(|lease| self.with.release(lease));
    }
}

/// The receiver's side.
pub struct Getting {
    /// The user's buffer.
    pub buffer: UserBuffer,
    /// The same as one run.
    pub target: Contiguous,
    /// The receive's status at the end.
    pub status: Status,
    /// The sender's handle.
    pub sender: u64,
    /// Bytes wanted.
    pub wanted: usize,
    /// The transport.
    pub path: Path,
    remote: Remote,
    // Most bytes of a read.
    most: usize,
    issued: usize,
    in_flight: u32,
    has_failed: bool,
    is_lost: bool,
}

/// How it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// More can be issued.
    Issues,
    /// The transport reads.
    Waits,
    /// All has been read.
    Read,
    /// Nothing is under way any more, and something was not read.
    Failed,
    /// Nothing is under way any more, and the sender is lost.
    Lost,
}

impl Getting {
    /// Of `wanted` bytes at `remote`, which the sender's operation `sender` announced, into one run.
    pub fn new(target: Contiguous, wanted: usize, sender: u64, (path, most): (Path, usize), remote: Remote) -> Getting {
        let (buffer, status) = (UserBuffer::default(), Status::EMPTY);
        let (issued, in_flight, has_failed, is_lost) = (0, 0, false, false);
        Getting { buffer, target, status, sender, wanted, path, remote, most, issued, in_flight, has_failed, is_lost }
    }

    /// What to read next: from where, and to which bytes of the message.
    pub fn next(&self) -> (Remote, Range<usize>) {
        let end = self.wanted.min(self.issued + self.most);
        let remote = Remote { address: self.remote.address.wrapping_add(self.issued as u64), ..self.remote };
        (remote, self.issued..end)
    }

    /// A read up to there was begun; `later`: it is not complete yet.
    pub fn begun(&mut self, end: usize, later: bool) {
        self.issued = end;
        self.in_flight += u32::from(later);
    }

    /// A read is over.
    pub fn ended(&mut self, is_read: bool) {
        self.in_flight -= 1;
        self.has_failed |= !is_read;
    }

    /// The sender is lost: nothing more is asked for.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Whether the transport still writes to the buffer.
    pub fn is_in_flight(&self) -> bool {
        self.in_flight > 0
    }

    /// How it goes on.
    pub fn stage(&self) -> Stage {
        let issues = self.issued < self.wanted && !self.has_failed && !self.is_lost;
        match self.is_in_flight() {
            _ if issues => Stage::Issues,
            true => Stage::Waits,
            false if self.is_lost => Stage::Lost,
            false if self.has_failed => Stage::Failed,
            false => Stage::Read,
        }
    }

    /// The transport's number for the sender's key.
    pub fn key(&self) -> u64 {
        self.remote.key
    }
}
