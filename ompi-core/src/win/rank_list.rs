//! Ranks of an epoch of MPI_Win_post or MPI_Win_start: mostly some neighbours, which need no memory of their own.

use alloc::sync::Arc;
use core::ops::Deref;

/// Ranks in the order of the group; a copy is cheap.
#[derive(Clone, Debug)]
pub enum RankList {
    /// So many of these.
    Few(usize, [u32; FEW]),
    /// More than that.
    Many(Arc<[u32]>),
}

/// Faces of a block in three dimensions, and one to spare.
const FEW: usize = 7;

impl RankList {
    /// Of `count` ranks; `None` if one of them is none.
    pub fn of(count: usize, mut ranks: impl Iterator<Item = Option<u32>>) -> Option<RankList> {
        if count > FEW {
            return ranks.collect::<Option<Arc<[u32]>>>().map(RankList::Many);
        }
        let mut few = [0; FEW];
        for (place, rank) in few.iter_mut().zip(&mut ranks) {
            *place = rank?;
        }
        Some(RankList::Few(count, few))
    }
}

impl Deref for RankList {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            RankList::Few(count, ranks) => &ranks[..*count],
            RankList::Many(ranks) => ranks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_it_was_made_of() {
        for count in 0..FEW + 3 {
            let ranks = (0..count).map(|rank| Some(rank as u32 * 3));
            let list = RankList::of(count, ranks.clone()).unwrap();
            assert!(ranks.eq(list.iter().map(|rank| Some(*rank))));
            assert_eq!(list.clone().len(), count);
            let with_none = (0..count).map(|rank| (rank + 1 < count).then_some(rank as u32));
            assert_eq!(RankList::of(count, with_none).is_some(), count == 0);
        }
    }
}
