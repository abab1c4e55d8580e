//! The module: its capabilities, how peers connect, and the calls of `framework::btl`.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::endpoint::PeerEndpoint;
use crate::node::Node;
use crate::raw::Shared;
use crate::rx::Rx;
use crate::rx_segment::RxSegment;
use crate::{params, wire};
use alloc::vec::Vec;
use opal_core::framework::btl::{self, AmId, Caps, Endpoint, Full, Peer, RemoteCaps, RxMessage};
use opal_core::framework::memcpy;
use opal_core::framework::shmem::{self, Segment};
use opal_core::queue::fifo::{self, Consumer};
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicU64, ConditionalLock, Once, Ordering};
use opal_core::{Error, Result, message, verbose};

/// The one module.
pub static MODULE: Once<Sm> = Once::new();

/// Endpoints are local ranks.
pub struct Sm {
    caps: Caps,
    address: wire::Address,
    node: Node,
    shmem: &'static dyn shmem::Module,
    rx: ConditionalLock<Rx>,
    demotes: bool,
}

impl Sm {
    /// Over its own segment.
    pub fn new(segment: RxSegment, address: wire::Address, shmem: &'static dyn shmem::Module) -> Sm {
        let ranks = address.local_size;
        let rx = ConditionalLock::new(Rx::new(address.local_rank, ranks));
        let demotes = params::CLDEMOTE.flag() && fifo::can_demote();
        Sm { caps: caps(), address, node: Node::new(segment, ranks), shmem, rx, demotes }
    }

    /// All ranks of the node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Its own segment.
    pub fn segment(&self) -> &RxSegment {
        &self.node.segment
    }

    /// Checks a peer's address and maps its segment.
    fn connect(&self, peer: &Peer<'_>) -> Result<Option<Endpoint>> {
        if peer.is_self || !peer.same_node {
            return Ok(None);
        }
        let address = self.checked_address(peer)?;
        let rank = address.local_rank;
        let place = self.node.place(rank).ok_or(Error::Malformed)?;
        if rank == self.address.local_rank || address.local_size != self.address.local_size || place.get().is_some() {
            message!(
                "btl/sm: process {} says that it is rank {rank} of {} on this node, which is impossible; check how the job was launched",
                peer.index,
                address.local_size
            );
            return Err(Error::Malformed);
        }
        let segment = self.shmem.attach(&address.segment)?;
        if !self.address.can_wake(&address) || !address.can_wake(&self.address) {
            self.segment().set_unreachable();
            let why = "cannot reach each other's wake-up sockets";
            verbose!(btl::FRAMEWORK, 10, "sm: process {} and this one {why}", peer.index);
        }
        let (shared, wake_socket) = (Shared::of(segment), self.segment().wake_socket());
        let segment = RxSegment::new(shared, address.local_size, wake_socket, address.wake_socket);
        let segment = segment.ok_or(Error::Malformed)?;
        let from = Consumer::new(self.segment().queue(rank));
        let ranks = (rank, self.address.local_rank);
        let endpoint = place.call_once(|| PeerEndpoint::new(segment, from, ranks, peer.index, self.demotes));
        self.rx.lock().register(rank, peer.index);
        if self.segment().is_closed_by(rank) {
            endpoint.fifo_pair().close();
            self.node.broken.store(true, Ordering::Relaxed);
        }
        opal_core::wait::add_sender(address.registered);
        Ok(Some(Endpoint(rank)))
    }

    fn checked_address(&self, peer: &Peer<'_>) -> Result<wire::Address> {
        let theirs = wire::Address::wire_id_of(peer.address);
        btl::check_wire_id("btl/sm", peer.index, theirs, wire::WIRE_ID, wire::FORMAT)?;
        wire::Address::parse(peer.address).ok_or(Error::Malformed)
    }
}

impl btl::Module for Sm {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn address(&self) -> Vec<u8> {
        self.address.to_bytes()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.connect(&peer)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        if let Some(peer) = self.node.endpoint(endpoint.0) {
            peer.fifo_pair().close();
            self.rx.lock().drop_rank(endpoint.0);
        }
    }

