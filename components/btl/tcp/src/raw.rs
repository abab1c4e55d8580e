//! The system's list of interfaces, and the transport's calls.
#![allow(unsafe_code)]

use crate::interfaces::{self, Interface};
use crate::module::Module;
use crate::net::{Net, Token};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::CStr;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use opal_core::Result;
use opal_core::framework::btl::{self, AmId, Caps, Endpoint, Full, PREFIX_BYTES_MAX, Peer, RxMessage};
use opal_core::mem::Untrusted;
use opal_core::progress;
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::BorrowedFd;

/// Every interface that is up and has an address of family 4 or 6 that is not link-local.
pub fn interfaces() -> Option<Vec<Interface>> {
    let mut list = core::ptr::null_mut();
    // SAFETY: a place for the list's immediate.
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

/// Has epoll watch a descriptor whose only meaning is to end a sleep.
pub fn watch_bell(net: &Net, descriptor: i32) -> bool {
    // SAFETY: whoever gives a bell's descriptor keeps it open as long as the process lives (`wait::Waker`).
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    epoll::add(&net.epoll, descriptor, epoll::EventData::new_u64(Token::Waker.encode()), EventFlags::IN).is_ok()
}

/// Appends `bytes` bytes that `fill` writes.
pub fn append(to: &mut Vec<u8>, bytes: usize, fill: &mut dyn FnMut(*mut u8)) {
    to.reserve(bytes);
    let length = to.len();
    fill(to.as_mut_ptr().wrapping_add(length));
    // SAFETY: there is room, and `fill` has filled all of it by the contract of `btl::Module::send`.
    unsafe { to.set_len(length + bytes) };
}

impl btl::Module for Module {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn address(&self) -> Vec<u8> {
        self.published()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.connect(&peer)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        self.forget(endpoint);
    }

    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        assert!(bytes <= self.caps.inline_bytes);
        if bytes == 0 {
            return self.net.send(to, am, immediate, &[]);
        }
        // SAFETY: `payload` is readable for `bytes` by the caller's promise, and `bytes` is not 0.
        self.net.send(to, am, immediate, unsafe { core::slice::from_raw_parts(payload, bytes) })
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        assert!(bytes <= self.caps.send_bytes);
        self.net.send_filled(to, am, immediate, bytes, |queue| append(queue, bytes, fill))
    }

    unsafe fn send_run(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        run: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        assert!(prefix.len() <= PREFIX_BYTES_MAX && prefix.len() + bytes <= self.caps.send_bytes);
        if bytes == 0 {
            return self.net.send(to, am, immediate, prefix);
        }
        // SAFETY: `run` is readable for `bytes` by the caller's promise, and `bytes` is not 0.
        self.net.send_behind(to, am, immediate, prefix, unsafe { core::slice::from_raw_parts(run, bytes) })
    }

    fn flush(&self, to: Endpoint) {
        if let Some(connection) = self.net.connection(to.0) {
            self.net.flush_one(connection);
        }
    }

    fn flush_all(&self) {
        if self.port == 0 {
            self.net.flush();
        }
    }

    fn is_drained(&self) -> bool {
        self.port != 0 || self.net.is_drained()
    }

    fn poll(&self) -> usize {
        // One look covers all interfaces.
        if self.port != 0 {
            return 0;
        }
        // Who looks in vain looks often, and mostly nothing was gathered.
        if progress::has_gathered() {
            self.net.flush();
        }
        let moved = self.net.receiving.lock().poll(self.net);
        if progress::has_gathered() {
            self.net.flush();
        }
        moved
    }

    fn poll_peer(&self, from: Endpoint, _polls: u32) -> Option<RxMessage<'_>> {
        let mut receiving = self.net.receiving.lock();
        let (payload, frame) = receiving.peek(from.0)?;
        let (at, bytes) = (payload.as_ptr(), payload.len());
        // SAFETY: the frame lies in its connection's buffer until `consume`: the caller is the only thread and neither
        // polls nor reads before.
        let payload = unsafe { Untrusted::new(at, bytes) };
        Some(RxMessage { am: frame.kind, immediate: frame.immediate, payload })
    }

    fn consume(&self, from: Endpoint) {
        self.net.receiving.lock().consume(from.0);
    }
}
