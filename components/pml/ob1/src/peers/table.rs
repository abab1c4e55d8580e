//! The peers of a communicator by rank.

use crate::peers::endpoint::{self, Connected, Endpoint, Queued};
use crate::peers::sources::AnySource;
use crate::raw::counters::Counts;
use crate::wire;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::framework::pml::Traffic;
use ompi_core::process;
use opal_core::mem;

/// The peers of a communicator; what its `pml` pointer points to. It does not change: where
/// messages are to be counted another one takes its place.
///
/// Those that are near are connected when the table is made. Of all others nothing is in it, and of its pages only those take memory
/// that have a peer with queues.
pub struct PeerTable {
    // By rank.
    fast_routes: Box<[FastRoute]>,
    any_source: AnySource,
    /// What counts the user's messages with those that have queues: until a tool asks for that, nobody reads it.
    pub counts: Counts,
    traffic: Option<Arc<Traffic>>,
    // The one whose place it took: somebody may use it still.
    _before: Option<Arc<PeerTable>>,
}

/// A place for a peer that has queues; zeros where there is none.
#[derive(Clone, Copy)]
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
        let counts = Counts::unread(peers, queued.clone().map(|(rank, ..)| rank));
        let others = peers - usize::from(own.is_some());
        let any_source = AnySource::new(queued.map(|(rank, queued, _)| (rank, queued)), own, others);
        PeerTable { fast_routes, any_source, counts, traffic: None, _before: None }
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

    /// The same peers with their messages counted.
    pub fn counting(before: Arc<PeerTable>, traffic: Arc<Traffic>) -> PeerTable {
        let peers = before.fast_routes.len();
        let mut fast_routes = mem::zeroed::<FastRoute>(peers);
        let queued = || (0..).zip(&before.fast_routes).filter(|(_, route)| route.queued.is_some());
        queued().for_each(|(rank, route)| fast_routes[rank as usize] = *route);
        let counts = Counts::of(peers, queued().filter_map(|(rank, _)| Some((rank, traffic.peer(rank as i32)?))));
        let any_source = before.any_source.anew();
        PeerTable { fast_routes, any_source, counts, traffic: Some(traffic), _before: Some(before) }
    }

    /// What counts the user's messages, if a tool asked for it.
    #[inline(always)]
    pub fn traffic(&self) -> Option<&Arc<Traffic>> {
        self.traffic.as_ref()
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
