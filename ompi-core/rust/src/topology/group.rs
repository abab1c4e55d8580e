//! Groups: ordered sets of processes. MPI 5.0 §7.3.

use super::Rank;
use crate::Result;
use crate::life::{Life, OneThread};
use alloc::sync::Arc;
use core::marker::PhantomData;
use ompi_core::group::{self, Comparison};

/// An ordered set of processes; ranks are places in it.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{topology::GroupRelation, traits::*};
///
/// let all = universe.world().group();
/// let none = all.difference(&all);
/// assert_eq!((all.size(), none.size(), none.rank()), (1, 0, None));
/// assert_eq!(none.union(&all).compare(&all), GroupRelation::Identical);
/// assert_eq!(all.intersection(&none).compare(&all), GroupRelation::Unequal);
/// assert_eq!(all.include(&[0])?.translate_rank(0, &all), Some(0));
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Group {
    inner: Arc<group::Group>,
    life: Arc<Life>,
    here: OneThread,
}

impl Group {
    pub(crate) fn of(inner: Arc<group::Group>, life: Arc<Life>) -> Group {
        Group { inner, life, here: PhantomData }
    }

    /// Number of members.
    pub fn size(&self) -> Rank {
        self.inner.size() as Rank
    }

    /// This process's rank, if it is a member.
    pub fn rank(&self) -> Option<Rank> {
        self.inner.rank().map(|rank| rank as Rank)
    }

    /// The members of this group, then those of the other that are not among them.
    pub fn union(&self, other: &Group) -> Group {
        self.with(self.inner.union(&other.inner))
    }

    /// The members of this group that are in the other one.
    pub fn intersection(&self, other: &Group) -> Group {
        self.with(self.inner.intersection(&other.inner))
    }

    /// The members of this group that are not in the other one.
    pub fn difference(&self, other: &Group) -> Group {
        self.with(self.inner.difference(&other.inner))
    }

    /// The members at these ranks, in this order. `Err(Rank)` for a rank that it does not have or that is named twice.
    pub fn include(&self, ranks: &[Rank]) -> Result<Group> {
        self.inner.check(ranks, "ranks")?;
        Ok(self.with(self.inner.incl(ranks)))
    }

    /// All members but those at these ranks. `Err(Rank)` as for [`include`](Self::include).
    pub fn exclude(&self, ranks: &[Rank]) -> Result<Group> {
        self.inner.check(ranks, "ranks")?;
        Ok(self.with(self.inner.excl(ranks)))
    }

    /// The ranks that triplets of first, last and stride name, for [`include`](Self::include) and
    /// [`exclude`](Self::exclude). `Err(Arg)` for a stride that does not lead from first to last.
    pub fn ranks_of(&self, ranges: &[[Rank; 3]]) -> Result<alloc::vec::Vec<Rank>> {
        Ok(self.inner.ranks_of(ranges)?)
    }

    /// The rank in another group of the member at this rank, if it is there.
    pub fn translate_rank(&self, rank: Rank, other: &Group) -> Option<Rank> {
        let member = self.inner.members().get(usize::try_from(rank).ok()?)?;
        other.inner.rank_of(member).map(|rank| rank as Rank)
    }

    /// As [`translate_rank`](Self::translate_rank) for several.
    pub fn translate_ranks(&self, ranks: &[Rank], other: &Group) -> alloc::vec::Vec<Option<Rank>> {
        ranks.iter().map(|rank| self.translate_rank(*rank, other)).collect()
    }

    /// How it compares with another one.
    pub fn compare(&self, other: &Group) -> GroupRelation {
        match self.inner.compare(&other.inner) {
            Comparison::Ident => GroupRelation::Identical,
            Comparison::Similar => GroupRelation::Similar,
            Comparison::Unequal => GroupRelation::Unequal,
        }
    }

    pub(crate) fn inner(&self) -> &group::Group {
        &self.inner
    }

    fn with(&self, inner: group::Group) -> Group {
        Group { inner: Arc::new(inner), life: self.life.clone(), here: PhantomData }
    }
}

/// How two groups compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupRelation {
    /// The same members in the same order.
    Identical,
    /// The same members in another order.
    Similar,
    /// Other members.
    Unequal,
}
