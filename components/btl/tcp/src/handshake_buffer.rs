//! What the handshake asks of the system: random bytes, and the peer's messages as they arrive.

use crate::handshake::{HELLO_BYTES, Nonce};
use crate::socket;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// Random bytes of the system.
pub fn nonce() -> rustix::io::Result<Nonce> {
    let mut bytes = [0; 32];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if got == bytes.len() { Ok(bytes) } else { Err(Errno::IO) }
}

/// A message of the handshake as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct HandshakeBuffer {
    bytes: [u8; HELLO_BYTES],
    got: usize,
}

impl HandshakeBuffer {
    /// Nothing yet.
    pub const fn new() -> HandshakeBuffer {
        HandshakeBuffer { bytes: [0; HELLO_BYTES], got: 0 }
    }

    /// The message once all `wanted` bytes are there, none of what follows; `Ok(None)` before. `Err(None)` if the other
    /// end closed, `Err` with the system's reason if the socket failed.
    pub fn receive(&mut self, socket: &OwnedFd, wanted: usize) -> Result<Option<[u8; HELLO_BYTES]>, Option<Errno>> {
        while self.got < wanted {
            match socket::receive(socket, &mut self.bytes[self.got..wanted]).map_err(Some)? {
                None => return Ok(None),
                Some(0) => return Err(None),
                Some(bytes) => self.got += bytes,
            }
        }
        self.got = 0;
        Ok(Some(self.bytes))
    }
}
