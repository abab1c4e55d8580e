//! The socket to a manager: bytes, with deadlines.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, FdFlags};
use rustix::net::SendFlags;

/// A connection to the manager's process on this node.
#[derive(Debug)]
pub enum Socket {
    /// Left open by the manager.
    Inherited(BorrowedFd<'static>),
    /// Made by this process.
    Own(OwnedFd),
}

impl Socket {
    /// Takes the descriptor that `PMI_FD` names: from now on no child of this process has it. `Err` with a sentence that ends
    /// with `advice`.
    pub fn inherited(descriptor: BorrowedFd<'static>, number: i32, advice: &str) -> Result<Socket, String> {
        let flags = rustix::io::fcntl_getfd(descriptor).map_err(|_| {
            format!(
                "PMI_FD names descriptor {number}, which is not open: somebody between the process manager and this program closed \
                 it; {advice}"
            )
        })?;
        if flags.contains(FdFlags::CLOEXEC) {
            return Err(format!(
                "MPI was already started with PMI_FD={number} in this process by another library, or by the process that forked \
                 this one; link programs and the libraries that they load with mpicc and without -static, and call MPI in one \
                 process a rank"
            ));
        }
        // Children are not ranks.
        rustix::io::fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC)
            .map_err(|errno| format!("descriptor {number} of PMI_FD cannot be kept from children ({errno})"))?;
        Ok(Socket::Inherited(descriptor))
    }

    /// Writes all of it; `Err` with half a sentence.
    pub fn write(&self, bytes: &[u8]) -> Result<(), String> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match rustix::net::send(self, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(Errno::NOTSOCK) => return Err(String::from("it is not the manager's socket")),
                Err(errno) => return Err(format!("it is gone ({errno})")),
            }
        }
        Ok(())
    }

    /// Appends what comes next, at least one byte; waits until `deadline_ns` of the monotonic clock. `Err` with half a sentence.
    pub fn read(&self, read: &mut Vec<u8>, deadline_ns: u64) -> Result<(), String> {
        loop {
            let left = deadline_ns.saturating_sub(sys::monotonic_ns());
            if left == 0 {
                return Err(String::from("it did not answer in time"));
            }
            let limit = Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as _ };
            match poll(&mut [PollFd::new(self, PollFlags::IN)], Some(&limit)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(format!("the system refused ({errno})")),
            }
            let mut bytes = [0; 4096];
            match rustix::io::read(self, &mut bytes) {
                Ok(0) => return Err(String::from("it closed the connection")),
                Ok(count) => {
                    read.extend_from_slice(&bytes[..count]);
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(format!("it is gone ({errno})")),
            }
        }
    }
}

/// Takes the first line, without its newline, out of bytes that were read.
pub fn take_line(read: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = read.iter().position(|byte| *byte == b'\n')?;
    let rest = read.split_off(end + 1);
    let mut line = core::mem::replace(read, rest);
    line.truncate(end);
    Some(line)
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Inherited(descriptor) => *descriptor,
            Socket::Own(descriptor) => descriptor.as_fd(),
        }
    }
}
