//! Memory of a peer that a transport reaches while the peer sends nothing: put, get and atomic operations. A fabric's card does them, or
//! memory that both have mapped, or the peer's process in its own polls ([`RemoteCaps::peer_may_compute`]). What one-sided communication over a transport stands on; nothing here orders anything: who needs
//! an order waits for completions.
//!
//! 1. The owner makes memory reachable ([`Module::register_memory`](super::Module::register_memory)) and tells the others its address and the
//!    [`Registration::key`].
//! 2. Each of them imports the key, once per peer ([`Module::import_key`](super::Module::import_key)); the bytes are hostile.
//! 3. An operation names the memory by [`Remote`]. It is complete at once ([`Begun::Done`]), or its [`Completion`] is called from a poll. A
//!    completion says that it is done *there*: whoever learns of it in any way, also the peer itself, finds the new bytes.
//! 4. Keys are dropped before the memory is unregistered, both after the last completion.

use crate::Result;
use alloc::vec::Vec;

/// What a module can do with memory of its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteCaps {
    /// Longest [`Module::put`](super::Module::put) in bytes; 0: there is none.
    pub put_bytes: usize,
    /// Longest [`Module::get`](super::Module::get) in bytes; 0: there is none.
    pub get_bytes: usize,
    /// What [`Module::atomic`](super::Module::atomic) does with words of 4 bytes.
    pub atomics_of_4: AtomicSet,
    /// What it does with words of 8 bytes.
    pub atomics_of_8: AtomicSet,
    /// They are atomic beside instructions of the peer's processors, too. Otherwise only with each other, so that the peer, too, must go
    /// through the transport.
    pub atomic_with_processors: bool,
    /// Operations end while the peer computes and polls nothing. Otherwise they wait for its next poll, as messages do.
    pub peer_may_compute: bool,
}

impl RemoteCaps {
    /// Nothing.
    pub const NONE: RemoteCaps = RemoteCaps {
        put_bytes: 0,
        get_bytes: 0,
        atomics_of_4: AtomicSet::NONE,
        atomics_of_8: AtomicSet::NONE,
        atomic_with_processors: false,
        peer_may_compute: false,
    };

    /// What can be done with words of this width.
    pub fn atomics(&self, width: Width) -> AtomicSet {
        match width {
            Width::Four => self.atomics_of_4,
            Width::Eight => self.atomics_of_8,
        }
    }
}

/// An atomic operation on one word. All of them return what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// Adds the operand, wrapping; with 0 it reads.
    Add(u64),
    /// Bitwise.
    And(u64),
    /// Bitwise.
    Or(u64),
    /// Bitwise.
    Xor(u64),
    /// Writes the operand.
    Swap(u64),
    /// Writes the second operand if the first one is there.
    CompareSwap(u64, u64),
}

/// Length of a word, which lies at a multiple of it. Of a shorter word the operands' lower bits count, and the result's upper bits are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 4 bytes.
    Four,
    /// 8 bytes.
    Eight,
}

/// Kinds of [`Atomic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicSet(u8);

impl AtomicSet {
    /// None of them.
    pub const NONE: AtomicSet = AtomicSet(0);
    /// All of them.
    pub const ALL: AtomicSet = AtomicSet(0b11_1111);

    /// With this kind, whatever the operands.
    #[must_use]
    pub const fn with(self, kind: Atomic) -> AtomicSet {
        AtomicSet(self.0 | bit(kind))
    }

    /// Whether the kind is one of them.
    pub const fn has(self, kind: Atomic) -> bool {
        self.0 & bit(kind) != 0
    }
}

const fn bit(kind: Atomic) -> u8 {
    match kind {
        Atomic::Add(_) => 1,
        Atomic::And(_) => 2,
        Atomic::Or(_) => 4,
        Atomic::Xor(_) => 8,
        Atomic::Swap(_) => 16,
        Atomic::CompareSwap(..) => 32,
    }
}

/// Memory of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Address in the peer.
    pub address: u64,
    /// What [`Module::import_key`](super::Module::import_key) made of its key here.
    pub key: u64,
}

/// Memory of this process that peers may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The module's own number for it.
    pub handle: u64,
    /// What peers import: at most [`KEY_BYTES_MAX`] bytes, perhaps none.
    pub key: Vec<u8>,
}

/// Longest [`Registration::key`]: UCX packs some dozens of bytes, libfabric 8 and an address.
pub const KEY_BYTES_MAX: usize = 256;

/// Whom to tell of the end of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Called once, from a poll of the module, with the token: `Ok` with what an atomic operation found, 0 for others; `Err(Unreachable)` if the
    /// peer is lost, and then nobody knows what was done. It may begin other operations, but not wait for progress.
    pub call: fn(token: u64, ended: Result<u64>),
    /// Comes back.
    pub token: u64,
}

/// An operation that a module took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It is complete, and its [`Completion`] will not be called. What an atomic operation found; 0 for others.
    Done(u64),
    /// Its [`Completion`] will be called.
    Later,
}
