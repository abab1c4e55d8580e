//! The module: its capabilities and its peers. Each verb has a file of its own.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::params::{EAGER_LIMIT, WINDOW};
use crate::raw::{Fabric, Offer};
use crate::selection::ProviderKind;
use crate::state::State;
use crate::wire::{Address, FORMAT, HEADER_BYTES, LABEL, WINDOW_MAX, WINDOW_MIN, WIRE_ID};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{
    AmId, Atomic, Begun, Caps, Completion, Endpoint, Full, Job, Module, Peer, Registration, Remote, RemoteCaps, Width,
};
use opal_core::sync::{ConditionalLock, Once};
use opal_core::{Error, Result, message, sys, wait};
use opal_fabric::head;

/// The one module.
pub static OFI: Once<Ofi> = Once::new();

/// Messages by one endpoint.
pub struct Ofi {
    caps: Caps,
    /// Provider and interface, for people.
    path: String,
    /// What is published.
    address: Vec<u8>,
    pub state: ConditionalLock<State>,
}

impl Ofi {
    /// Over an endpoint whose buffers have so many bytes. `Err` with half a sentence.
    pub fn new(fabric: Fabric, offer: &Offer, job: &Job, buffer_bytes: usize) -> core::result::Result<Ofi, String> {
        let own = fabric.address()?;
        let window = WINDOW.size().clamp(usize::from(WINDOW_MIN), usize::from(WINDOW_MAX)) as u16;
        let address = Address {
            format: offer.format,
            protocol: offer.protocol().0,
            protocol_version: offer.protocol().1,
            receive_bytes: buffer_bytes as u32,
            window,
            provider: offer.provider.as_bytes(),
            address: &own,
        };
        let address = address.encode().ok_or("its address or its provider's name is too long")?;
        let payload = buffer_bytes - HEADER_BYTES;
        let reached = if fabric.reach().operations > 0 { offer.message_bytes() } else { 0 };
        let kind = ProviderKind::of(&offer.provider);
        let caps = Caps {
            immediate_bits: 64,
            inline_bytes: INLINE_BYTES.min(payload),
            eager_bytes: EAGER_LIMIT.size().clamp(INLINE_BYTES, payload),
            send_bytes: payload,
            latency_ns: kind.latency_ns(),
            bandwidth_mbps: kind.bandwidth_mbps(),
            exclusivity: EXCLUSIVITY,
            remote: RemoteCaps {
                put_bytes: reached,
                get_bytes: reached,
                atomics_of_4: fabric.atomics(Width::Four),
                atomics_of_8: fabric.atomics(Width::Eight),
                // A card's are not, whatever a provider over sockets does.
                atomic_with_processors: false,
                peer_may_compute: reached > 0 && offer.has_own_progress(),
            },
            wire_id: WIRE_ID,
        };
        let state = ConditionalLock::new(State::new(fabric, *job, window));
        Ok(Ofi { caps, path: offer.described(), address, state })
    }

    /// What is published.
    pub fn own_address(&self) -> &[u8] {
        &self.address
    }

    /// Has sleeps end when something completes. `false`: nobody tells a process that sleeps, since the provider has no descriptor.
    pub fn watch(&self) -> bool {
        let descriptor = self.state.lock().fabric.wait_descriptor();
        descriptor.is_some_and(|descriptor| wait::watch_queue(descriptor, is_quiet))
    }

    /// Checks a peer's address against this process's own. `Err` after a message.
    fn check<'a>(&self, rank: u32, bytes: &'a [u8]) -> Result<Address<'a>> {
        let parsed = (Address::parse(&self.address), Address::parse(bytes));
        let (own, theirs) = head::addresses(LABEL, rank, bytes, (WIRE_ID, FORMAT), parsed)?;
        let provider = |address: &Address<'_>| {
            let name = String::from_utf8_lossy(address.provider).into_owned();
            format!("{name} (protocol {} version {})", address.protocol, address.protocol_version)
        };
        let kind = |address: &Address<'_>| (address.format, address.address.len(), address.receive_bytes);
        let (mine, its) = (provider(&own), provider(&theirs));
        if mine != its {
            message!(
                "btl/ofi: no provider in common with rank {rank}: this process uses {mine}, rank {rank} {its}; name one that all \
                 hosts have, by --mca btl_ofi_provider_include, or the same libfabric"
            );
            return Err(Error::Mismatch);
        }
        if kind(&own) != kind(&theirs) {
            message!(
                "btl/ofi: rank {rank} and this process have addresses or buffers of different kinds ({:?}, {:?}): give both the same \
                 btl_ofi_fragment_size, and name interfaces of one network by --mca btl_ofi_interface",
                kind(&theirs),
                kind(&own)
            );
            return Err(Error::Mismatch);
        }
        Ok(theirs)
    }
}

