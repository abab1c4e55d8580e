//! Single copy: moves bytes straight between this process's memory and that of a peer on the same node.
//!
//! Where the system allows it a long message is copied once instead of into shared memory and out again, and both ends
//! can copy at the same time. No check can tell beforehand whether it is allowed: seccomp, Yama, other user ids and pid
//! namespaces all forbid it in their own ways. So [`Module::connect`] tries it on the very peer. Without that permission
//! messages go another way.
//!
//! There may be several ways to a peer, and not each leads to all of its memory: smsc/map reaches what the peer has in
//! [`crate::shareable`] memory, smsc/cma everything. All that run here are tried on the peer, and each copy takes the best one that reaches
//! the bytes ([`Endpoint::mechanism`]).
//!
//! Whatever address a peer names, only that peer's own memory is read or written. This process's memory is touched only
//! where the caller of a copy says.
#![allow(unsafe_code)] // linkme's expansion

use crate::mca::select::record;
use crate::mca::{self, select::Verdict};
use crate::sync::{AtomicBool, Once, Ordering};
use crate::{Error, Result, sort, verbose};
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

/// Bytes of this process's memory that lie together.
#[derive(Clone, Copy, Debug)]
pub struct LocalRun {
    /// Where.
    pub at: *mut u8,
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
    /// From here on it is faster if both sides copy a half each; below, the receiver copies all.
    pub halved_bytes: usize,
    /// It reaches all memory of a peer; otherwise [`Module::reaches`] says which.
    pub any_memory: bool,
}

/// A running way to copy.
pub trait Module: Sync {
    /// Its abilities; the same for its whole life.
    fn caps(&self) -> &Caps;

    /// What a peer passes to [`Module::connect`]. What it points to stays as it is for the life of the process.
    fn address(&self) -> Vec<u8>;

    /// Reaches a peer of this node, and proves it: that it is the process of the address, and that this one may read and write what it
    /// is to reach there.
    ///
    /// `Err(Permission)` if the system refuses, `Err(Mismatch)` if something else lies there (another process has the
    /// peer's number here), `Err(Unreachable)` if there is no such process, `Err(Malformed)` for no address of this module.
    fn connect(&self, address: &[u8]) -> Result<PeerId>;

    /// Whether it can copy to and from these bytes of the peer, as far as their address says.
    fn reaches(&self, _peer: PeerId, _remote: u64, _bytes: usize) -> bool {
        true
    }

    /// Whether a peer can copy to and from these bytes of this process, as far as their address says.
    fn is_reached(&self, _at: *const u8, _bytes: usize) -> bool {
        true
    }

    /// Lets go of all that peers lent. Once, when nothing is copied any more.
    fn close(&self) {}

    /// Reads `bytes` bytes at `remote` in the peer. `Ok`: all of it is here. `Err(Unreachable)`: the peer is gone; what is
    /// still mapped of it can be read all the same. `Err(Invalid)`: the peer has no such memory, or this way does not lead there. After an
    /// error any part may have been written.
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

    /// As [`Module::copy_from`], of bytes that lie one behind the other in the peer, to runs of memory here in their order.
    ///
    /// # Safety
    /// Each run is writable.
    unsafe fn scatter_from(&self, peer: PeerId, remote: u64, runs: &[LocalRun]) -> Result<()> {
        let mut done = 0;
        for run in runs {
            // SAFETY: the caller's promise.
            unsafe { self.copy_from(peer, remote.wrapping_add(done), run.at, run.bytes)? };
            done += run.bytes as u64;
        }
        Ok(())
    }

