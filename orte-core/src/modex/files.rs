//! How the ranks of a node get at what they need to know: two memory files that they inherit, and a socket to wake the launcher.
//!
//! A file holds one message of the registry and is then sealed: from then on the kernel lets nobody change a byte of it. Only then
//! is it mapped, once checked, and read where it lies by all ranks of the node.

use crate::segment::mapping::{SEALED, inherited};
use alloc::format;
use alloc::string::String;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::{Errno, FdFlags, Result};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// An empty file for one message, whose number ranks inherit.
pub fn create() -> Result<OwnedFd> {
    let name = [opal_core::sys::FILE_PREFIX, "map"].concat();
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know NOEXEC_SEAL.
    let file = rustix::fs::memfd_create(name.as_str(), flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| rustix::fs::memfd_create(name.as_str(), flags))?;
    high(&file)
}

/// Writes the message and seals the file.
pub fn fill(file: &OwnedFd, mut message: &[u8]) -> Result<()> {
    let mut at = 0;
    while !message.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::pwrite(file, message, at))?;
        message = &message[written..];
        at += written as u64;
    }
    rustix::fs::fcntl_add_seals(file, SEALED | SealFlags::SEAL)
}

/// The two ends of a wake-up socket: the launcher's, and the one that ranks inherit.
pub fn wake_sockets() -> Result<(OwnedFd, OwnedFd)> {
    // Packets: no end of file when the last rank is gone.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (own, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
    Ok((own, high(&theirs)?))
}

/// Wakes the launcher.
pub fn wake(wake_socket: impl AsFd) -> Result<()> {
    match rustix::net::send(wake_socket, &[1], SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
        // Full of what others sent: the launcher will look in any case.
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Launcher: takes what woke it.
pub fn drain(wake_socket: &OwnedFd) {
    let mut bytes = [0; 8];
    while rustix::net::recv(wake_socket, &mut bytes, RecvFlags::DONTWAIT).is_ok() {}
}

/// What a rank inherited under a number: from now on its children do not. `Err` with half a sentence.
pub fn take(number: i32) -> core::result::Result<Inherited, String> {
    let descriptor = inherited(number);
    let flags = rustix::io::fcntl_getfd(descriptor).map_err(|_| String::from("it is not open"))?;
    let set = rustix::io::fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC);
    set.map_err(|errno| format!("the system refused ({errno})"))?;
    let inherited = Inherited { descriptor, is: identity(descriptor) };
    if inherited.is.is_none() { Err(String::from("the system does not say what it is")) } else { Ok(inherited) }
}

/// A descriptor that the launcher left, and what file or socket it was when it was taken.
#[derive(Clone, Copy, Debug)]
pub struct Inherited {
    descriptor: BorrowedFd<'static>,
    is: Option<(u64, u64)>,
}

impl Inherited {
    /// The descriptor, unless the program closed it and opened something else under its number.
    pub fn get(&self) -> core::result::Result<BorrowedFd<'static>, String> {
        match identity(self.descriptor) == self.is {
            true => Ok(self.descriptor),
            false => Err(String::from("the program closed it")),
        }
    }
}

fn identity(descriptor: BorrowedFd<'_>) -> Option<(u64, u64)> {
    rustix::fs::fstat(descriptor).ok().map(|stat| (stat.st_dev, stat.st_ino))
}

/// Shell scripts use small numbers for themselves.
fn high(file: &OwnedFd) -> Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(file, NUMBER)
}

const NUMBER: i32 = 210;
