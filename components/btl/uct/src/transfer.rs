//! Put and get, and this process's memory for those of peers.

use crate::module::Uct;
use crate::raw::{Ep, Posted, RemoteKey};
use crate::state::State;
use crate::wire;
use opal_core::framework::btl::{self, Begun, Completion, Full, Registration, Remote};
use opal_core::{Error, Result, verbose};

impl State {
    /// Begins an operation by `post`, which gets its number, the peer and its key.
    pub fn reach(
        &mut self,
        rank: u32,
        remote: Remote,
        done: Completion,
        post: impl FnOnce(&State, u32, Ep, RemoteKey) -> Posted,
    ) -> core::result::Result<Begun, Full> {
        let peer = self.peers.get(rank as usize).filter(|peer| !peer.closed).ok_or(Full)?;
        let key = self.memory.key(remote.key).ok_or(Full)?;
        let ep = peer.memory.ok_or(Full)?;
        let slot = self.memory.take_slot().ok_or(Full)?;
        match post(self, slot, ep, key) {
            Posted::Done => {
                self.memory.give_back(slot);
                Ok(Begun::Done(0))
            }
            Posted::Begun => {
                self.memory.goes_on(slot, done, ());
                Ok(Begun::Later)
            }
            Posted::Full => {
                self.memory.give_back(slot);
                Err(Full)
            }
            // The peer may live: the system forbids it, say. Whoever asked decides what that means.
            Posted::Refused(status) => {
                let why = self.interface.words(status);
                verbose!(btl::FRAMEWORK, 1, "uct: memory of rank {rank} cannot be reached: {why}");
                self.memory.goes_on(slot, done, ());
                self.memory.end(slot, Err(Error::Unreachable));
                Ok(Begun::Later)
            }
        }
    }
}

impl Uct {
    /// Lets peers reach memory.
    pub fn expose(&self, address: *mut u8, bytes: usize) -> Result<Registration> {
        let mut state = self.state.lock();
        if state.interface.operations() == 0 {
            return Err(Error::Unsupported);
        }
        let (region, packed) = state.interface.expose(address, bytes).map_err(|status| {
            let why = state.interface.words(status);
            // Whoever asked decides what that means: rcache makes room, pml/ob1 sends fragments.
            verbose!(btl::FRAMEWORK, 1, "uct: {bytes} bytes of memory cannot be registered: {why}");
            Error::OutOfResource
        })?;
        let Some(key) = wire::key(&packed) else {
            state.interface.hide(region);
            return Err(Error::Unsupported);
        };
        let handle = state.memory.keep_region(region);
        Ok(Registration { handle, key })
    }

    /// Takes it back.
    pub fn hide(&self, registration: &Registration) {
        let mut state = self.state.lock();
        if let Some(region) = state.memory.take_region(registration.handle) {
            state.interface.hide(region);
        }
    }

    /// Keeps what a peer said of its memory.
    pub fn keep_key(&self, key: &[u8]) -> Result<u64> {
        let mut state = self.state.lock();
        let packed = wire::packed_key(key, state.interface.key_bytes()).ok_or(Error::Malformed)?;
        let key = state.interface.import(packed).map_err(|_| Error::Malformed)?;
        Ok(state.memory.keep_key(key))
    }

    /// Forgets it.
    pub fn forget_key(&self, key: u64) {
        let mut state = self.state.lock();
        if let Some(key) = state.memory.take_key(key) {
            state.interface.forget(key);
        }
    }
}
