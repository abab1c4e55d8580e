//! Reading and writing lines on the socket to the manager.

use crate::raw;
use crate::traces::{ADVICE, Traces};
use crate::wire::LINE_MAX;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};
use orte_core::direct::socket::{Socket, take_line};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

/// The connection, with what was read beyond the last line.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    read: Vec<u8>,
}

impl Connection {
    /// `Err` with a sentence.
    pub fn open(traces: &Traces) -> Result<Connection, String> {
        let socket = match traces {
            Traces::Descriptor { number, .. } => Socket::inherited(raw::inherited(*number), *number, ADVICE)?,
            // The manager's process on this node left the name of this very node.
            Traces::Port { port, .. } => Socket::Own(connected(*port).map_err(|errno| {
                format!("the process manager's port {port} on this node takes no connection ({errno}); {ADVICE}")
            })?),
        };
        Ok(Connection { socket, read: Vec::new() })
    }

    /// Writes a line; `Err` with half a sentence.
    pub fn write(&mut self, line: &str) -> Result<(), String> {
        self.socket.write(line.as_bytes())
    }

    /// The next line, without its newline; waits until `deadline_ns` of the monotonic clock. `Err` with half a sentence.
    pub fn line(&mut self, deadline_ns: u64) -> Result<Vec<u8>, String> {
        loop {
            if let Some(line) = take_line(&mut self.read) {
                return Ok(line);
            }
            if self.read.len() > LINE_MAX {
                return Err(format!("it sent more than {LINE_MAX} bytes without a newline"));
            }
            self.socket.read(&mut self.read, deadline_ns)?;
        }
    }
}

fn connected(port: u16) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    Ok(socket)
}
