//! Pairs of addresses that may lead to a peer, with sockets on their way between all of them at once.

use crate::params::Limits;
use crate::path::Path;
use crate::socket;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::{sys, verbose};
use rustix::fd::OwnedFd;

/// The pairs of addresses.
pub struct Candidates {
    /// The one whose socket is the connection's: the two shake hands.
    pub current: Option<Path>,
    /// How many were tried.
    pub tried: usize,
    on_their_way: Vec<(Path, OwnedFd)>,
    deadline_ns: u64,
}

impl Candidates {
    /// All of them are on their way, and have one deadline.
    pub fn new(paths: &[Path], limits: &Limits) -> Candidates {
        let mut on_their_way = Vec::new();
        for path in paths {
            match path.connect(limits) {
                Ok(socket) => on_their_way.push((*path, socket)),
                Err(errno) => {
                    let (from, to) = (path.local.address, path.remote.address);
                    verbose!(btl::FRAMEWORK, 20, "tcp: {from} does not lead to {to}: {}", socket::why(errno));
                }
            }
        }
        let deadline_ns = sys::monotonic_ns() + limits.connect_timeout_ns;
        Candidates { current: None, tried: paths.len(), on_their_way, deadline_ns }
    }

    /// The socket of the first that is connected, which becomes the current one.
    pub fn next_connected(&mut self) -> Option<OwnedFd> {
        self.on_their_way.retain(|(_, socket)| socket::connect_result(socket).is_ok());
        let first = self.on_their_way.iter().position(|(_, socket)| socket::is_connected(socket))?;
        let (path, socket) = self.on_their_way.remove(first);
        self.current = Some(path);
        Some(socket)
    }

    /// Whether none is left that may still connect.
    pub fn is_over(&self, now: u64) -> bool {
        self.on_their_way.is_empty() || now > self.deadline_ns
    }

    /// The other end of the current one says nothing in the handshake: it computes, or is not the peer. `true` if another one has its
    /// turn, and this one again after it.
    pub fn take_turns(&mut self, limits: &Limits) -> bool {
        if self.on_their_way.is_empty() {
            return false;
        }
        if let Some(path) = self.current.take()
            && let Ok(socket) = path.connect(limits)
        {
            self.on_their_way.push((path, socket));
        }
        true
    }
}
