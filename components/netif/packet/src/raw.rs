//! Packet sockets, what the system says of interfaces, and the memory of rings.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_ulong};
use core::mem::{size_of, zeroed};
use core::ptr::{NonNull, null_mut};
use opal_core::framework::netif::{Full, HEADER_BYTES, Mac};
use opal_core::sync::{AtomicU32, Ordering};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::io::Errno;

/// A packet socket.
pub struct Socket(OwnedFd);

/// What the system says of an interface.
pub struct Interface {
    /// Its number.
    pub index: u32,
    /// Its address.
    pub mac: Mac,
    /// Bytes behind the header of its longest frame.
    pub mtu: usize,
}

impl Socket {
    /// One that receives nothing yet, and never blocks.
    pub fn new() -> Result<Socket, Errno> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: socket(2) takes no pointers.
        let descriptor = checked(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: a descriptor that the system has just given, and nobody else has.
        let socket = Socket(unsafe { OwnedFd::from_raw_fd(descriptor) });
        // Frames go straight to the driver. A system that refuses that takes the longer way.
        let _ = socket.set(libc::PACKET_QDISC_BYPASS, &1 as &c_int);
        Ok(socket)
    }

    /// Sends a frame. `Err(Full)`: there is no room for it now. A frame that is refused otherwise, by an interface that is down, is lost.
    pub fn send(&self, interface: u32, frame: &[u8]) -> Result<(), Full> {
        let to = address(interface, 0);
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: a frame and an address of these lengths, which the system reads.
        let sent = unsafe {
            libc::sendto(
                self.number(),
                frame.as_ptr().cast(),
                frame.len(),
                flags,
                (&raw const to).cast(),
                ADDRESS_BYTES,
            )
        };
        match sent < 0 && matches!(last_error(), Errno::AGAIN | Errno::NOBUFS | Errno::INTR | Errno::NOMEM) {
            true => Err(Full),
            false => Ok(()),
        }
    }

    /// Whether an interface is up and its cable leads anywhere.
    pub fn is_running(&self, name: &str) -> bool {
        let wanted = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        self.ask(name, libc::SIOCGIFFLAGS as c_ulong).is_ok_and(|answer| {
            // SAFETY: the system has filled in the flags.
            let flags = unsafe { answer.ifr_ifru.ifru_flags };
            flags & wanted == wanted
        })
    }

    fn ask(&self, name: &str, what: c_ulong) -> Result<libc::ifreq, Errno> {
        // SAFETY: all zeros are a value of it.
        let mut request: libc::ifreq = unsafe { zeroed() };
        if name.len() >= request.ifr_name.len() {
            return Err(Errno::NODEV);
        }
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *place = byte as _;
        }
        // SAFETY: these requests read the name and fill in the rest (netdevice(7)).
        checked(unsafe { libc::ioctl(self.number(), what as _, &raw mut request) })?;
        Ok(request)
    }

    fn set<T>(&self, option: c_int, value: &T) -> Result<(), Errno> {
        let bytes = size_of::<T>() as libc::socklen_t;
        // SAFETY: a value of this length, which the system reads.
        let result = unsafe {
            libc::setsockopt(self.number(), libc::SOL_PACKET, option, core::ptr::from_ref(value).cast(), bytes)
        };
        checked(result).map(drop)
    }

    fn number(&self) -> c_int {
        self.0.as_raw_fd()
    }
}

impl Interface {
    /// By its name. `Err(NODEV)`: there is none; `Err(PROTOTYPE)`: it is no Ethernet; `Err(NETDOWN)`: it is down.
    pub fn find(socket: &Socket, name: &str) -> Result<Interface, Errno> {
        let answer = socket.ask(name, libc::SIOCGIFINDEX as c_ulong)?;
        // SAFETY: the system has filled it in.
        let index = unsafe { answer.ifr_ifru.ifru_ifindex } as u32;
        let answer = socket.ask(name, libc::SIOCGIFHWADDR as c_ulong)?;
        // SAFETY: likewise.
        let card = unsafe { answer.ifr_ifru.ifru_hwaddr };
        let answer = socket.ask(name, libc::SIOCGIFMTU as c_ulong)?;
        // SAFETY: likewise.
        let mtu = unsafe { answer.ifr_ifru.ifru_mtu } as usize;
        let answer = socket.ask(name, libc::SIOCGIFFLAGS as c_ulong)?;
        // SAFETY: likewise.
        let flags = unsafe { answer.ifr_ifru.ifru_flags };
        let mac = Mac(core::array::from_fn(|at| card.sa_data[at] as u8));
        if card.sa_family != libc::ARPHRD_ETHER || !mac.is_one_card() || mtu < MTU_LEAST {
            return Err(Errno::PROTOTYPE);
        }
        if flags & libc::IFF_UP as i16 == 0 {
            return Err(Errno::NETDOWN);
        }
        Ok(Interface { index, mac, mtu: mtu.min(MTU_MOST) })
    }
}

/// A socket that receives frames of one type, through memory that it shares with the system.
pub struct Ring {
    socket: Socket,
    memory: NonNull<u8>,
    bytes: usize,
    place_bytes: usize,
}