    /// As [`Module::copy_to`], of runs of memory here in their order, to bytes that lie one behind the other in the peer.
    ///
    /// # Safety
    /// Each run is readable.
    unsafe fn gather_to(&self, peer: PeerId, remote: u64, runs: &[LocalRun]) -> Result<()> {
        let mut done = 0;
        for run in runs {
            // SAFETY: the caller's promise.
            unsafe { self.copy_to(peer, remote.wrapping_add(done), run.at, run.bytes)? };
            done += run.bytes as u64;
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
    "smsc", Opal, version 2, ManyOfMany, OMPI_SMSCS: dyn Component
}

/// A running module and its component's name: peers must have the same.
#[derive(Clone, Copy)]
pub struct Selected {
    /// The component.
    pub name: &'static str,
    /// The module.
    pub module: &'static dyn Module,
}

static SELECTED: Once<Vec<Selected>> = Once::new();

/// Opens the components, once, before addresses are published. That there is none is no error: messages then go
/// through shared memory.
pub fn select(launcher: Option<u32>) -> Result<()> {
    let mut offers = Vec::new();
    for component in mca::open(&FRAMEWORK, &OMPI_SMSCS)? {
        match component.query(launcher) {
            Ok((priority, module)) => offers.push((component, priority, module)),
            Err(mca::Declined(why)) => {
                component.close();
                record(component.info(), Verdict::Declined(why));
            }
        }
    }
    sort::by_key(&mut offers, |(_, priority, _)| core::cmp::Reverse(*priority));
    let mut running = Vec::new();
    for (component, priority, module) in offers {
        let info = component.info();
        if running.len() == MOST_MECHANISMS {
            component.close();
            record(info, Verdict::LowerPriority(priority));
            continue;
        }
        record(info, Verdict::Chosen(Some(priority)));
        running.push(Selected { name: info.name, module });
    }
    SELECTED.call_once(|| running);
    Ok(())
}

/// The running modules, the best one first.
pub fn selected() -> &'static [Selected] {
    SELECTED.get().map_or(&[], Vec::as_slice)
}

/// Has all modules let go of what peers lent: when nothing is copied any more.
pub fn close() {
    selected().iter().for_each(|selected| selected.module.close());
}

/// How a peer is reached.
#[derive(Clone, Copy)]
pub struct Mechanism {
    /// The component.
    pub name: &'static str,
    /// The module that copies.
    pub module: &'static dyn Module,
    /// Its number for the peer.
    pub peer: PeerId,
}

/// A peer that can be reached: by one way at least, the best one first.
#[derive(Clone, Copy)]
pub struct Endpoint {
    mechanisms: [Option<Mechanism>; MOST_MECHANISMS],
}

impl Endpoint {
    /// All ways.
    pub fn mechanisms(&self) -> impl DoubleEndedIterator<Item = &Mechanism> {
        self.mechanisms.iter().flatten()
    }

    /// The best way for a copy of these bytes of the peer.
    #[inline]
    pub fn mechanism(&self, remote: u64, bytes: usize) -> Option<&Mechanism> {
        self.mechanisms().find(|mechanism| mechanism.module.reaches(mechanism.peer, remote, bytes))
    }

    /// The best way by which the peer can copy these bytes of this process, if it has the same ones.
    #[inline]
    pub fn peers_mechanism(&self, at: *const u8, bytes: usize) -> Option<&Mechanism> {
        self.mechanisms().find(|mechanism| mechanism.module.is_reached(at, bytes))
    }

    /// Whether one of the ways leads to all of the peer's memory.
    pub fn reaches_all(&self) -> bool {
        self.mechanisms().any(|mechanism| mechanism.module.caps().any_memory)
    }

    /// Longest copy that suits being made in one call.
    pub fn max_bytes(&self) -> usize {
        self.mechanisms().map(|mechanism| mechanism.module.caps().max_bytes).min().unwrap_or(usize::MAX)
    }

    /// [`Module::copy_from`], the best way. `Err(Invalid)` if none leads there.
    ///
    /// # Safety
    /// `local` is writable for `bytes`.
    pub unsafe fn copy_from(&self, remote: u64, local: *mut u8, bytes: usize) -> Result<()> {
        let Mechanism { module, peer, .. } = self.mechanism(remote, bytes).ok_or(Error::Invalid)?;
        // SAFETY: the caller's promise.
        unsafe { module.copy_from(*peer, remote, local, bytes) }
    }

    /// [`Module::copy_to`], likewise.
    ///
    /// # Safety
    /// `local` is readable for `bytes`.
    pub unsafe fn copy_to(&self, remote: u64, local: *const u8, bytes: usize) -> Result<()> {
        let Mechanism { module, peer, .. } = self.mechanism(remote, bytes).ok_or(Error::Invalid)?;
        // SAFETY: the caller's promise.
        unsafe { module.copy_to(*peer, remote, local, bytes) }
    }

