//! The system's list of interfaces, and borrowed memory and descriptors.
#![allow(unsafe_code)]

use crate::interfaces::{self, Interface};
use crate::transport::{Token, Transport};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::CStr;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Every interface that is up and has an address of family 4 or 6 that is not link-local.
pub fn interfaces() -> Option<Vec<Interface>> {
    let mut list = core::ptr::null_mut();
    // SAFETY: a place for the list's head.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return None;
    }
    let mut found: Vec<Interface> = Vec::new();
    let mut next = list;
    while !next.is_null() {
        // SAFETY: not null, so an element of the list, which is freed below.
        let one = unsafe { &*next };
        next = one.ifa_next;
        let up = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        if one.ifa_flags & up != up {
            continue;
        }
        let (Some(address), Some(mask)) = (address_of(one.ifa_addr), address_of(one.ifa_netmask)) else { continue };
        if is_link_local(address) {
            continue;
        }
        // SAFETY: every element has a name, zero-terminated.
        let name: String = unsafe { CStr::from_ptr(one.ifa_name) }.to_string_lossy().to_string();
        let prefix = match mask {
            IpAddr::V4(mask) => mask.to_bits().leading_ones(),
            IpAddr::V6(mask) => mask.to_bits().leading_ones(),
        } as u8;
        match found.iter_mut().find(|interface| interface.name == name) {
            Some(interface) => interface.addresses.push((address, prefix)),
            None => {
                let loopback = one.ifa_flags & libc::IFF_LOOPBACK as u32 != 0;
                let mbps = interfaces::speed_mbps(&name, loopback);
                found.push(Interface { name, loopback, mbps, addresses: alloc::vec![(address, prefix)] });
            }
        }
    }
    // SAFETY: the list that getifaddrs made; nothing of it is used any more.
    unsafe { libc::freeifaddrs(list) };
    Some(found)
}

fn address_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: not null; every socket address begins with its family.
    let family = unsafe { (*address).sa_family };
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: the family says so. May be unaligned for all we know.
            let address = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(IpAddr::V4(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr))))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr)))
        }
        _ => None,
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// Whether the other end's system has acknowledged nothing for so long, although something is under way and was sent again, or
/// it was asked twice for room (tcp(7): TCP_INFO). One that has no room for more says so each time.
pub fn is_silent(socket: &OwnedFd, timeout_ms: u64) -> bool {
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

/// Has epoll watch a descriptor whose only meaning is to end a sleep.
pub fn watch_waker(transport: &Transport, descriptor: i32) -> bool {
    // SAFETY: a waker's descriptor stays open as long as the process lives (`wait::Waker`).
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    epoll::add(&transport.epoll, descriptor, epoll::EventData::new_u64(Token::Waker.encode()), EventFlags::IN).is_ok()
}

/// Appends `bytes` bytes that `fill` writes.
pub fn append(to: &mut Vec<u8>, bytes: usize, fill: &mut dyn FnMut(*mut u8)) {
    to.reserve(bytes);
    let length = to.len();
    fill(to.as_mut_ptr().wrapping_add(length));
    // SAFETY: there is room, and `fill` has filled all of it by the contract of `btl::Module::send`.
    unsafe { to.set_len(length + bytes) };
}
