//! Whether the host at the other end of a TCP connection answers.

use rustix::fd::{AsRawFd, BorrowedFd};

/// Whether the other end's system has acknowledged nothing for so long, although something is under way and was sent again, or
/// it was asked twice for room (tcp(7): TCP_INFO). One that has no room for more says so each time.
pub fn is_silent(socket: BorrowedFd<'_>, timeout_ms: u64) -> bool {
    // SAFETY: numbers only, for which zeros are valid.
    let mut info: libc::tcp_info = unsafe { core::mem::zeroed() };
    let mut bytes = size_of::<libc::tcp_info>() as libc::socklen_t;
    let place = (&raw mut info).cast();
    // SAFETY: an open descriptor, and a place of `bytes` bytes.
    let result =
        unsafe { libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut bytes) };
    let is_sent_again = info.tcpi_unacked > 0 && info.tcpi_retransmits > 0;
    // The answer to the last question may be on its way: the pauses between them grow to minutes.
    let is_asked_again = info.tcpi_probes > 1;
    result == 0 && (is_sent_again || is_asked_again) && u64::from(info.tcpi_last_ack_recv) >= timeout_ms
}