    /// [`Module::gather_from`], the best way that leads to all pieces.
    ///
    /// # Safety
    /// `local` is writable for the bytes of all pieces.
    pub unsafe fn gather_from(&self, pieces: &[Piece], local: *mut u8) -> Result<()> {
        let Mechanism { module, peer, .. } = self.mechanism_for(pieces).ok_or(Error::Invalid)?;
        // SAFETY: the caller's promise.
        unsafe { module.gather_from(*peer, pieces, local) }
    }

    /// [`Module::scatter_to`], likewise.
    ///
    /// # Safety
    /// `local` is readable for the bytes of all pieces.
    pub unsafe fn scatter_to(&self, pieces: &[Piece], local: *const u8) -> Result<()> {
        let Mechanism { module, peer, .. } = self.mechanism_for(pieces).ok_or(Error::Invalid)?;
        // SAFETY: the caller's promise.
        unsafe { module.scatter_to(*peer, pieces, local) }
    }

    /// [`Module::scatter_from`], the best way. `Err(Invalid)` if none leads there.
    ///
    /// # Safety
    /// Each run is writable.
    pub unsafe fn scatter_from(&self, remote: u64, runs: &[LocalRun]) -> Result<()> {
        let Mechanism { module, peer, .. } = self.mechanism(remote, bytes_of(runs)).ok_or(Error::Invalid)?;
        // SAFETY: the caller's promise.
        unsafe { module.scatter_from(*peer, remote, runs) }
    }

    /// [`Module::gather_to`], likewise.
    ///
    /// # Safety
    /// Each run is readable.
    pub unsafe fn gather_to(&self, remote: u64, runs: &[LocalRun]) -> Result<()> {
        let Mechanism { module, peer, .. } = self.mechanism(remote, bytes_of(runs)).ok_or(Error::Invalid)?;
        // SAFETY: the caller's promise.
        unsafe { module.gather_to(*peer, remote, runs) }
    }

    fn mechanism_for(&self, pieces: &[Piece]) -> Option<&Mechanism> {
        let reaches = |mechanism: &&Mechanism| {
            pieces.iter().all(|piece| mechanism.module.reaches(mechanism.peer, piece.at, piece.bytes))
        };
        self.mechanisms().find(reaches)
    }
}

fn bytes_of(runs: &[LocalRun]) -> usize {
    runs.iter().map(|run| run.bytes).sum()
}

/// The endpoint of a process of this node, from the addresses that it published: `address` finds that of a component. `None` if no way
/// leads to it; verbosity 10 says once of each component why.
pub fn reach<'a>(process: u32, address: impl Fn(&str) -> Option<&'a [u8]>) -> Option<Endpoint> {
    let mechanism = |(number, selected): (usize, &Selected)| {
        let Selected { name, module } = *selected;
        let why = match address(name).map(|address| module.connect(address)) {
            Some(Ok(peer)) => return Some(Mechanism { name, module, peer }),
            Some(Err(Error::Permission)) => "the system forbids it (seccomp, Yama, or another user)",
            Some(Err(Error::Mismatch | Error::Unreachable)) => "its process number means something else here",
            Some(Err(_)) => "its address is malformed",
            None => "it does not run this component",
        };
        if !REFUSED[number].swap(true, Ordering::Relaxed) {
            verbose!(FRAMEWORK, 10, "{name} cannot reach process {process}: {why}; long messages take other ways");
        }
        None
    };
    let mut found = selected().iter().enumerate().filter_map(mechanism);
    let endpoint = Endpoint { mechanisms: core::array::from_fn(|_| found.next()) };
    endpoint.mechanisms().next()?;
    Some(endpoint)
}

// Of each running module: it has said that it cannot reach somebody.
static REFUSED: [AtomicBool; MOST_MECHANISMS] = [const { AtomicBool::new(false) }; MOST_MECHANISMS];
/// More components than this do not run beside one another.
const MOST_MECHANISMS: usize = 2;
