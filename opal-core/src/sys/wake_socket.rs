//! A descriptor that the other processes of this node can make readable: a datagram socket whose name the system chooses,
//! outside the file system. A process that sleeps in epoll watches it, and so hears its peers, too.
//!
//! Any process in the same network namespace can send to it. One that does not belong to the job wakes this
//! process for nothing; its bytes are not looked at.

/// A wake-up socket's name, which its peers must know; all zeros: there is none.
pub type WakeSocketName = [u8; 8];

#[cfg(not(ompi_bare))]
mod hosted {
    use super::*;
    use rustix::fd::{AsRawFd, OwnedFd};
    use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

    /// See the module.
    pub struct WakeSocket {
        socket: OwnedFd,
        name: WakeSocketName,
    }

    impl WakeSocket {
        /// A new one; `None` where the system has none to give.
        pub fn new() -> Option<WakeSocket> {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None).ok()?;
            // unix(7), "Autobind": without a name the system chooses five hexadecimal digits.
            net::bind(&socket, &SocketAddrUnix::new_unnamed()).ok()?;
            let bound = SocketAddrUnix::try_from(net::getsockname(&socket).ok()?).ok()?;
            let chosen = bound.abstract_name().filter(|name| !name.is_empty())?;
            let mut name = [0; 8];
            name.get_mut(..chosen.len())?.copy_from_slice(chosen);
            Some(WakeSocket { socket, name })
        }

        /// Its name.
        pub fn name(&self) -> WakeSocketName {
            self.name
        }

        /// For epoll: readable once a peer called [`WakeSocket::wake`].
        pub fn descriptor(&self) -> i32 {
            self.socket.as_raw_fd()
        }

        /// Makes another one readable.
        pub fn wake(&self, other: &WakeSocketName) {
            let length = other.iter().position(|byte| *byte == 0).unwrap_or(other.len());
            let Ok(address) = SocketAddrUnix::new_abstract_name(&other[..length]) else { return };
            // Full: it is readable already. Nobody there: the process has ended.
            while net::sendto(&self.socket, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL, &address)
                == Err(rustix::io::Errno::INTR)
            {}
        }

        /// Makes this one unreadable again: takes out all that was sent.
        pub fn clear(&self) {
            let mut bytes = [0; 8];
            while net::recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT).is_ok() {}
        }
    }

    /// Equal, and not 0, for processes that can send to each other's wake-up sockets.
    pub fn network_namespace() -> u64 {
        rustix::fs::stat("/proc/self/ns/net").map_or(0, |stat| stat.st_ino ^ stat.st_dev.rotate_left(32))
    }
}
#[cfg(not(ompi_bare))]
pub use hosted::*;

#[cfg(ompi_bare)]
mod bare {
    use super::*;

    /// There are no descriptors.
    pub struct WakeSocket(core::convert::Infallible);

    impl WakeSocket {
        /// None.
        pub fn new() -> Option<WakeSocket> {
            None
        }

        /// Never called.
        pub fn name(&self) -> WakeSocketName {
            match self.0 {}
        }

        /// Never called.
        pub fn descriptor(&self) -> i32 {
            match self.0 {}
        }

        /// Never called.
        pub fn wake(&self, _other: &WakeSocketName) {
            match self.0 {}
        }

        /// Never called.
        pub fn clear(&self) {
            match self.0 {}
        }
    }

    /// There are no networks.
    pub fn network_namespace() -> u64 {
        0
    }
}
#[cfg(ompi_bare)]
pub use bare::*;

#[cfg(all(test, not(ompi_bare)))]
mod tests {
    use super::*;

    #[test]
    fn wakes_and_is_clear_again() {
        let (one, other) = (WakeSocket::new().unwrap(), WakeSocket::new().unwrap());
        assert_ne!(one.name(), other.name());
        assert_ne!(network_namespace(), 0);
        let readable = |socket: &WakeSocket| {
            // SAFETY: the socket lives during the call.
            let descriptor = unsafe { rustix::fd::BorrowedFd::borrow_raw(socket.descriptor()) };
            let mut watched = [rustix::event::PollFd::new(&descriptor, rustix::event::PollFlags::IN)];
            rustix::event::poll(&mut watched, Some(&rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0
        };
        assert!(!readable(&one));
        // More than the system keeps: a sender that finds it full need not send.
        (0..2000).for_each(|_| other.wake(&one.name()));
        assert!(readable(&one) && !readable(&other));
        one.clear();
        assert!(!readable(&one));
        other.wake(&[b'x'; 8]);
        other.wake(&[0; 8]);
    }
}
