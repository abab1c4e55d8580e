//! Sleeping until something completes, where the provider has a descriptor for that.

use crate::module::Ofi;
use crate::raw;
use core::mem::MaybeUninit;
use opal_core::sync::Ordering;
use opal_core::wait;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event};
use rustix::fd::AsRawFd;

impl wait::Sockets for Ofi {
    fn sleep(&self, at_most_us: u64) -> bool {
        if !self.is_quiet() {
            return true;
        }
        let Some(epoll) = &self.epoll else { return false };
        let mut events = [MaybeUninit::<Event>::uninit(); 4];
        let timeout =
            Timespec { tv_sec: (at_most_us / 1_000_000) as i64, tv_nsec: (at_most_us % 1_000_000) as i64 * 1000 };
        epoll::wait(epoll, &mut events, Some(&timeout)).is_ok_and(|(happened, _)| !happened.is_empty())
    }

    fn watch(&self, descriptor: i32) -> bool {
        self.epoll.as_ref().is_some_and(|epoll| raw::watch(epoll, descriptor))
    }

    fn is_needed(&self) -> bool {
        // Relaxed: a number only.
        self.reached.load(Ordering::Relaxed) > 0
    }

    fn poll_now(&self) {}

    fn is_quiet(&self) -> bool {
        self.state.lock().fabric.may_sleep()
    }

    fn descriptor(&self) -> Option<i32> {
        self.epoll.as_ref().map(AsRawFd::as_raw_fd)
    }
}