// SAFETY: the memory is the ring's own; its status words are atomics, and a place is looked at by who holds its `Frame`.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl Ring {
    /// Of this type, of this interface.
    pub fn new(interface: &Interface, ethertype: u16) -> Result<Ring, Errno> {
        let socket = Socket::new()?;
        socket.set(libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as c_int))?;
        // No place crosses the end of a block, since both are powers of two.
        let place_bytes = (PLACE_HEAD_BYTES + HEADER_BYTES + interface.mtu).next_power_of_two();
        let block_bytes = place_bytes.max(opal_core::sys::page_size());
        let bytes = RING_BYTES.max(PLACES_LEAST * place_bytes);
        socket.set(
            libc::PACKET_RX_RING,
            &libc::tpacket_req {
                tp_block_size: block_bytes as u32,
                tp_block_nr: (bytes / block_bytes) as u32,
                tp_frame_size: place_bytes as u32,
                tp_frame_nr: (bytes / place_bytes) as u32,
            },
        )?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of the ring, at an address of the system's choice.
        let memory = unsafe { libc::mmap(null_mut(), bytes, protection, libc::MAP_SHARED, socket.number(), 0) };
        if memory == libc::MAP_FAILED {
            return Err(last_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(Errno::NOMEM)?;
        let ring = Ring { socket, memory, bytes, place_bytes };
        let own = address(interface.index, ethertype);
        // SAFETY: an address of this length, which the system reads.
        checked(unsafe { libc::bind(ring.socket.number(), (&raw const own).cast(), ADDRESS_BYTES) })?;
        Ok(ring)
    }

    /// Readable while frames wait.
    pub fn descriptor(&self) -> i32 {
        self.socket.number()
    }

    /// How many places it has.
    pub fn places(&self) -> usize {
        self.bytes / self.place_bytes
    }

    /// The frame in a place, if the system has put one there. One `Frame` of a place lives at a time: the caller's promise by lock.
    pub fn frame(&self, place: usize) -> Option<Frame<'_>> {
        let at = self.memory.as_ptr().wrapping_add(place % self.places() * self.place_bytes);
        // SAFETY: every place begins with tpacket2_hdr, whose first field is the status, and is aligned; all access to it is atomic.
        let status = unsafe { &*at.cast::<AtomicU32>() };
        // Acquire pairs with the system's barrier between frame and status (tpacket_rcv in net/packet/af_packet.c).
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the place is this process's now; the header lies in it.
        let head = unsafe { at.cast::<libc::tpacket2_hdr>().read() };
        Some(Frame { at, head, place_bytes: self.place_bytes, status })
    }

    /// Frames for which there was no place since the last call.
    pub fn drops(&self) -> u64 {
        let mut counts = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut bytes = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        let (number, place) = (self.socket.number(), &raw mut counts);
        // SAFETY: a place of this length, which the system fills in.
        let result = unsafe {
            libc::getsockopt(number, libc::SOL_PACKET, libc::PACKET_STATISTICS, place.cast(), &raw mut bytes)
        };
        if result == 0 { counts.tp_drops.into() } else { 0 }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made; frames borrow the ring, so none is left.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

/// A frame in its place, which is the system's again when this is dropped.
pub struct Frame<'a> {
    at: *const u8,
    head: libc::tpacket2_hdr,
    place_bytes: usize,
    status: &'a AtomicU32,
}

impl Frame<'_> {
    /// Whether all of it fitted the place.
    pub fn is_whole(&self) -> bool {
        self.head.tp_len == self.head.tp_snaplen
    }

    /// From the first byte of the receiver's address on. Empty if the system says what cannot be.
    pub fn bytes(&self) -> &[u8] {
        let (offset, bytes) = (usize::from(self.head.tp_mac), self.head.tp_snaplen as usize);
        if offset.checked_add(bytes).is_none_or(|end| end > self.place_bytes) {
            return &[];
        }
        // SAFETY: within the place, as was just checked, which the system leaves alone until `drop`.
        unsafe { core::slice::from_raw_parts(self.at.wrapping_add(offset), bytes) }
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        // Release: what was read of the place was read before the system writes there again.
        self.status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

/// In words.
pub fn why(errno: Errno) -> &'static str {
    match errno {
        Errno::PROTOTYPE => "it is no Ethernet",
        Errno::NETDOWN => "it is down; `ip link set NAME up` brings it up",
        Errno::NOMEM | Errno::NOBUFS => "the system has no memory for a ring of frames",
        _ => "the system refuses it",
    }
}

fn address(interface: u32, ethertype: u16) -> libc::sockaddr_ll {
    // SAFETY: all zeros are a value of it.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ethertype.to_be();
    address.sll_ifindex = interface as c_int;
    address
}

fn checked(result: c_int) -> Result<c_int, Errno> {
    if result < 0 { Err(last_error()) } else { Ok(result) }
}

fn last_error() -> Errno {
    // SAFETY: no preconditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: it is this thread's.
    Errno::from_raw_os_error(unsafe { place.read() })
}

const ADDRESS_BYTES: libc::socklen_t = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
/// More than the system puts before a frame in its place: tpacket2_hdr, an address, and what aligns the bytes behind the Ethernet header.
const PLACE_HEAD_BYTES: usize = 96;
/// 2048 frames of 1500 bytes.
const RING_BYTES: usize = 4 << 20;
const PLACES_LEAST: usize = 64;
/// IPv4's least (RFC 791, 3.1): less is no network that a system uses.
const MTU_LEAST: usize = 68;
/// What a frame of btl/eth can say.
const MTU_MOST: usize = 65535;
