//! Somebody between two processes, who may change what passes. Where one end of a connection breaks, so does the other one.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::vec::Vec;

/// All connections that pass here.
pub struct Relay {
    listener: TcpListener,
    to: SocketAddr,
    ends: Vec<[TcpStream; 2]>,
}

/// From where bytes come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    Connecting,
    Accepting,
}

impl Relay {
    /// To this listener.
    pub fn new(to: SocketAddr) -> Relay {
        Relay::at(0, to)
    }

    /// At this port.
    pub fn at(port: u16, to: SocketAddr) -> Relay {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Relay { listener, to, ends: Vec::new() }
    }

    pub fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    /// Passes on what is there, as `change` leaves it.
    pub fn pass(&mut self, mut change: impl FnMut(Sender, &mut [u8])) {
        if let Ok((near, _)) = self.listener.accept() {
            let ends = [near, TcpStream::connect(self.to).unwrap()];
            ends.iter().for_each(prepare);
            self.ends.push(ends);
        }
        self.ends.retain(|[near, far]| {
            pass(near, far, |bytes| change(Sender::Connecting, bytes))
                && pass(far, near, |bytes| change(Sender::Accepting, bytes))
        });
    }
}

/// `false` if there is nothing more to come.
fn pass(mut from: &TcpStream, mut to: &TcpStream, mut change: impl FnMut(&mut [u8])) -> bool {
    let mut bytes = [0; 65536];
    loop {
        match from.read(&mut bytes) {
            Ok(count @ 1..) => {
                change(&mut bytes[..count]);
                _ = to.write_all(&bytes[..count]);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
            Ok(0) | Err(_) => return false,
        }
    }
}

/// Never waits, and is reset when it is closed: an end in order would say that a process has ended.
fn prepare(stream: &TcpStream) {
    stream.set_nonblocking(true).unwrap();
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let (place, bytes) = ((&raw const linger).cast(), size_of_val(&linger) as u32);
    // SAFETY: an open descriptor, and a value that the call copies.
    let result = unsafe { libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, place, bytes) };
    assert_eq!(result, 0);
}
