//! A transport whose messages carry checksums: what the protocols see of each one.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use super::frame::BYTES;
use super::links::LINKS;
use super::outgoing::Content;
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::framework::bml::Path;
use opal_core::framework::btl::{AmId, Caps, Endpoint, Full, Module, Peer, RemoteCaps};
use opal_core::framework::timer::now_ns;
use opal_core::sparse::Table;
use opal_core::sync::ConditionalLock;
use opal_core::{Error, Result};

/// Over one that carries frames. Its endpoints are those of the other one.
pub struct Checked {
    inner: &'static dyn Module,
    caps: Caps,
    // By endpoint: process and channel.
    channels: ConditionalLock<Table<(u32, u8)>>,
}

static ALL: ConditionalLock<Vec<&'static Checked>> = ConditionalLock::new(Vec::new());

/// The paths to a process, with checksums: as many as there are channels.
pub fn over(process: u32, paths: &[Path]) -> Vec<Path> {
    let checked = |(channel, path): (u8, &Path)| {
        let module = of(path.module);
        *module.channels.lock().place(path.endpoint.0 as usize) = Some((process, channel));
        Path { module, endpoint: path.endpoint }
    };
    LINKS.lock().connect(process, &paths[..paths.len().min(usize::from(u8::MAX))]);
    (0..u8::MAX).zip(paths).map(checked).collect()
}

fn of(inner: &'static dyn Module) -> &'static Checked {
    let mut all = ALL.lock();
    if let Some(known) = all.iter().find(|known| core::ptr::addr_eq(known.inner, inner)) {
        return known;
    }
    let caps = *inner.caps();
    let send_bytes = caps.send_bytes.saturating_sub(BYTES);
    // No message is longer than a frame, and none needs a call of its own to be short.
    let caps = Caps {
        inline_bytes: 0,
        eager_bytes: caps.eager_bytes.min(send_bytes),
        send_bytes,
        remote: RemoteCaps::NONE,
        ..caps
    };
    let made: &'static Checked =
        Box::leak(Box::new(Checked { inner, caps, channels: ConditionalLock::new(Table::new()) }));
    all.push(made);
    made
}

/// The process was left; its endpoints may be another one's next.
pub fn forget(process: u32) {
    for module in ALL.lock().iter() {
        let mut channels = module.channels.lock();
        let these: Vec<usize> = channels.iter().filter(|(_, (of, _))| *of == process).map(|(place, _)| place).collect();
        these.into_iter().for_each(|place| _ = channels.take(place));
    }
}

impl Module for Checked {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn inner(&self) -> Option<&dyn Module> {
        Some(self.inner)
    }

    fn address(&self) -> Vec<u8> {
        self.inner.address()
    }

    /// Not called: the BML adds peers to the other one.
    fn add_peer(&self, _peer: Peer<'_>) -> Result<Option<Endpoint>> {
        Err(Error::Unsupported)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        self.inner.remove_peer(endpoint);
    }

    fn peer_ended(&self, endpoint: Endpoint) {
        self.inner.peer_ended(endpoint);
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let (process, channel) = self.channels.lock().get(to.0 as usize).copied().ok_or(Full)?;
        LINKS.lock().send(process, channel, Content { am, immediate, bytes, fill }, now_ns())
    }

    /// The other one is polled, and calls the handlers of [`super::handlers`].
    fn poll(&self) -> usize {
        0
    }
}
