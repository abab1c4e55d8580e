//! Where the user's messages with the peers of a communicator are counted.

use alloc::boxed::Box;
use ompi_core::framework::pml::PeerTraffic;
use opal_core::mem::{self, Zeroed};

/// By rank, so that the fast path asks nothing: of a peer that has queues it is always somewhere. Of all others nothing is in it.
pub struct Counts(Box<[Place]>);

/// Null where there is no queue.
#[derive(Clone, Copy)]
struct Place(*const PeerTraffic);

// SAFETY: zeros are null.
unsafe impl Zeroed for Place {}
// SAFETY: leads to atomics.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// Nobody reads it: for peers whose messages no tool has asked for.
static UNREAD: PeerTraffic = PeerTraffic::nothing();

impl Counts {
    /// Of so many peers, of which these ranks have queues; nobody wants to know.
    pub fn unread(peers: usize, queued: impl Iterator<Item = u32>) -> Counts {
        Counts::of(peers, queued.map(|rank| (rank, &UNREAD)))
    }

    /// Of so many peers, of which these ranks have queues.
    pub fn of<'a>(peers: usize, queued: impl Iterator<Item = (u32, &'a PeerTraffic)>) -> Counts {
        let mut places = mem::zeroed::<Place>(peers);
        queued.for_each(|(rank, traffic)| places[rank as usize] = Place(traffic));
        Counts(places)
    }

    /// What counts those of a rank.
    ///
    /// # Safety
    /// The rank has queues; what it was made `of` lives.
    #[inline(always)]
    pub unsafe fn peer(&self, rank: i32) -> &PeerTraffic {
        // SAFETY: there are as many as ranks.
        let Place(place) = unsafe { *self.0.get_unchecked(rank as u32 as usize) };
        // SAFETY: not null, since the rank has queues; the caller's promise.
        unsafe { &*place }
    }
}
