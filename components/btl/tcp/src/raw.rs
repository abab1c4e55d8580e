//! The system's list of interfaces, and borrowed memory and descriptors.
#![allow(unsafe_code)]

use crate::interfaces::{self, Interface};
use alloc::vec::Vec;
use opal_core::sys::{self, InterfaceAddress};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Every interface that is up and has an address of family 4 or 6 that is not link-local.
pub fn interfaces() -> Option<Vec<Interface>> {
    let mut found: Vec<Interface> = Vec::new();
    for InterfaceAddress { name, address, prefix, is_loopback } in sys::interfaces()? {
        match found.iter_mut().find(|interface| interface.name == name) {
            Some(interface) => interface.addresses.push((address, prefix)),
            None => {
                let mbps = interfaces::speed_mbps(&name, is_loopback);
                let addresses = alloc::vec![(address, prefix)];
                found.push(Interface { name, loopback: is_loopback, mbps, addresses });
            }
        }
    }
    Some(found)
}

/// How much of what was sent the other end's system does not have (tcp(7): SIOCOUTQ); 0 where nobody knows.
pub fn unacknowledged(socket: &OwnedFd) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: an open descriptor, and a place for a number.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == 0 { usize::try_from(bytes).unwrap_or(0) } else { 0 }
}

/// Has epoll watch a descriptor whose only meaning is to end a sleep.
pub fn watch_waker(epoll: &OwnedFd, token: u64, descriptor: i32) -> bool {
    // SAFETY: a waker's descriptor stays open as long as the process lives (`wait::Waker`).
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    epoll::add(epoll, descriptor, epoll::EventData::new_u64(token), EventFlags::IN).is_ok()
}

/// Appends `bytes` bytes that `fill` writes.
pub fn append(to: &mut Vec<u8>, bytes: usize, fill: &mut dyn FnMut(*mut u8)) {
    to.reserve(bytes);
    let length = to.len();
    fill(to.as_mut_ptr().wrapping_add(length));
    // SAFETY: there is room, and `fill` has filled all of it by the contract of `btl::Module::send`.
    unsafe { to.set_len(length + bytes) };
}
