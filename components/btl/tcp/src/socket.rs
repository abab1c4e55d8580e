//! The system's calls on sockets, none of which ever blocks.

use crate::params::Limits;
use alloc::format;
use alloc::string::String;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use heapless::Vec;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, IoSlice, IoSliceMut, Result};
use rustix::net::{self, AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags};
use rustix::net::{SocketFlags, SocketType, sockopt};

/// A socket that listens on one address, and its port.
pub fn listen(address: IpAddr, ports: (u16, u16), limits: &Limits) -> core::result::Result<(OwnedFd, u16), String> {
    let mut last = Errno::INVAL;
    for port in ports.0..=ports.1 {
        match listen_on(SocketAddr::new(address, port), limits) {
            Ok(found) => return Ok(found),
            Err(errno) => last = errno,
        }
        if last != Errno::ADDRINUSE {
            break;
        }
    }
    let range = if ports.1 == 0 { String::from("any port") } else { format!("ports {}-{}", ports.0, ports.1) };
    Err(format!("cannot listen on {address}, {range}: {}", why(last)))
}

fn listen_on(address: SocketAddr, limits: &Limits) -> Result<(OwnedFd, u16)> {
    let socket = stream(address.ip(), limits)?;
    sockopt::set_socket_reuseaddr(&socket, address.port() != 0)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, BACKLOG)?;
    let bound = SocketAddr::try_from(net::getsockname(&socket)?)?;
    Ok((socket, bound.port()))
}

/// A socket on its way from one address to another.
pub fn connect(from: IpAddr, to: SocketAddr, limits: &Limits) -> Result<OwnedFd> {
    let socket = stream(from, limits)?;
    net::bind(&socket, &SocketAddr::new(from, 0))?;
    match net::connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
        Err(errno) => Err(errno),
    }
}

/// Whether an attempt to connect has ended well.
pub fn is_connected(socket: &OwnedFd) -> bool {
    net::getpeername(socket).is_ok()
}

/// How an attempt to connect ended.
pub fn connect_result(socket: &OwnedFd) -> Result<()> {
    sockopt::socket_error(socket)?
}

