//! Two addresses between which sockets are connected.

use crate::params::Limits;
use crate::socket;
use crate::wire::AddressRecord;
use core::net::SocketAddr;
use rustix::fd::OwnedFd;

/// Two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// This process's end.
    pub local: AddressRecord,
    /// The peer's end.
    pub remote: AddressRecord,
}

impl Path {
    /// A socket on its way.
    pub fn connect(&self, limits: &Limits) -> rustix::io::Result<OwnedFd> {
        socket::connect(self.local.address, SocketAddr::new(self.remote.address, self.remote.port), limits)
    }
}
