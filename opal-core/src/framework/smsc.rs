//! Single copy: moves bytes straight between this process's memory and that of a peer on the same node.
//!
//! Where the system allows it a long message is copied once instead of into shared memory and out again, and both ends
//! can copy at the same time. No check can tell beforehand whether it is allowed: seccomp, Yama, other user ids and pid
//! namespaces all forbid it in their own ways. So [`Module::connect`] tries it on the very peer. Without that permission
//! messages go another way.
//!
//! Whatever address a peer names, only that peer's own memory is read or written. This process's memory is touched only
//! where the caller of a copy says.
#![allow(unsafe_code)] // linkme's expansion

use crate::mca;
use crate::sync::Once;
use crate::{Error, Result, verbose_once};
use alloc::vec::Vec;

/// A module's own number for a peer that can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerId(pub u64);

/// Bytes of a peer's memory that lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Their address there.
    pub at: u64,
    /// How many.
    pub bytes: usize,
}

/// What a module can do, as data.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    /// Smaller messages go faster through shared memory.
    pub min_bytes: usize,
    /// Longest copy that suits being made in one call: others wait meanwhile.
    pub max_bytes: usize,
}

/// A running way to copy.
pub trait Module: Sync {
    /// Its abilities; the same for its whole life.
    fn caps(&self) -> &Caps;

    /// What a peer passes to [`Module::connect`]. What it points to stays as it is for the life of the process.
    fn address(&self) -> Vec<u8>;

    /// Reaches a peer of this node, and proves it: what the address promises is read from the peer's memory and written
    /// back to it.
    ///
    /// `Err(Permission)` if the system refuses, `Err(Mismatch)` if something else lies there (another process has the
    /// peer's number here), `Err(Unreachable)` if there is no such process, `Err(Malformed)` for no address of this module.
    fn connect(&self, address: &[u8]) -> Result<PeerId>;

    /// Reads `bytes` bytes at `remote` in the peer. `Ok`: all of it is here. `Err(Unreachable)`: the peer is gone.
    /// `Err(Invalid)`: the peer has no such memory. After an error any part may have been written.
    ///
    /// # Safety
    /// `local` is writable for `bytes`.
    unsafe fn copy_from(&self, peer: PeerId, remote: u64, local: *mut u8, bytes: usize) -> Result<()>;

    /// Writes `bytes` bytes to `remote` in the peer, which asked for it. `Ok`: all of it is there. Errors as above.
    ///
    /// # Safety
    /// `local` is readable for `bytes`.
    unsafe fn copy_to(&self, peer: PeerId, remote: u64, local: *const u8, bytes: usize) -> Result<()>;

    /// As [`Module::copy_from`], of pieces of the peer's memory in their order, which lie one behind the other here.
    ///
    /// # Safety
    /// `local` is writable for the bytes of all pieces.
    unsafe fn gather_from(&self, peer: PeerId, pieces: &[Piece], local: *mut u8) -> Result<()> {
        let mut done = 0;
        for Piece { at, bytes } in pieces {
            // SAFETY: the caller's promise.
            unsafe { self.copy_from(peer, *at, local.wrapping_add(done), *bytes)? };
            done += bytes;
        }
        Ok(())
    }

    /// As [`Module::copy_to`], to pieces of the peer's memory in their order, whose bytes lie one behind the other here.
    ///
    /// # Safety
    /// `local` is readable for the bytes of all pieces.
    unsafe fn scatter_to(&self, peer: PeerId, pieces: &[Piece], local: *const u8) -> Result<()> {
        let mut done = 0;
        for Piece { at, bytes } in pieces {
            // SAFETY: the caller's promise.
            unsafe { self.copy_to(peer, *at, local.wrapping_add(done), *bytes)? };
            done += bytes;
        }
        Ok(())
    }
}

/// A way to copy that may run.
pub trait Component: mca::Component {
    /// Priority and module, after `open`; `launcher` is the process that all processes of the job descend from, if known,
    /// for systems where a process must name the one that may reach into it.
    fn query(&self, launcher: Option<u32>) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

crate::framework! {
    /// Single copy between processes of a node.
    "smsc", Opal, version 1, OneOfMany, OMPI_SMSCS: dyn Component
}

/// The running module and its component's name: peers must use the same.
#[derive(Clone, Copy)]
pub struct Selected {
    /// The component.
    pub name: &'static str,
    /// The module.
    pub module: &'static dyn Module,
}

static SELECTED: Once<Option<Selected>> = Once::new();

/// Chooses the component, once, before addresses are published. That there is none is no error: messages then go
/// through shared memory.
pub fn select(launcher: Option<u32>) -> Result<()> {
    let best = mca::select_best(&FRAMEWORK, &OMPI_SMSCS, |component| component.query(launcher))?;
    SELECTED.call_once(|| best.map(|(component, module)| Selected { name: component.info().name, module }));
    Ok(())
}

/// The running module, if there is one.
pub fn selected() -> Option<Selected> {
    SELECTED.get().copied().flatten()
}

/// A peer that can be reached.
#[derive(Clone, Copy)]
pub struct Endpoint {
    /// The module that copies.
    pub module: &'static dyn Module,
    /// Its number for the peer.
    pub peer: PeerId,
}

/// The endpoint of a process of this node, from the address that the same component there published. `None` if it cannot be
/// reached; verbosity 10 says once why.
pub fn reach(process: u32, address: Option<&[u8]>) -> Option<Endpoint> {
    let Selected { name, module } = selected()?;
    let why = match address.map(|address| module.connect(address)) {
        Some(Ok(peer)) => return Some(Endpoint { module, peer }),
        Some(Err(Error::Permission)) => "the system forbids it (seccomp, Yama, or another user)",
        Some(Err(Error::Mismatch | Error::Unreachable)) => "its process number means something else here",
        Some(Err(_)) => "its address is malformed",
        None => "it does not run this component",
    };
    verbose_once!(
        FRAMEWORK,
        10,
        "{name} cannot reach process {process}: {why}; long messages go through shared memory instead"
    );
    None
}
