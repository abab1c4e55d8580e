//! Communicators of one group, and others made from them.

use super::{Communicator, Group, Owned, Process, Rank, SimpleCommunicator};
use crate::info::Info;
use crate::{Error, ErrorClass, Result};
use alloc::format;
use ompi_core::comm::{self, Hints};

/// A communicator of one group. All but [`this_process`](Self::this_process) and
/// [`split_by_subgroup`](Self::split_by_subgroup) are collective: every process of it calls.
pub trait IntraCommunicator: Communicator {
    /// This process.
    fn this_process(&self) -> Process<'_> {
        self.process_at_rank(self.rank())
    }

    /// The same processes in a new context, with the attributes and the topology of this one.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let library = world.duplicate()?;
    /// assert_eq!((library.rank(), library.size()), (world.rank(), world.size()));
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn duplicate(&self) -> Result<SimpleCommunicator> {
        let owned = self.owned();
        let made = comm::duplicate(owned.handle(), owned.comm(), Hints::default());
        made_from(owned, "duplicate", made.map(Some)).map(expected)
    }

    /// As [`duplicate`](Self::duplicate), with hints.
    fn duplicate_with_info(&self, info: &Info) -> Result<SimpleCommunicator> {
        let owned = self.owned();
        let made = comm::duplicate(owned.handle(), owned.comm(), Hints::of(Some(info.inner())));
        made_from(owned, "duplicate_with_info", made.map(Some)).map(expected)
    }

    /// The processes of equal color, with ranks by key, then by rank here. `None` for who has no color.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let row = world.split(Some(world.rank() / 2), -world.rank())?.unwrap();
    /// assert!(row.size() <= 2);
    /// assert!(world.split(None, 0)?.is_none());
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn split(&self, color: Option<i32>, key: i32) -> Result<Option<SimpleCommunicator>> {
        let owned = self.owned();
        let color = color.map(|color| u64::from(color as u32));
        made_from(owned, "split", comm::split(owned.comm(), color, key, Hints::default()))
    }

    /// The processes of equal color, in the order of their ranks here. `None` for who has no color.
    fn split_by_color(&self, color: Option<i32>) -> Result<Option<SimpleCommunicator>> {
        self.split(color, 0)
    }

    /// The processes of equal color, with ranks by key. `None` for who has no color.
    fn split_by_color_with_key(&self, color: Option<i32>, key: i32) -> Result<Option<SimpleCommunicator>> {
        self.split(color, key)
    }

    /// The processes that share memory with this one, with ranks by key.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let node = universe.world().split_shared(0)?;
    /// assert_eq!(node.size(), 1);
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn split_shared(&self, key: i32) -> Result<SimpleCommunicator> {
        let owned = self.owned();
        made_from(owned, "split_shared", comm::split_type(owned.comm(), TYPE_SHARED, key, None)).map(expected)
    }

    /// A communicator for a group, which all processes name. `None` for who is not in it.
    ///
    /// ```
    /// # let universe = test_singleton::universe();
    /// use ompi::traits::*;
    ///
    /// let world = universe.world();
    /// let first = world.group().include(&[0])?;
    /// if let Some(alone) = world.split_by_subgroup_collective(&first)? {
    ///     assert_eq!(alone.size(), 1);
    /// }
    /// # Ok::<(), ompi::Error>(())
    /// ```
    fn split_by_subgroup_collective(&self, group: &Group) -> Result<Option<SimpleCommunicator>> {
        let owned = self.owned();
        made_from(owned, "split_by_subgroup_collective", comm::create(owned.comm(), group.inner()))
    }

    /// A communicator for a group, called by its members only; `tag` tells calls of several threads apart. `None` for the
    /// empty group.
    fn split_by_subgroup(&self, group: &Group, tag: i32) -> Result<Option<SimpleCommunicator>> {
        let owned = self.owned();
        if tag < 0 {
            let why = format!("{tag} is negative; tags run from 0 to {}", i32::MAX);
            return Err(owned.raise("split_by_subgroup", Error::new(ErrorClass::Tag, "tag", why).0));
        }
        made_from(owned, "split_by_subgroup", comm::create_group(owned.comm(), group.inner(), tag))
    }
}

impl IntraCommunicator for SimpleCommunicator {}

/// The communicator of a handle that a function made from another one, or its failure after the error handler.
fn made_from(
    owned: &Owned,
    function: &'static str,
    made: ompi_core::error::Result<Option<usize>>,
) -> Result<Option<SimpleCommunicator>> {
    let made = owned.checked(function, made)?;
    Ok(made.map(|handle| SimpleCommunicator::of(Owned::made(handle, owned.life().clone()))))
}

fn expected(made: Option<SimpleCommunicator>) -> SimpleCommunicator {
    made.expect("every process gets one")
}

/// MPI_COMM_TYPE_SHARED.
const TYPE_SHARED: i32 = 221;

impl Process<'_> {
    /// Its rank in another group, if it is there.
    pub fn rank_in(&self, group: &Group) -> Option<Rank> {
        let (owned, rank) = self.parts();
        let member = owned.comm().peers().members().get(usize::try_from(rank).ok()?)?;
        group.inner().rank_of(member).map(|rank| rank as Rank)
    }
}
