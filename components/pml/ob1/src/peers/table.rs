//! The peers of a communicator by rank.

use crate::peers::endpoint::{self, Connected, Endpoint, Queued};
use crate::peers::sources::AnySource;
use crate::wire;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::framework::pml::{PeerTraffic, Traffic};
use ompi_core::process;
use opal_core::mem;
use opal_core::sync::{AtomicPtr, Once, Ordering};

/// The peers of a communicator; what its `pml` pointer points to. It does not change, but for the counting of messages.
///
/// Those that are near are connected when the table is made. Of all others nothing is in it, and of its pages only those take memory
/// that have a peer with queues.
pub struct PeerTable {
    // By rank.
    fast_routes: Box<[FastRoute]>,
    any_source: AnySource,
    traffic: Once<Arc<Traffic>>,
    /// Null, or the first of as many as there are peers, in `traffic`: for [`crate::raw::counted`].
    pub counts: AtomicPtr<PeerTraffic>,
}

/// A place for a peer that has queues; zeros where there is none.
pub struct FastRoute {
    /// The process.
    pub queued: Option<&'static Queued>,
    /// As [`Route::context_bits`].
    pub context_bits: u64,
}

opal_core::zeroed_fields!(FastRoute { queued: Option<&'static Queued>, context_bits: u64 });

/// One peer of a communicator.
#[derive(Clone, Copy)]
pub struct Route {
    /// The process.
    pub endpoint: &'static Endpoint,
    /// [`wire::context_bits`] of the communicator there, for user's messages.
    pub context_bits: u64,
}

impl PeerTable {
    /// Connects to the peers that are near.
    pub fn new(comm: &Communicator) -> Result<PeerTable> {
        let members = comm.peers().members();
        let mut near = Vec::new();
        for ((rank, process), context) in (0..).zip(members.iter()).zip(comm.peer_contexts().iter()) {
            if process::get(process).is_near() {
                near.push((rank, endpoint::connected(process)?, wire::context_bits(context, false)));
            }
        }
        Ok(PeerTable::of(members.len(), &near, (!comm.is_inter()).then_some(comm.rank)))
    }

    /// Of so many peers, of which these are connected (rank, process, [`Route::context_bits`]) and this process may be one.
    pub fn of(peers: usize, near: &[(u32, &'static Connected, u64)], own: Option<u32>) -> PeerTable {
        let queued = near.iter().filter_map(|(rank, connected, bits)| Some((*rank, connected.queued()?, *bits)));
        let mut fast_routes = mem::zeroed::<FastRoute>(peers);
        for (rank, queued, context_bits) in queued.clone() {
            fast_routes[rank as usize] = FastRoute { queued: Some(queued), context_bits };
        }
        let others = peers - usize::from(own.is_some());
        let any_source = AnySource::new(queued.map(|(rank, queued, _)| (rank, queued)), own, others);
        PeerTable { fast_routes, any_source, traffic: Once::new(), counts: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// The place of a rank; `None` if it is no rank.
    #[inline(always)]
    pub fn fast(&self, rank: i32) -> Option<&FastRoute> {
        self.fast_routes.get(rank as u32 as usize)
    }

    /// The peer of a rank of the communicator, which the caller has checked; connects to it if nobody has before.
    #[inline(always)]
    pub fn to(&self, rank: i32, comm: &Communicator) -> Result<Route> {
        let FastRoute { queued, context_bits } = self.fast_routes[rank as usize];
        match queued {
            Some(Queued { endpoint, .. }) => Ok(Route { endpoint, context_bits }),
            None => far(rank, comm),
        }
    }

    /// What counts the user's messages on the communicator: made when a tool asks for it.
    pub fn count(&self, comm: &Communicator) -> Arc<Traffic> {
        let traffic =
            self.traffic.call_once(|| Arc::new(Traffic::new(comm.context, comm.peers().members().to_vec().into())));
        // Release pairs with the Acquire in `raw::counted`.
        self.counts.store(traffic.by_rank().as_ptr().cast_mut(), Ordering::Release);
        traffic.clone()
    }

    /// What counts the user's messages, if a tool asked for it.
    #[inline(always)]
    pub fn traffic(&self) -> Option<&Traffic> {
        self.traffic.get().map(|traffic| &**traffic)
    }

    /// All peers, for receives from MPI_ANY_SOURCE.
    #[inline(always)]
    pub fn any_source(&self) -> &AnySource {
        &self.any_source
    }
}

#[inline(never)]
fn far(rank: i32, comm: &Communicator) -> Result<Route> {
    let endpoint = endpoint::to(comm.peers().members().at(rank as usize))?;
    let context = comm.peer_contexts().at(rank as usize);
    Ok(Route { endpoint, context_bits: wire::context_bits(context, false) })
}
