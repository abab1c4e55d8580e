//! A transport whose messages the simulation carries, in the order of each sender.

use crate::calls::Message;
use crate::host;
use opal_core::framework::btl::{self, AmId, Caps, Endpoint, Full, Module, Peer, RemoteCaps, deliver, unknown_peer};
use opal_core::mca;
use opal_core::mem::Untrusted;
use opal_core::{Error, Result};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The component, and its module.
pub struct Wire;

const CAPS: Caps = Caps {
    immediate_bits: 56,
    inline_bytes: 0,
    eager_bytes: 4096,
    send_bytes: PAYLOAD_BYTES,
    latency_ns: 10_000,
    bandwidth_mbps: 10_000,
    exclusivity: 100,
    remote: RemoteCaps::NONE,
    wire_id: 0x51,
};

impl mca::Component for Wire {
    fn info(&self) -> &'static mca::Info {
        &INFO
    }
}

impl btl::Component for Wire {
    fn query(&self) -> core::result::Result<Vec<&'static dyn Module>, mca::Declined> {
        Ok(vec![&COMPONENT])
    }
}

impl Module for Wire {
    fn caps(&self) -> &Caps {
        &CAPS
    }

    fn address(&self) -> Vec<u8> {
        host::rank().to_le_bytes().to_vec()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        let address = peer.address.try_into().map_err(|_| Error::Malformed)?;
        if peer.is_self {
            return Ok(None);
        }
        PEERS.lock().expect("no panics").insert(peer.index);
        Ok(Some(Endpoint(u32::from_le_bytes(address))))
    }

    fn remove_peer(&self, _endpoint: Endpoint) {}

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let mut payload = vec![0; bytes];
        if !host::has_room(to.0) {
            return Err(Full);
        }
        fill(payload.as_mut_ptr());
        host::send(to.0, Message { from: host::rank(), am: u32::from(am), immediate, bytes }, &payload);
        Ok(())
    }

    fn poll(&self) -> usize {
        let mut payload = vec![0; PAYLOAD_BYTES];
        let mut taken = 0;
        while taken < MESSAGES_PER_POLL.max(MESSAGES_PER_RANK * host::size() as usize) {
            let Some(Message { from, am, immediate, bytes }) = host::receive(&mut payload) else { break };
            if !PEERS.lock().expect("no panics").contains(&from) {
                unknown_peer(from);
            }
            deliver(am as AmId, from, immediate, Untrusted::of(&payload[..bytes]));
            taken += 1;
        }
        if taken == 0 && WAITS.load(Ordering::Relaxed) {
            host::pass();
            // Whoever takes it for a message looks again, and neither sleeps nor asks a real clock.
            return 1;
        }
        taken
    }
}

/// Runs a call of MPI that waits: others run meanwhile.
pub fn waiting<R>(call: impl FnOnce() -> R) -> R {
    WAITS.store(true, Ordering::Relaxed);
    let result = call();
    WAITS.store(false, Ordering::Relaxed);
    result
}

// Those that were added.
static PEERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
static WAITS: AtomicBool = AtomicBool::new(false);

opal_core::component! {
    /// The simulation's wire.
    pub static COMPONENT: Wire = Wire;
    in opal_core::framework::btl, name "wire", params &[]
}

const PAYLOAD_BYTES: usize = 16 << 10;
const MESSAGES_PER_POLL: usize = 16;
// With a thousand ranks nothing is to be seen of a shorter poll.
const MESSAGES_PER_RANK: usize = 4;
