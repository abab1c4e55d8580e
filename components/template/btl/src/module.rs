//! The module: its abilities and its peers. Each verb has a file of its own.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::wire::Address;
use alloc::vec::Vec;
use opal_core::framework::btl::{AmId, Caps, Endpoint, Full, Module, Peer, RemoteCaps};
use opal_core::{Error, Result};

/// The one module.
pub static MODULE: TemplateModule = TemplateModule;

/// 3. What it can do. pml/ob1 takes a transport only if it carries 54 bits of `immediate` and payloads of 48 bytes. Of those
/// that reach a peer, bml/r2 uses those with the highest `exclusivity`, the one with the lowest latency first: btl/self has
/// 65536, btl/sm 1024, btl/tcp 100.
pub const CAPS: Caps = Caps {
    immediate_bits: 64,
    inline_bytes: 64,
    eager_bytes: 4096,
    send_bytes: 4096,
    latency_ns: 100_000,
    bandwidth_mbps: 100,
    exclusivity: 0,
    remote: RemoteCaps::NONE,
    wire_id: 0,
};

/// A transport to the processes of the job.
pub struct TemplateModule;

impl Module for TemplateModule {
    fn caps(&self) -> &Caps {
        &CAPS
    }

    fn address(&self) -> Vec<u8> {
        Address { number: 0 }.encode()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        // What a peer says is hostile until it is checked.
        let Address { number: _ } = Address::decode(peer.address).ok_or(Error::Malformed)?;
        // 4. Connect, and return a number of your own for the peer. `None`: it is not reached by this transport.
        Ok(None)
    }

    fn remove_peer(&self, _endpoint: Endpoint) {}

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        self.push(to, am, immediate, bytes, fill)
    }

    fn poll(&self) -> usize {
        self.take_all()
    }
}
