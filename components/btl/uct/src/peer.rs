//! One peer.

use crate::raw::Ep;

/// A peer that was added.
pub struct Peer {
    /// Its number for the layer above.
    pub index: u32,
    /// By which messages go to it.
    pub ep: Ep,
    /// By which its memory is reached.
    pub memory: Option<Ep>,
    /// The token of messages to it.
    pub token_there: u64,
    /// The token of its messages.
    pub token_here: u64,
    /// It was removed, or broke the format, or counts as lost, or has left MPI.
    pub closed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_per_peer() {
        assert!(size_of::<Option<Peer>>() <= 64, "{} bytes", size_of::<Option<Peer>>());
    }
}
