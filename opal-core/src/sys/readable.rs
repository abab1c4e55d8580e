//! Sleeping until a descriptor is readable.

/// The most descriptors that [`await_readable`] takes.
pub const READABLE_MAX: usize = 8;

#[cfg(not(ompi_bare))]
mod hosted {
    use super::READABLE_MAX;
    use core::array;
    use rustix::event::{PollFd, PollFlags, Timespec};
    use rustix::fd::BorrowedFd;

    /// Sleeps until one of them is readable, at most this long; returns whether one is. They are open, and at most [`READABLE_MAX`].
    pub fn await_readable(descriptors: &[i32], at_most_us: u64) -> bool {
        let timeout =
            Timespec { tv_sec: (at_most_us / 1_000_000) as i64, tv_nsec: (at_most_us % 1_000_000 * 1000) as _ };
        let of = |descriptor: i32| {
            // SAFETY: borrowed for this call; if one is closed the system says so and nothing is read.
            PollFd::from_borrowed_fd(unsafe { BorrowedFd::borrow_raw(descriptor) }, PollFlags::IN)
        };
        let Some(first) = descriptors.first() else { return false };
        // Those behind the last one are the first one again, and not asked about.
        let mut watched: [_; READABLE_MAX] = array::from_fn(|at| of(*descriptors.get(at).unwrap_or(first)));
        let asked = &mut watched[..descriptors.len().min(READABLE_MAX)];
        // Interrupted: the caller looks again.
        rustix::event::poll(asked, Some(&timeout)).is_ok_and(|ready| ready > 0)
    }
}
#[cfg(not(ompi_bare))]
pub use hosted::*;

#[cfg(ompi_bare)]
mod bare {
    /// There are no descriptors.
    pub fn await_readable(_descriptors: &[i32], _at_most_us: u64) -> bool {
        false
    }
}
#[cfg(ompi_bare)]
pub use bare::*;

#[cfg(all(test, not(ompi_bare)))]
mod tests {
    use super::*;
    use crate::sys::WakeSocket;

    #[test]
    fn one_of_several_is_readable() {
        let sockets: [WakeSocket; 3] = core::array::from_fn(|_| WakeSocket::new().unwrap());
        let all = sockets.each_ref().map(|socket| socket.descriptor());
        assert!(!await_readable(&all, 1000) && !await_readable(&[], 1000));
        sockets[0].wake(&sockets[2].name());
        assert!(await_readable(&all, 60_000_000) && await_readable(&all[2..], 60_000_000));
        assert!(!await_readable(&all[..2], 1000));
        sockets[2].clear();
        assert!(!await_readable(&all, 1000));
    }
}
