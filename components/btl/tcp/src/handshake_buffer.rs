//! Messages of the handshake as they arrive.

use crate::handshake::HELLO_BYTES;
use crate::socket;
use heapless::Vec;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// A message of the handshake as it arrives.
#[derive(Clone, Debug)]
pub struct HandshakeBuffer(Vec<u8, HELLO_BYTES>);

impl HandshakeBuffer {
    /// Nothing yet.
    pub const fn new() -> HandshakeBuffer {
        HandshakeBuffer(Vec::new())
    }

    /// A part of the next message has come.
    pub fn is_begun(&self) -> bool {
        !self.0.is_empty()
    }

    /// What has come of the next message.
    pub fn so_far(&self) -> &[u8] {
        &self.0
    }

    /// A message of `WANTED` bytes once all of them are there, none of what follows; `Ok(None)` before. `Err(None)` if the
    /// other end closed, `Err` with the system's reason if the socket failed.
    pub fn receive<const WANTED: usize>(&mut self, socket: &OwnedFd) -> Result<Option<[u8; WANTED]>, Option<Errno>> {
        const { assert!(WANTED <= HELLO_BYTES, "the longest message is a hello") };
        loop {
            if let Some(message) = self.0.first_chunk::<WANTED>().copied() {
                self.0.clear();
                return Ok(Some(message));
            }
            let mut more = [0; WANTED];
            match socket::receive(socket, &mut more[self.0.len()..]).map_err(Some)? {
                None => return Ok(None),
                Some(0) => return Err(None),
                Some(bytes) => self.0.extend_from_slice(&more[self.0.len()..][..bytes]).map_err(|_| None)?,
            }
        }
    }
}