    fn peer_ended(&self, endpoint: Endpoint) {
        self.node.set_ended(endpoint.0);
    }

    #[inline]
    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let endpoint = self.node.endpoint(to.0).ok_or(Full)?;
        endpoint.send(&self.node.broken, |producer, awaited| {
            // SAFETY: `payload` is readable for `bytes` by the caller's promise.
            unsafe { producer.push_inline(am, immediate, payload, bytes, awaited) }
        })
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let endpoint = self.node.endpoint(to.0).ok_or(Full)?;
        endpoint.send(&self.node.broken, |producer, awaited| producer.push(am, immediate, bytes, None, awaited, fill))
    }

    // As the default, but the run gets lines of its own: copies between two lines that do not lie alike take a tenth longer.
    unsafe fn send_run(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        run: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let endpoint = self.node.endpoint(to.0).ok_or(Full)?;
        let prefix_bytes = prefix.len();
        let fill = |place: *mut u8| {
            // SAFETY: `place` has room for the prefix and the run.
            unsafe { memcpy::copy(place, prefix.as_ptr(), prefix_bytes) };
            // SAFETY: as above; the run is readable by the caller's promise.
            unsafe { memcpy::copy(place.wrapping_add(prefix_bytes), run, bytes) };
        };
        endpoint.send(&self.node.broken, |producer, awaited| {
            producer.push(am, immediate, prefix_bytes + bytes, Some(prefix_bytes), awaited, fill)
        })
    }

    fn shared_word(&self, peer: Endpoint, own: bool, index: u32) -> Option<&AtomicU64> {
        if own {
            return self.segment().shared_word(peer.0, index);
        }
        self.node.endpoint(peer.0)?.shared_word(index)
    }

    fn shared_pool(&self, owner: Option<Endpoint>) -> Option<Segment> {
        match owner {
            None => Some(self.segment().shared_pool()),
            Some(owner) => Some(self.node.endpoint(owner.0)?.shared_pool()),
        }
    }

    fn poll(&self) -> usize {
        self.rx.lock().poll(&self.node)
    }

    fn fifo_pair(&self, peer: Endpoint) -> Option<&FifoPair> {
        Some(self.node.endpoint(peer.0)?.fifo_pair())
    }

    fn wake(&self, peer: Endpoint) {
        if let Some(endpoint) = self.node.endpoint(peer.0) {
            endpoint.wake();
        }
    }

    fn poll_peer(&self, from: Endpoint, polls: u32) -> Option<RxMessage<'_>> {
        let peeked = self.fifo_pair(from)?.peek(polls)?;
        Some(RxMessage { am: peeked.kind(), immediate: peeked.immediate, payload: peeked.payload() })
    }

    fn consume(&self, from: Endpoint) {
        if let Some(fifo_pair) = self.fifo_pair(from) {
            fifo_pair.take();
        }
    }
}

fn caps() -> Caps {
    let send_bytes = params::FRAGMENT_SIZE.size().clamp(fifo::INLINE_BYTES, fifo::PAYLOAD_BYTES);
    Caps {
        immediate_bits: fifo::IMMEDIATE_BITS,
        inline_bytes: fifo::INLINE_BYTES,
        eager_bytes: params::EAGER_LIMIT.size().clamp(fifo::INLINE_BYTES, send_bytes),
        send_bytes,
        latency_ns: 150,
        bandwidth_mbps: 80_000,
        exclusivity: 1024,
        remote: RemoteCaps::NONE,
        wire_id: wire::WIRE_ID,
    }
}

/// Whether this is the address of the one module.
#[cfg(ompi_direct = "btl/sm")]
fn is_own(module: *const ()) -> bool {
    MODULE.get().is_some_and(|own| core::ptr::eq((&raw const *own).cast(), module))
}

#[cfg(ompi_direct = "btl/sm")]
opal_core::direct_btl!(Sm, |module: *const ()| is_own(module));
