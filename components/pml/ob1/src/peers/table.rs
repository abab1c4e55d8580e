//! The peers of a communicator by rank.

use crate::peers::endpoint::{self, Endpoint};
use crate::peers::sources::AnySource;
use crate::wire;
use alloc::boxed::Box;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::framework::pml::{PeerTraffic, Traffic};
use opal_core::sync::{AtomicPtr, Once, Ordering};

/// The peers of a communicator; what its `pml` pointer points to. It does not change, but for
/// the counting of messages.
pub struct PeerTable {
    routes: Box<[Route]>,
    any_source: AnySource,
    traffic: Once<Arc<Traffic>>,
    /// Null, or the first of as many as there are routes, in `traffic`: for [`crate::raw::counted`].
    pub counts: AtomicPtr<PeerTraffic>,
}

/// One peer of a communicator.
pub struct Route {
    /// The process.
    pub endpoint: &'static Endpoint,
    /// [`wire::context_bits`] of the communicator there, for user's messages.
    pub context_bits: u64,
}

impl PeerTable {
    /// Connects to all peers.
    pub fn new(comm: &Communicator) -> Result<PeerTable> {
        let ranks = comm.peers().members().iter().zip(comm.peer_contexts());
        let route = |(process, context): (&u32, &u32)| {
            Ok(Route { endpoint: endpoint::to(*process)?, context_bits: wire::context_bits(*context, false) })
        };
        let routes: Result<Box<[Route]>> = ranks.map(route).collect();
        Ok(PeerTable::of(routes?, (!comm.is_inter()).then_some(comm.rank)))
    }

    /// Of these peers, of which this process may be one.
    pub fn of(routes: Box<[Route]>, own: Option<u32>) -> PeerTable {
        let any_source = AnySource::new(routes.iter().map(|route| route.endpoint), own);
        PeerTable { routes, any_source, traffic: Once::new(), counts: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// The peer of a rank; `None` if it is no rank.
    #[inline(always)]
    pub fn get(&self, rank: i32) -> Option<&Route> {
        self.routes.get(rank as u32 as usize)
    }

    /// The peer of a rank, which the caller has checked.
    #[inline(always)]
    pub fn to(&self, rank: i32) -> &Route {
        &self.routes[rank as usize]
    }

    /// What counts the user's messages on the communicator of this number: made when a tool asks for it.
    pub fn count(&self, context: u32) -> Arc<Traffic> {
        let processes = || self.routes.iter().map(|route| route.endpoint.process).collect();
        let traffic = self.traffic.call_once(|| Arc::new(Traffic::new(context, processes())));
        // Release pairs with the Acquire in `raw::counted`.
        self.counts.store(traffic.by_rank().as_ptr().cast_mut(), Ordering::Release);
        traffic.clone()
    }

    /// What counts the user's messages, if a tool asked for it.
    #[inline(always)]
    pub fn traffic(&self) -> Option<&Traffic> {
        self.traffic.get().map(|traffic| &**traffic)
    }

    /// How many peers there are.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.routes.len()
    }

    /// All peers, for receives from MPI_ANY_SOURCE.
    #[inline(always)]
    pub fn any_source(&self) -> &AnySource {
        &self.any_source
    }
}
