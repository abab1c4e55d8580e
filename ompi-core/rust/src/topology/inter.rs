//! Communicators between two groups. MPI 5.0 §7.6.

use super::{Communicator, Group, IntraCommunicator, Owned, Rank, SimpleCommunicator};
use crate::Result;
use crate::raw::checked_tag;
use ompi_core::comm::{self, Hints};

/// A communicator whose messages go from one group to another. Ranks of processes are those of the other group.
///
/// ```no_run
/// # let universe = test_singleton::universe();
/// use ompi::{topology::InterCommunicator, traits::*};
///
/// // Even ranks simulate, odd ones draw. Rank 0 of each half leads it.
/// let world = universe.world();
/// let half = world.split(Some(world.rank() % 2), 0)?.unwrap();
/// let there = InterCommunicator::new(&half, 0, &world, 1 - world.rank() % 2, 7)?;
/// if world.rank() == 0 {
///     there.process_at_rank(0).send(&[1.0; 64])?;
/// } else if world.rank() == 1 {
///     let (picture, _) = there.process_at_rank(0).receive_vec::<f64>()?;
///     assert_eq!(picture.len(), 64);
/// }
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Debug)]
pub struct InterCommunicator(Owned);

impl InterCommunicator {
    /// Joins the group of `local` with another one that calls at the same time. `leader` is a rank of `local`; for it,
    /// `remote_leader` is the rank of the other group's leader in `peer`. Collective over both groups.
    pub fn new<C, P>(local: &C, leader: Rank, peer: &P, remote_leader: Rank, tag: i32) -> Result<InterCommunicator>
    where
        C: IntraCommunicator + ?Sized,
        P: Communicator + ?Sized,
    {
        let owned = local.owned();
        let made = checked_tag(tag)
            .and_then(|tag| comm::create_inter(owned.comm(), leader, Some(peer.owned().comm()), remote_leader, tag));
        let made = owned.checked("InterCommunicator::new", made)?;
        Ok(InterCommunicator(Owned::made(made, owned.life().clone())))
    }

    /// One that was just made.
    pub(crate) fn of(owned: Owned) -> InterCommunicator {
        InterCommunicator(owned)
    }

    /// Waits until the communication on it is complete on both sides, and ends it. Processes of another job that have no other
    /// communicator in common are parted by that: from then on the failure of one job is none of the other. Collective.
    pub fn disconnect(self) -> Result<()> {
        self.0.disconnect()
    }

    /// The other group.
    pub fn remote_group(&self) -> Group {
        let remote = self.0.comm().remote.clone().expect("it has two groups");
        Group::of(remote, self.0.life().clone())
    }

    /// Number of processes in the other group.
    pub fn remote_size(&self) -> Rank {
        self.target_size()
    }

    /// A communicator of both groups; those who say `high` come behind the others. All of one group say the same.
    pub fn merge(&self, high: bool) -> Result<SimpleCommunicator> {
        let made = self.0.checked("merge", comm::merge(self.0.comm(), high))?;
        Ok(SimpleCommunicator::of(Owned::made(made, self.0.life().clone())))
    }

    /// The same groups in a new context, with the attributes of this one.
    pub fn duplicate(&self) -> Result<InterCommunicator> {
        let made = comm::duplicate(self.0.handle(), self.0.comm(), Hints::default());
        Ok(InterCommunicator(Owned::made(self.0.checked("duplicate", made)?, self.0.life().clone())))
    }
}

impl Communicator for InterCommunicator {
    #[inline(always)]
    fn owned(&self) -> &Owned {
        &self.0
    }
}
