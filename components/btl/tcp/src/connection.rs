//! One connection: to a peer, from one of this process's interfaces to one of the peer's.

use crate::pair::Pair;
use crate::path::Path;
use crate::record::Protect;
use crate::tx::Tx;
use crate::wire::AddressRecord;
use alloc::vec::Vec;
use opal_core::framework::btl::Job;
use opal_core::sync::{AtomicBool, ConditionalLock, Once};

/// One connection.
pub struct Connection {
    /// The endpoint's number: see `Transport::connection`.
    pub id: u32,
    /// The peer's index.
    pub peer: u32,
    /// This process's end. By the interfaces of its ends the two processes name a connection to each other.
    pub local: AddressRecord,
    /// The peer's end.
    pub remote: AddressRecord,
    /// The addresses between which this process makes it first.
    pub guess: Path,
    /// Where that and all other connections to the peer cannot be made: pairs of addresses that may lead there, the best one first.
    pub spare: Vec<Path>,
    /// The addresses that led there instead.
    pub found: Once<Path>,
    /// Nothing will leave on it any more.
    pub is_over: AtomicBool,
    /// The two processes, if the peer is one of another job.
    pub pair: Option<Pair>,
    /// What this process wants; the peer must want the same.
    pub protect: Protect,
    /// It is made again if it breaks, if the peer wants that, too.
    pub resumes: bool,
    pub tx: ConditionalLock<Tx>,
    /// Something came since the last long message to the peer: a peer that waits for an answer probably waits for the next
    /// message.
    pub has_received: AtomicBool,
}

impl Connection {
    /// Of which nothing was sent yet.
    pub fn new(
        id: u32,
        (peer, pair): (u32, Option<Pair>),
        local: AddressRecord,
        remote: AddressRecord,
        protect: Protect,
    ) -> Connection {
        let (tx, has_received) = (ConditionalLock::new(Tx::new()), AtomicBool::new(false));
        let (guess, spare, found) = (Path { local, remote }, Vec::new(), Once::new());
        let is_over = AtomicBool::new(false);
        let resumes = false;
        Connection { id, peer, local, remote, guess, spare, found, is_over, pair, protect, resumes, tx, has_received }
    }

    /// As it is, but made between these addresses first, and then by those.
    pub fn guessing(self, guess: Path, spare: Vec<Path>) -> Connection {
        Connection { guess, spare, ..self }
    }

    /// Its own path.
    pub fn path(&self) -> Path {
        self.found.get().copied().unwrap_or(self.guess)
    }

    /// As it is, but made again if it breaks.
    pub fn resuming(self, resumes: bool) -> Connection {
        Connection { resumes, ..self }
    }

    /// The job in which both shake hands; `own` is that of this process.
    pub fn job(&self, own: &Job) -> Job {
        self.pair.as_ref().map_or(*own, Pair::job)
    }

    /// The number of the peer in that job.
    pub fn peer_in(&self, job: &Job) -> u32 {
        if self.pair.is_some() { 1 - job.index } else { self.peer }
    }
}
