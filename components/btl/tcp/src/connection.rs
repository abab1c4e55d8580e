//! One connection: to a peer, from one of this process's interfaces to one of the peer's.

use crate::record::Protect;
use crate::tx::Tx;
use crate::wire::AddressRecord;
use opal_core::sync::{AtomicBool, ConditionalLock};

/// One connection.
pub struct Connection {
    /// The endpoint's number: see `Transport::connection`.
    pub id: u32,
    /// The peer's index.
    pub peer: u32,
    /// This process's end.
    pub local: AddressRecord,
    /// The peer's end.
    pub remote: AddressRecord,
    /// What this process wants; the peer must want the same.
    pub protect: Protect,
    pub tx: ConditionalLock<Tx>,
    /// Something came since the last long message to the peer: a peer that waits for an answer probably waits for the next
    /// message.
    pub has_received: AtomicBool,
}

impl Connection {
    /// Of which nothing was sent yet.
    pub fn new(id: u32, peer: u32, local: AddressRecord, remote: AddressRecord, protect: Protect) -> Connection {
        let (tx, has_received) = (ConditionalLock::new(Tx::new()), AtomicBool::new(false));
        Connection { id, peer, local, remote, protect, tx, has_received }
    }
}
