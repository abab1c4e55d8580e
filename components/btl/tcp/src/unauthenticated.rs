//! Messages about connections that were not authenticated: each reason is printed once for each source, the rest is
//! counted. Outsiders who reach a port decide how often this happens, but must not decide how much this process prints.

use alloc::vec::Vec;
use core::net::IpAddr;
use opal_core::framework::btl;
use opal_core::{message, verbose};

/// Why an unproved connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It speaks another wire format.
    OtherFormat,
    /// It does not follow the handshake, or closed it.
    NoHandshake,
    /// It proved nothing until the deadline.
    TooLate,
    /// Too many others were in the handshake.
    TooMany,
}

/// What was said and counted so far.
pub struct Unauthenticated {
    said: Vec<(Refusal, IpAddr)>,
    /// Closed connections, and those among them of which nothing was said.
    closed: u64,
    unsaid: u64,
}

impl Unauthenticated {
    /// Nothing.
    pub const fn new() -> Unauthenticated {
        Unauthenticated { said: Vec::new(), closed: 0, unsaid: 0 }
    }

    /// Counts a closed connection. `say` says why, if this is the first of its kind from there.
    pub fn closed(&mut self, reason: Refusal, source: IpAddr, say: impl FnOnce()) {
        self.closed += 1;
        if self.said.contains(&(reason, source)) || self.said.len() >= SAID_MAX {
            self.unsaid += 1;
            return;
        }
        self.said.push((reason, source));
        say();
    }

    /// Says how many there were, if not all of them were spoken of.
    pub fn finish(&mut self) {
        if self.said.iter().any(|(reason, _)| *reason == Refusal::OtherFormat) && self.unsaid > 0 {
            message!(
                "btl/tcp: {} connections in all were closed that did not prove to belong to this job",
                self.closed
            );
        } else if self.closed > 0 {
            verbose!(btl::FRAMEWORK, 20, "tcp: {} connections were closed that proved nothing", self.closed);
        }
        *self = Unauthenticated::new();
    }

    /// How often something was said, and how many connections were closed.
    #[cfg(test)]
    pub fn counts(&self) -> (usize, u64) {
        (self.said.len(), self.closed)
    }
}

/// Nothing is said of further sources.
const SAID_MAX: usize = 16;
