//! The network interfaces of this machine.

use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address of an interface that is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// `eth0`.
    pub name: String,
    /// Of family 4 or 6, and not link-local.
    pub address: IpAddr,
    /// Bits that its network has in common.
    pub prefix: u8,
    /// Leads nowhere else.
    pub is_loopback: bool,
}

/// An entry for each address of each interface that is up; `None` if the system does not list them.
pub fn interfaces() -> Option<Vec<InterfaceAddress>> {
    let mut list = core::ptr::null_mut();
    // SAFETY: a place for the list's head.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return None;
    }
    let mut found = Vec::new();
    let mut next = list;
    while !next.is_null() {
        // SAFETY: not null, so an element of the list, which is freed below.
        let one = unsafe { &*next };
        next = one.ifa_next;
        let up = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        let (Some(address), Some(mask)) = (address_of(one.ifa_addr), address_of(one.ifa_netmask)) else { continue };
        if one.ifa_flags & up != up || is_link_local(address) {
            continue;
        }
        // SAFETY: every element has a name, and a NUL ends it.
        let name = unsafe { CStr::from_ptr(one.ifa_name) }.to_string_lossy().into_owned();
        let prefix = match mask {
            IpAddr::V4(mask) => mask.to_bits().leading_ones(),
            IpAddr::V6(mask) => mask.to_bits().leading_ones(),
        } as u8;
        let is_loopback = one.ifa_flags & libc::IFF_LOOPBACK as u32 != 0;
        found.push(InterfaceAddress { name, address, prefix, is_loopback });
    }
    // SAFETY: the list that getifaddrs made; nothing of it is used any more.
    unsafe { libc::freeifaddrs(list) };
    Some(found)
}

/// What the system says that an interface's link carries, in 10⁶ bits per second; `None` for virtual ones, and without a link.
pub fn link_mbps(name: &str) -> Option<u32> {
    let text = super::read_file(&alloc::format!("/sys/class/net/{name}/speed"))?;
    let number = core::str::from_utf8(&text).ok()?.trim().parse::<u32>().ok();
    // Virtual ones say -1 or nothing.
    number.filter(|mbps| *mbps > 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_there() {
        let all = interfaces().unwrap();
        let own = all.iter().find(|one| one.address == IpAddr::V4(Ipv4Addr::LOCALHOST));
        assert!(own.is_some_and(|one| one.is_loopback && one.prefix == 8), "{all:?}");
    }
}
