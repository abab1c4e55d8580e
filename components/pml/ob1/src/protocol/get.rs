//! Long messages that their receiver reads from the sender's memory through a transport that does so by itself ([`RemoteCaps`]): a fabric. No
//! byte is copied by a processor of this library, and none waits in a fragment.
//!
//! The sender registers its buffer ([`rcache`]), and its RTS names the memory ([`wire::RemoteKey`]). The receiver reads all that it wants and
//! says FIN. A sender whose memory cannot be registered names none; a receiver whose buffer is not one run, or that does not reach the
//! transport, answers CTS as if nothing had been named. Where a read fails and the sender lives, the receiver issues for fragments by
//! CTS_RESEND.
//!
//! A peer names its own memory only: the transport reads there whatever the address is. Invariant: a receive does not end while the transport
//! may write to its buffer, also if the sender is lost meanwhile.
//!
//! [`RemoteCaps`]: opal_core::framework::btl::RemoteCaps
//! [`rcache`]: opal_core::framework::rcache

pub mod transfer;

use self::transfer::{Exposure, Getting, Stage};
use crate::params::GET_BYTES_MIN;
use crate::peers::endpoint::{self, Endpoint};
use crate::protocol::operation::OperationState;
use crate::raw::UserBuffer;
use crate::state::{STATE, State};
use crate::wire::{self, Control, Cts, RemoteKey};
use alloc::boxed::Box;
use ompi_core::framework::pml;
use ompi_core::request::Id;
use opal_core::framework::btl::{Begun, Completion, Full, Remote};
use opal_core::{Result, verbose_once};

/// Registers a buffer of a long send, if a transport to the process reads memory by itself.
pub fn expose(endpoint: &Endpoint, buffer: &UserBuffer) -> Option<(Exposure, Box<RemoteKey>)> {
    if buffer.bytes() < GET_BYTES_MIN.size() {
        return None;
    }
    let (_, getter) = endpoint.rails.getter(None)?;
    match Exposure::new(&buffer.contiguous()?, &getter) {
        Ok(exposed) => exposed,
        Err(error) => {
            let bytes = buffer.bytes();
            verbose_once!(
                pml::FRAMEWORK,
                1,
                "{bytes} bytes of memory cannot be registered ({error:?}), so such messages go in fragments; see `ulimit -l`"
            );
            None
        }
    }
}

/// A receive of a message whose memory its sender names; `None`: it cannot be read.
pub fn reachable(process: u32, buffer: &UserBuffer, key: &RemoteKey, wanted: usize, sender: u64) -> Option<Getting> {
    let (path, getter) = endpoint::existing(process)?.rails.getter(Some(key.wire_id))?;
    let target = buffer.contiguous().filter(|_| wanted > 0)?;
    let number = path.module.import_key(path.endpoint, key.key()).ok()?;
    let remote = Remote { address: key.address, key: number };
    Some(Getting::new(target, wanted, sender, (path, getter.bytes), remote))
}

impl State {
    /// Begins to read.
    pub fn start_get(&mut self, process: u32, getting: Getting, context: u32, request: Id) {
        let envelope = wire::context_bits(context, false);
        let handle = self.operations.begin(process, envelope, request, OperationState::Getting(getting));
        self.issue(handle);
    }

    /// Issues what transports had no room for; how many receives got on.
    pub fn begin_gets(&mut self) -> usize {
        let mut moved = 0;
        for _ in 0..self.gets.len() {
            let Some(handle) = self.gets.pop_front() else { break };
            moved += usize::from(self.issue(handle));
        }
        moved
    }

    /// Issues as much as the transport takes; whether it took something.
    fn issue(&mut self, handle: u64) -> bool {
        let mut moved = false;
        loop {
            let Some((number, operation)) = self.operations.find_own(handle) else { return moved };
            let process = operation.process;
            let OperationState::Getting(getting) = &mut operation.state else { return moved };
            if getting.stage() != Stage::Issues {
                self.settle(number, handle);
                return moved;
            }
            let (remote, part) = getting.next();
            let done = Completion { call: ended, token: handle };
            match getting.target.get_from(getting.path, remote, part.clone(), done) {
                Ok(begun) => getting.begun(part.end, begun == Begun::Later),
                Err(Full) if endpoint::existing(process).is_some_and(Endpoint::is_dead) => {
                    getting.lose();
                    self.settle(number, handle);
                    return moved;
                }
                Err(Full) => {
                    self.gets.push_back(handle);
                    self.count_pending();
                    return moved;
                }
            }
            moved = true;
        }
    }

    fn got(&mut self, handle: u64, is_read: bool) {
        let Some((number, operation)) = self.operations.find_own(handle) else { return };
        let OperationState::Getting(getting) = &mut operation.state else { return };
        getting.ended(is_read);
        self.settle(number, handle);
    }

    /// Ends it, if nothing is left to do or nothing more can be done.
    fn settle(&mut self, number: u32, handle: u64) {
        let operation = self.operations.get_mut(number);
        let process = operation.process;
        let OperationState::Getting(getting) = &mut operation.state else { return };
        let (stage, sender, status, wanted) = (getting.stage(), getting.sender, getting.status, getting.wanted);
        if matches!(stage, Stage::Issues | Stage::Waits) {
            return;
        }
        getting.path.module.drop_key(getting.path.endpoint, getting.key());
        if stage == Stage::Read {
            verbose_once!(pml::FRAMEWORK, 20, "first read through a network: {wanted} bytes of a peer's memory");
            self.control(process, sender, Control::Fin);
            return self.end_operation(number, status);
        }
        if stage == Stage::Lost || endpoint::existing(process).is_some_and(Endpoint::is_dead) {
            return self.fail_operation(number);
        }
        verbose_once!(pml::FRAMEWORK, 1, "a message of process {process} comes in fragments: its memory was not read");
        let buffer = core::mem::take(&mut getting.buffer);
        operation.state = OperationState::ReceivingFragments { buffer, status, wanted, received: 0, chosen: None };
        self.control(process, sender, Control::CtsResend(Cts { handle, wanted: wanted as u64 }));
    }
}

/// A transport has read, or not.
fn ended(handle: u64, ended: Result<u64>) {
    STATE.lock().got(handle, ended.is_ok());
}

#[cfg(test)]
mod tests;
