//! Reading and writing lines on the inherited socket to the manager.

use crate::raw;
use crate::traces::{ADVICE, Traces};
use crate::wire::{LINE_MAX, take_line};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};
use opal_core::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, FdFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

/// The connection, with what was read beyond the last line.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    read: Vec<u8>,
}

#[derive(Debug)]
enum Stream {
    Inherited(BorrowedFd<'static>),
    Own(OwnedFd),
}

impl Connection {
    /// `Err` with a sentence.
    pub fn open(traces: &Traces) -> Result<Connection, String> {
        let stream = match traces {
            Traces::Descriptor { number, .. } => inherited(*number)?,
            // The manager's process on this node left the name of this very node.
            Traces::Port { port, .. } => Stream::Own(connected(*port).map_err(|errno| {
                format!("the process manager's port {port} on this node takes no connection ({errno}); {ADVICE}")
            })?),
        };
        Ok(Connection { stream, read: Vec::new() })
    }

    /// Writes a line; `Err` with half a sentence.
    pub fn write(&mut self, line: &str) -> Result<(), String> {
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            match rustix::net::send(&self.stream, rest, rustix::net::SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(Errno::NOTSOCK) => return Err(String::from("it is not the manager's socket")),
                Err(errno) => return Err(format!("it is gone ({errno})")),
            }
        }
        Ok(())
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
            let left = deadline_ns.saturating_sub(sys::monotonic_ns());
            if left == 0 {
                return Err(String::from("it did not answer in time"));
            }
            let limit = Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as _ };
            match poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], Some(&limit)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(format!("the system refused ({errno})")),
            }
            let mut bytes = [0; 4096];
            match rustix::io::read(&self.stream, &mut bytes) {
                Ok(0) => return Err(String::from("it closed the connection")),
                Ok(count) => self.read.extend_from_slice(&bytes[..count]),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(format!("it is gone ({errno})")),
            }
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Inherited(descriptor) => *descriptor,
            Stream::Own(descriptor) => descriptor.as_fd(),
        }
    }
}

fn inherited(number: i32) -> Result<Stream, String> {
    let descriptor = raw::inherited(number);
    let flags = rustix::io::fcntl_getfd(descriptor).map_err(|_| {
        format!(
            "PMI_FD names descriptor {number}, which is not open: somebody between the process manager and this program closed it; \
             {ADVICE}"
        )
    })?;
    if flags.contains(FdFlags::CLOEXEC) {
        return Err(format!(
            "MPI was already started with PMI_FD={number} in this process by another library, or by the process that forked this \
             one; link programs and the libraries that they load with mpicc and without -static, and call MPI in one process a rank"
        ));
    }
    // From now on only this process has it: its children are not ranks.
    rustix::io::fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC)
        .map_err(|errno| format!("descriptor {number} of PMI_FD cannot be kept from children ({errno})"))?;
    Ok(Stream::Inherited(descriptor))
}

fn connected(port: u16) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    Ok(socket)
}
