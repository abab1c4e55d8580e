//! Reading and writing on the inherited socket to the manager.

use crate::raw;
use crate::traces::{ADVICE, Traces};
use crate::wire::{LINE_MAX, NoLength, take_packet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use orte_core::direct::socket::{Socket, take_line};

/// The connection, with what was read beyond the last packet.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    read: Vec<u8>,
}

impl Connection {
    /// `Err` with a sentence.
    pub fn open(traces: &Traces) -> Result<Connection, String> {
        let socket = Socket::inherited(raw::inherited(traces.descriptor), traces.descriptor, ADVICE)?;
        Ok(Connection::over(socket))
    }

    /// Over a socket that is there.
    pub fn over(socket: Socket) -> Connection {
        Connection { socket, read: Vec::new() }
    }

    /// Writes a request; `Err` with half a sentence.
    pub fn write(&mut self, request: &str) -> Result<(), String> {
        self.socket.write(request.as_bytes())
    }

    /// The first line, without its newline; waits until `deadline_ns` of the monotonic clock. `Err` with half a sentence.
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

    /// As `line`: the next packet, without its length.
    pub fn packet(&mut self, deadline_ns: u64) -> Result<Vec<u8>, String> {
        loop {
            let packet = take_packet(&mut self.read)
                .map_err(|NoLength| String::from("it sent something else than a packet of PMI-2"))?;
            match packet {
                Some(packet) => return Ok(packet),
                None => self.socket.read(&mut self.read, deadline_ns)?,
            }
        }
    }
}