/// Accepts the next connection, if there is one, and says where it comes from.
pub fn accept(listener: &OwnedFd) -> Result<Option<(OwnedFd, IpAddr)>> {
    loop {
        match net::acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok((socket, source)) => {
                sockopt::set_tcp_nodelay(&socket, true)?;
                let source = SocketAddr::try_from(source.ok_or(Errno::AFNOSUPPORT)?)?;
                return Ok(Some((socket, source.ip())));
            }
            Err(Errno::AGAIN) => return Ok(None),
            // The connection is gone already.
            Err(Errno::INTR | Errno::CONNABORTED) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Has the system reset the connection when its descriptor is closed, which the other end does not take for the end of this
/// process.
pub fn abandon(socket: &OwnedFd) {
    // What cannot be reset is closed, and the other end finds out by its own attempts.
    _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}

/// What there is of bytes: `Ok(None)` for nothing now, `Ok(Some(0))` at the end.
pub fn receive(socket: &OwnedFd, to: &mut [u8]) -> Result<Option<usize>> {
    loop {
        match net::recv(socket, &mut *to, RecvFlags::DONTWAIT) {
            Ok((bytes, _)) => return Ok(Some(bytes)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Has the system acknowledge at once what it has received (tcp(7): TCP_QUICKACK).
pub fn acknowledge_at_once(socket: &OwnedFd) {
    // One that refuses acknowledges as well, only later.
    let _ = sockopt::set_tcp_quickack(socket, true);
}

/// Has the system close a connection whose other end's system was silent for about so long during the handshake: it did not
/// acknowledge what was sent, or, if nothing was, probes (tcp(7): TCP_USER_TIMEOUT, TCP_KEEPIDLE). A process that does nothing
/// is not silent, its system acknowledges.
pub fn detect_silence(socket: &OwnedFd, timeout_ns: u64) -> Result<()> {
    sockopt::set_tcp_user_timeout(socket, (timeout_ns / 1_000_000).min(u64::from(u32::MAX)) as u32)?;
    probe(socket, timeout_ns)
}

/// As [`detect_silence`], for a connection in force; 0 has the system decide. There is no TCP_USER_TIMEOUT, because it ends
/// connections whose receiver computes while its buffer is full, too. The system's probes tell of a silent host where nothing
/// is to be sent, and [`opal_core::sys::is_silent`] where something is.
pub fn watch_host(socket: &OwnedFd, timeout_ns: u64) -> Result<()> {
    sockopt::set_tcp_user_timeout(socket, 0)?;
    if timeout_ns == 0 {
        return sockopt::set_socket_keepalive(socket, false);
    }
    sockopt::set_tcp_keepcnt(socket, PROBES)?;
    probe(socket, timeout_ns)
}

/// Probes at whole seconds, at most 32767.
fn probe(socket: &OwnedFd, timeout_ns: u64) -> Result<()> {
    let probe = Duration::from_secs((timeout_ns / 3_000_000_000).clamp(1, KEEPALIVE_MAX_S));
    sockopt::set_tcp_keepidle(socket, probe)?;
    sockopt::set_tcp_keepintvl(socket, probe)?;
    sockopt::set_socket_keepalive(socket, true)
}

/// As many bytes as there is room for.
pub fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<usize> {
    loop {
        match net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Err(Errno::AGAIN) => return Ok(0),
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// As many bytes of all, one after the other, as there is room for.
pub fn send_all(socket: &OwnedFd, parts: [&[u8]; 3]) -> Result<usize> {
    let whole: usize = parts.iter().map(|part| part.len()).sum();
    if whole <= TOGETHER_BYTES {
        let mut together: Vec<u8, TOGETHER_BYTES> = Vec::new();
        parts.iter().for_each(|part| together.extend_from_slice(part).expect("`whole` fits"));
        return send(socket, &together);
    }
    let parts = parts.map(IoSlice::new);
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    loop {
        match net::sendmsg(socket, &parts, &mut SendAncillaryBuffer::default(), flags) {
            Err(Errno::AGAIN) => return Ok(0),
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// As [`receive`], to one place and then another.
pub fn receive_both(socket: &OwnedFd, first: &mut [u8], second: &mut [u8]) -> Result<Option<usize>> {
    let mut parts = [IoSliceMut::new(first), IoSliceMut::new(second)];
    loop {
        match net::recvmsg(socket, &mut parts, &mut RecvAncillaryBuffer::default(), RecvFlags::DONTWAIT) {
            Ok(message) => return Ok(Some(message.bytes)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Has epoll watch a descriptor.
pub fn watch(epoll: &OwnedFd, what: &OwnedFd, token: u64, events: epoll::EventFlags) -> Result<()> {
    epoll::add(epoll, what, epoll::EventData::new_u64(token), events)
}

/// Changes what epoll watches a descriptor for.
pub fn rewatch(epoll: &OwnedFd, what: &OwnedFd, token: u64, events: epoll::EventFlags) -> Result<()> {
    epoll::modify(epoll, what, epoll::EventData::new_u64(token), events)
}

/// What the system's reason means, for people.
pub fn why(errno: Errno) -> String {
    let text = match errno {
        Errno::CONNREFUSED => "nobody listens there (the peer has ended, or a firewall refuses)",
        // A route that is a black hole makes an argument invalid.
        Errno::NETUNREACH | Errno::INVAL => "there is no route to it",
        Errno::HOSTUNREACH => "no host has this address there, or a router or a firewall refuses",
        Errno::BADMSG => "what arrived is not what the peer sent",
        Errno::TIMEDOUT => "the other end does not answer",
        Errno::CONNRESET | Errno::PIPE => "the other end closed it",
        Errno::ADDRINUSE => "the port is in use",
        Errno::ADDRNOTAVAIL => "the own address is gone, or no port is left",
        Errno::ACCESS | Errno::PERM => "the system does not permit it",
        Errno::MFILE | Errno::NFILE => "too many descriptors are open; `ulimit -n` may be too low",
        Errno::NOBUFS | Errno::NOMEM => "the system has no memory for it",
        Errno::BADF => "its descriptor is closed (EBADF)",
        Errno::NOTSOCK => "its descriptor is no socket any more (ENOTSOCK)",
        other => return format!("{other}"),
    };
    String::from(text)
}

fn stream(address: IpAddr, limits: &Limits) -> Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    // Accepted connections inherit the listener's buffers.
    if limits.send_buffer > 0 {
        sockopt::set_socket_send_buffer_size(&socket, limits.send_buffer)?;
    }
    if limits.receive_buffer > 0 {
        sockopt::set_socket_recv_buffer_size(&socket, limits.receive_buffer)?;
    }
    Ok(socket)
}

const BACKLOG: i32 = 4096;
const KEEPALIVE_MAX_S: u64 = 32_767;
/// A third of the time passes before the first one, and a third after each.
const PROBES: u32 = 2;
/// Copying so much is cheaper than a second part of a call.
pub const TOGETHER_BYTES: usize = 512;
