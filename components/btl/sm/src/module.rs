//! The module: its own inbox and the ways to the others'.

use crate::inbox::Inbox;
use crate::poll::Receiving;
use crate::raw::Shared;
use crate::send::Outbound;
use crate::{params, wire};
use alloc::boxed::Box;
use opal_core::framework::btl::{self, Caps, Endpoint, Peer};
use opal_core::framework::shmem;
use opal_core::queue::fifo::{self, Consumer};
use opal_core::sync::{AtomicBool, ConditionalLock, Once};
use opal_core::{Error, Result, message, verbose};

/// Endpoints are local ranks.
pub struct Sm {
    caps: Caps,
    address: wire::Address,
    inbox: Inbox,
    shmem: &'static dyn shmem::Module,
    outbound: Box<[Once<Outbound>]>,
    pub(crate) receiving: ConditionalLock<Receiving>,
    demotes: bool,
    /// A queue to some peer was found broken while sending; the next poll tells.
    pub(crate) broken: AtomicBool,
}

impl Sm {
    /// Over its own inbox.
    pub fn new(inbox: Inbox, address: wire::Address, shmem: &'static dyn shmem::Module) -> Sm {
        let ranks = address.local_size;
        let receiving = ConditionalLock::new(Receiving::new(ranks));
        let outbound = (0..ranks).map(|_| Once::new()).collect();
        let demotes = params::CLDEMOTE.flag() && fifo::can_demote();
        let broken = AtomicBool::new(false);
        Sm { caps: caps(), address, inbox, shmem, outbound, receiving, demotes, broken }
    }

    /// The way to a rank of the node, if it is connected.
    #[inline(always)]
    pub fn outbound(&self, rank: u32) -> Option<&Outbound> {
        self.outbound.get(rank as usize)?.get()
    }

    /// Its own inbox.
    #[inline(always)]
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Its abilities.
    #[inline(always)]
    pub fn abilities(&self) -> &Caps {
        &self.caps
    }

    /// What it publishes.
    pub fn own_address(&self) -> wire::Address {
        self.address
    }

    /// Checks a peer's address and maps its inbox.
    pub fn connect(&self, peer: &Peer<'_>) -> Result<Option<Endpoint>> {
        if peer.is_self || !peer.same_node {
            return Ok(None);
        }
        let address = self.checked_address(peer)?;
        let rank = address.local_rank;
        let Some(place) = self.outbound.get(rank as usize) else {
            return Err(Error::Malformed);
        };
        if rank == self.address.local_rank || address.local_size != self.address.local_size || place.get().is_some() {
            message!(
                "btl/sm: process {} says that it is rank {rank} of {} on this node, which cannot be; check how the job was launched",
                peer.index,
                address.local_size
            );
            return Err(Error::Malformed);
        }
        let segment = self.shmem.attach(&address.inbox)?;
        if !self.address.hears(&address) || !address.hears(&self.address) {
            self.inbox.set_unreachable();
            verbose!(btl::FRAMEWORK, 10, "sm: process {} and this one cannot ring each other's doorbells", peer.index);
        }
        let door = self.inbox.door();
        let inbox = Inbox::new(Shared::of(segment), address.local_size, door, address.door).ok_or(Error::Malformed)?;
        let from = Consumer::new(self.inbox.queue(rank));
        place.call_once(|| Outbound::new(inbox, from, self.address.local_rank, peer.index, self.demotes));
        self.receiving.lock().admit(rank, peer.index);
        opal_core::wait::add_local_rank(&address.cores, address.registered);
        Ok(Some(Endpoint(rank)))
    }

    fn checked_address(&self, peer: &Peer<'_>) -> Result<wire::Address> {
        match wire::Address::wire_id_of(peer.address) {
            Some(wire::WIRE_ID) => wire::Address::parse(peer.address).ok_or(Error::Malformed),
            other => {
                message!(
                    "btl/sm: process {} speaks wire format {:#010x}, this one {:#010x} ({}); \
                     all processes of a job need the same version of this library",
                    peer.index,
                    other.unwrap_or(0),
                    wire::WIRE_ID,
                    wire::FORMAT
                );
                Err(Error::Mismatch)
            }
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
        put: false,
        get: false,
        wire_id: wire::WIRE_ID,
    }
}