impl Module for Ofi {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn address(&self) -> Vec<u8> {
        self.address.clone()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        let rank = peer.index;
        let mut state = self.state.lock();
        if !head::may_add(&peer, &state.job, &state.peers)? {
            return Ok(None);
        }
        let address = self.check(rank, peer.address)?;
        match state.fabric.insert(address.address) {
            Ok(number) => state.add(rank, peer.index, number, address.window),
            Err(error) => {
                let (why, place) = (state.fabric.words(error), state.fabric.address_text(address.address));
                message!("btl/ofi: the fabric does not take the address {place} of rank {rank}: {why}");
                return Err(Error::Unreachable);
            }
        }
        Ok(Some(Endpoint(rank)))
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        self.state.lock().close(endpoint.0);
    }

    fn peer_ended(&self, endpoint: Endpoint) {
        self.state.lock().ended.note(endpoint.0, sys::monotonic_ns());
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        self.send_filled(to, am, immediate, bytes, fill)
    }

    unsafe fn put(
        &self,
        to: Endpoint,
        from: *const u8,
        remote: Remote,
        bytes: usize,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        // SAFETY: the caller's promise.
        let post = |state: &State, slot, peer, place| unsafe { state.fabric.put(slot, peer, from, place, bytes) };
        self.state.lock().reach(to.0, remote, (done, false), post)
    }

    unsafe fn get(
        &self,
        from: Endpoint,
        to: *mut u8,
        remote: Remote,
        bytes: usize,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        // SAFETY: the caller's promise.
        let post = |state: &State, slot, peer, place| unsafe { state.fabric.get(slot, peer, to, place, bytes) };
        self.state.lock().reach(from.0, remote, (done, false), post)
    }

    unsafe fn atomic(
        &self,
        to: Endpoint,
        remote: Remote,
        atomic: Atomic,
        width: Width,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        assert!(self.caps.remote.atomics(width).has(atomic), "the provider has no {atomic:?}, as Caps::remote says");
        // SAFETY: the caller's promise.
        let post = |state: &State, slot, peer, place| unsafe { state.fabric.atomic(slot, peer, place, atomic, width) };
        self.state.lock().reach(to.0, remote, (done, true), post)
    }

    fn own_endpoint(&self) -> Result<Option<Endpoint>> {
        match self.caps.remote.put_bytes {
            0 => Ok(None),
            _ => self.reach_itself().map(|own| Some(Endpoint(own))),
        }
    }

    fn register_memory(&self, address: *mut u8, bytes: usize) -> Result<Registration> {
        self.expose(address, bytes)
    }

    fn unregister_memory(&self, registration: Registration) {
        self.hide(&registration);
    }

    fn import_key(&self, _of: Endpoint, key: &[u8]) -> Result<u64> {
        self.keep_key(key)
    }

    fn drop_key(&self, _of: Endpoint, key: u64) {
        self.forget_key(key);
    }

    fn path_detail(&self, _to: Endpoint) -> String {
        self.path.clone()
    }

    fn is_drained(&self) -> bool {
        self.state.lock().is_drained()
    }

    fn poll(&self) -> usize {
        self.poll_once()
    }
}

/// Whether a process may sleep, as libfabric wants it asked before each sleep.
fn is_quiet() -> bool {
    OFI.get().is_none_or(|ofi| ofi.state.lock().fabric.may_sleep())
}

/// What fits a send with its header where the provider takes small ones at once.
const INLINE_BYTES: usize = 1024;
/// Above btl/tcp: a fabric that was taken is used for what it reaches. Below btl/sm.
const EXCLUSIVITY: u32 = 150;
