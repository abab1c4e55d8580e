//! Put, get and atomic operations, and this process's memory for those of peers. Keys that this process chooses are made with the job's secret, so that
//! others cannot guess them.

use crate::module::Ofi;
use crate::raw::{Place, Posted};
use crate::state::{Noted, State};
use crate::wire::{self, KEY_BYTES};
use opal_core::framework::btl::{self, Begun, Completion, Full, Registration, Remote};
use opal_core::{Error, Result, verbose};

impl State {
    /// Begins an operation by `post`, which gets its context, the peer's place in the fabric, and the bytes' place there; whether it finds
    /// something.
    pub fn reach(
        &mut self,
        rank: u32,
        remote: Remote,
        (done, finds): (Completion, bool),
        post: impl FnOnce(&State, u32, u64, Place) -> Posted,
    ) -> core::result::Result<Begun, Full> {
        let address = self.peers.get(rank as usize).filter(|peer| !peer.closed).ok_or(Full)?.address;
        let key = self.memory.key(remote.key).ok_or(Full)?;
        let slot = self.memory.take_slot().ok_or(Full)?;
        let place = Place { at: remote.address.wrapping_sub(key.origin), key: key.key };
        match post(self, slot, address, place) {
            Posted::Begun => {
                self.memory.goes_on(slot, done, Noted { rank, finds });
                Ok(Begun::Later)
            }
            Posted::Full => {
                self.memory.give_back(slot);
                Err(Full)
            }
            Posted::Refused(error) => {
                self.memory.give_back(slot);
                let why = self.fabric.words(error);
                self.lose(rank, "has memory that cannot be reached", &why);
                Err(Full)
            }
        }
    }
}

impl Ofi {
    /// Lets peers reach memory.
    pub fn expose(&self, address: *mut u8, bytes: usize) -> Result<Registration> {
        let mut state = self.state.lock();
        let reach = state.fabric.reach();
        if reach.operations == 0 {
            return Err(Error::Unsupported);
        }
        let mut tries = 0;
        let (region, key, origin) = loop {
            state.keys_made += 1;
            let wanted = reach.key_mask.map_or(0, |mask| wire::secret_key(&state.job, state.keys_made) & mask);
            match state.fabric.expose(address, bytes, wanted) {
                Ok(exposed) => break exposed,
                Err(crate::abi::ENOKEY) if tries < KEY_TRIES => tries += 1,
                Err(error) => {
                    let why = state.fabric.words(error);
                    // Whoever asked decides what that means: rcache makes room, pml/ob1 sends fragments.
                    verbose!(
                        btl::FRAMEWORK,
                        1,
                        "ofi: {bytes} bytes of memory cannot be registered with the fabric: {why}"
                    );
                    return Err(Error::OutOfResource);
                }
            }
        };
        let handle = state.memory.keep_region(region);
        Ok(Registration { handle, key: wire::Key { key, origin }.encode().to_vec() })
    }

    /// Takes it back.
    pub fn hide(&self, registration: &Registration) {
        let mut state = self.state.lock();
        if let Some(region) = state.memory.take_region(registration.handle) {
            state.fabric.hide(region);
        }
    }

    /// Makes this process a peer of itself, of which only memory is reached.
    pub fn reach_itself(&self) -> Result<u32> {
        let mut state = self.state.lock();
        let own = state.job.index;
        if state.fabric.reach().operations == 0 {
            return Err(Error::Unsupported);
        }
        if state.peers.get(own as usize).is_none() {
            let address = wire::Address::parse(self.own_address()).ok_or(Error::Malformed)?;
            let number = state.fabric.insert(address.address).map_err(|error| {
                let why = state.fabric.words(error);
                verbose!(btl::FRAMEWORK, 1, "ofi: the fabric does not take this process's own address: {why}");
                Error::Unreachable
            })?;
            state.add(own, own, number, address.window);
        }
        Ok(own)
    }

    /// Keeps what a peer said of its memory.
    pub fn keep_key(&self, key: &[u8]) -> Result<u64> {
        let key: &[u8; KEY_BYTES] = key.try_into().map_err(|_| Error::Malformed)?;
        Ok(self.state.lock().memory.keep_key(wire::Key::parse(key)))
    }

    /// Forgets it.
    pub fn forget_key(&self, key: u64) {
        self.state.lock().memory.take_key(key);
    }
}

/// How often another key is tried where one is taken.
const KEY_TRIES: u32 = 8;
