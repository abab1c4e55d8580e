//! Descriptors to sleep on.
#![allow(unsafe_code)]

use rustix::event::epoll;
use rustix::fd::{BorrowedFd, OwnedFd};

/// A set of descriptors to sleep on, with this one in it.
pub fn watched(descriptor: i32) -> Option<OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).ok()?;
    watch(&epoll, descriptor).then_some(epoll)
}

/// Adds a descriptor that stays open as long as this process lives.
pub fn watch(epoll: &OwnedFd, descriptor: i32) -> bool {
    // SAFETY: nobody closes it: a completion queue's, a waker's (`wait::Waker`) or another transport's (`wait::Sockets`).
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    epoll::add(epoll, descriptor, epoll::EventData::new_u64(0), epoll::EventFlags::IN).is_ok()
}
