//! A process of the window, as this one reaches it.

use crate::operation::{Flow, Operation};
use crate::wire::Told;
use alloc::sync::Arc;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::bml::Path;
use ompi_core::framework::osc::Part;
use ompi_core::framework::pml::{self, subject};
use ompi_core::process;
use opal_core::framework::btl::Remote;
use opal_core::wait::{self, Subject, awaiting};

/// One of them; also this process itself, whose words are reached by the transport, too.
pub struct Peer {
    rank: usize,
    process: u32,
    /// Transport and endpoint.
    pub path: Path,
    words: Remote,
    memory: Remote,
    /// Its memory's length and unit.
    pub part: Part,
    /// What is under way to it.
    pub flow: Arc<Flow>,
}

impl Peer {
    /// Of what it has told. `Err` if its keys cannot be.
    pub fn new((rank, process): (usize, u32), path: Path, part: Part, told: &Told) -> Result<Peer> {
        let import = |key: &[u8]| path.module.import_key(path.endpoint, key);
        let words = Remote { address: told.words.address, key: import(&told.words.key)? };
        // Without memory at first: if its key cannot be imported, that of the words is dropped with the peer.
        let none = Part { bytes: 0, ..part };
        let mut peer = Peer { rank, process, path, words, memory: words, part: none, flow: Arc::default() };
        if part.bytes > 0 {
            let import = |key: &[u8]| peer.path.module.import_key(peer.path.endpoint, key);
            peer.memory = Remote { address: told.memory.address, key: import(&told.memory.key)? };
        }
        peer.part = part;
        Ok(peer)
    }

    /// An address in its memory of the window.
    pub fn remote(&self, address: u64) -> Remote {
        Remote { address, key: self.memory.key }
    }

    /// The address at a displacement.
    pub fn address(&self, displacement: i64) -> u64 {
        self.memory.address.wrapping_add_signed(displacement * self.part.unit)
    }

    /// The longest operation.
    pub fn most(&self, direction: Direction) -> usize {
        let caps = self.path.module.caps().remote;
        if direction == Direction::Put { caps.put_bytes } else { caps.get_bytes }
    }

    /// The word at this place among its words.
    pub fn word(&self, index: usize) -> Remote {
        Remote { address: self.words.address + 8 * index as u64, ..self.words }
    }

    /// Waits for an operation.
    pub fn wait(&self, operation: &Operation) -> Result<()> {
        wait::until_done(awaiting(|| operation.is_over(), || self.subject()))?;
        operation.found().map(drop).ok_or_else(|| self.lost())
    }

    /// Waits until nothing is under way to it; what failed meanwhile.
    pub fn settle(&self) -> Result<()> {
        if !self.flow.is_over() {
            wait::until_done(awaiting(|| self.flow.is_over(), || self.subject()))?;
        }
        if self.flow.take_failure() { Err(self.lost()) } else { Ok(()) }
    }

    /// `Err` if it can be reached no more.
    pub fn check(&self) -> Result<()> {
        if pml::selected().is_lost(self.process) { Err(self.lost()) } else { Ok(()) }
    }

    /// What waits for it wait for.
    pub fn subject(&self) -> Subject {
        subject::at_window(subject::WINDOW, Some((self.rank, self.process)), self.rank)
    }

    /// The fault where it is lost.
    #[cold]
    pub fn lost(&self) -> Fault {
        Fault::new(Class::ProcAborted).because(process::get(self.process).lost())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let Path { module, endpoint } = self.path;
        if self.part.bytes > 0 {
            module.drop_key(endpoint, self.memory.key);
        }
        module.drop_key(endpoint, self.words.key);
    }
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the target.
    Put,
    /// From it.
    Get,
}
