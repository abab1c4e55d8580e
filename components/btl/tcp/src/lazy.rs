//! The one module of a process whose job needs no sockets: it listens from when the process shows itself to other jobs on.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::module::{Module, caps};
use crate::params::Limits;
use crate::poll::Tcp;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, AmId, Caps, Endpoint, Full, Peer, ProcessName, RxMessage};
use opal_core::sync::Once;
use opal_core::{Result, message};

/// Makes a transport for processes of other jobs, as this process; `None` on a machine without a network. `Err` with a sentence.
pub type Listen = fn(ProcessName) -> core::result::Result<Option<&'static Tcp>, String>;

/// See above.
pub struct Lazy {
    caps: Caps,
    listen: Listen,
    /// None inside: it cannot listen, as was said.
    module: Once<Option<Module>>,
}

impl Lazy {
    /// Not listening; `listen` begins to.
    pub fn new(listen: Listen) -> Lazy {
        Lazy { caps: caps(&Limits::new(), MBPS), listen, module: Once::new() }
    }

    fn listening(&self, name: ProcessName) -> Option<&Module> {
        let module = self.module.call_once(|| match (self.listen)(name) {
            Ok(tcp) => tcp.map(Module::of_any_interface),
            Err(sentence) => {
                message!("btl/tcp: {sentence}; processes of other hosts cannot be reached");
                None
            }
        });
        module.as_ref()
    }

    fn running(&self) -> Option<&Module> {
        self.module.get()?.as_ref()
    }
}

impl btl::Module for Lazy {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn inner(&self) -> Option<&dyn btl::Module> {
        Some(self.running()?)
    }

    fn address(&self) -> Vec<u8> {
        Vec::new()
    }

    fn address_beyond_job(&self, name: ProcessName) -> Vec<u8> {
        self.listening(name).map_or_else(Vec::new, |module| module.address_beyond_job(name))
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.running().map_or(Ok(None), |module| module.add_peer(peer))
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        self.running().into_iter().for_each(|module| module.remove_peer(endpoint));
    }

    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let module = self.running().ok_or(Full)?;
        // SAFETY: the caller's promise is the same.
        unsafe { module.send_inline(to, am, immediate, payload, bytes) }
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        self.running().ok_or(Full)?.send(to, am, immediate, bytes, fill)
    }

    unsafe fn send_run(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        run: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let module = self.running().ok_or(Full)?;
        // SAFETY: the caller's promise is the same.
        unsafe { module.send_run(to, am, immediate, prefix, run, bytes) }
    }

    /// Nothing can come before a process of another job was met.
    fn is_polled_without_peers(&self) -> bool {
        false
    }

    fn poll(&self) -> usize {
        self.running().map_or(0, btl::Module::poll)
    }

    fn poll_peer(&self, from: Endpoint, polls: u32) -> Option<RxMessage<'_>> {
        self.running()?.poll_peer(from, polls)
    }

    fn consume(&self, from: Endpoint) {
        self.running().into_iter().for_each(|module| module.consume(from));
    }
}

/// Nobody knows the interfaces yet. One path leads to a process, so that the number decides nothing.
const MBPS: u32 = 1000;
