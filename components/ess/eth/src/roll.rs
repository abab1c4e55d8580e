//! Who was heard, and how far each is.

use crate::wire::Said;
use alloc::vec::Vec;
use opal_core::framework::netif::Mac;

/// The ranks of a job as one of them knows them.
#[derive(Debug)]
pub struct Roll {
    own: u32,
    stage: u32,
    ranks: Vec<Option<Heard>>,
    twice: Option<Twice>,
}

/// Another rank.
#[derive(Debug)]
struct Heard {
    card: Mac,
    stage: u32,
    seen: u32,
    addresses: Vec<u8>,
}

/// Two machines say that they are the same rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twice {
    /// Which one.
    pub rank: u32,
    /// The cards of both.
    pub cards: [Mac; 2],
}

impl Roll {
    /// Nobody was heard.
    pub fn new(own: u32, size: u32) -> Roll {
        Roll { own, stage: 0, ranks: (0..size).map(|_| None).collect(), twice: None }
    }

    /// Notes what a rank says that came from a card; true if it wants an answer. `own_card` is where the answer would leave.
    pub fn hear(&mut self, said: &Said<'_>, card: Mac, own_card: Mac) -> bool {
        if said.rank == self.own {
            self.twice = Some(Twice { rank: said.rank, cards: [own_card, card] });
            return false;
        }
        let size = self.ranks.len();
        let Some(place) = self.ranks.get_mut(said.rank as usize).filter(|_| said.size as usize == size) else {
            return false;
        };
        let heard = place.get_or_insert_with(|| {
            let addresses = said.addresses.to_vec();
            Heard { card, stage: 0, seen: 0, addresses }
        });
        if heard.card != card {
            self.twice = Some(Twice { rank: said.rank, cards: [heard.card, card] });
            return false;
        }
        // A late frame says less than one that came before it.
        heard.stage = heard.stage.max(said.stage);
        heard.seen = heard.seen.max(said.seen);
        said.asks && said.seen < self.stage
    }

    /// This rank is one stage further; which one that is.
    pub fn advance(&mut self) -> u32 {
        self.stage += 1;
        self.stage
    }

    /// How far this rank is.
    pub fn stage(&self) -> u32 {
        self.stage
    }

    /// How far all ranks are known to be.
    pub fn seen(&self) -> u32 {
        self.others().map(|heard| heard.map_or(0, |heard| heard.stage)).min().unwrap_or(self.stage).min(self.stage)
    }

    /// Whether all others know that all ranks are that far.
    pub fn is_known(&self, stage: u32) -> bool {
        self.others().all(|heard| heard.is_some_and(|heard| heard.seen >= stage))
    }

    /// The others that are not known to be that far, with their cards as far as they are known.
    pub fn missing(&self, stage: u32) -> impl Iterator<Item = (u32, Option<Mac>)> {
        let ranks = (0..).zip(&self.ranks).filter(|(rank, _)| *rank != self.own);
        let late = move |heard: &Option<Heard>| heard.as_ref().is_none_or(|heard| heard.stage < stage);
        ranks.filter(move |(_, heard)| late(heard)).map(|(rank, heard)| (rank, heard.as_ref().map(|heard| heard.card)))
    }

    /// Two machines that say to be the same rank.
    pub fn twice(&self) -> Option<Twice> {
        self.twice
    }

    /// What another rank published.
    pub fn addresses(&self, rank: u32) -> Option<&[u8]> {
        self.ranks.get(rank as usize)?.as_ref().map(|heard| &heard.addresses[..])
    }

    fn others(&self) -> impl Iterator<Item = Option<&Heard>> {
        (0..).zip(&self.ranks).filter(|(rank, _)| *rank != self.own).map(|(_, heard)| heard.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(rank: u32) -> Mac {
        Mac([2, 0, 0, 0, 0, rank as u8])
    }

    fn said(rank: u32, stage: u32, seen: u32) -> Said<'static> {
        Said { job: 1, rank, size: 3, stage, seen, asks: true, addresses: b"here" }
    }

    #[test]
    fn all_are_awaited() {
        let mut roll = Roll::new(0, 3);
        assert_eq!(roll.advance(), 1);
        assert_eq!((roll.seen(), roll.missing(1).count()), (0, 2));
        // It has not heard of this rank: it needs an answer.
        assert!(roll.hear(&said(2, 1, 0), card(2), card(0)));
        assert_eq!(roll.missing(1).collect::<Vec<_>>(), [(1, None)]);
        assert!(roll.hear(&said(1, 1, 0), card(1), card(0)));
        assert_eq!((roll.seen(), roll.missing(1).count(), roll.is_known(1)), (1, 0, false));
        assert!(!roll.hear(&said(1, 1, 1), card(1), card(0)));
        assert!(!roll.hear(&said(2, 1, 1), card(2), card(0)));
        assert!(roll.is_known(1));
        // Somebody plays an old frame again.
        roll.hear(&said(2, 0, 0), card(2), card(0));
        assert!(roll.is_known(1));
        roll.advance();
        assert_eq!(roll.missing(2).collect::<Vec<_>>(), [(1, Some(card(1))), (2, Some(card(2)))]);
        assert_eq!((roll.addresses(2), roll.addresses(0), roll.addresses(9)), (Some(&b"here"[..]), None, None));
    }

    #[test]
    fn strangers_and_doubles() {
        let mut roll = Roll::new(0, 3);
        assert!(!roll.hear(&said(3, 1, 0), card(3), card(0)));
        assert!(!roll.hear(&Said { size: 4, ..said(1, 1, 0) }, card(1), card(0)));
        assert_eq!((roll.twice(), roll.missing(0).count()), (None, 2));
        roll.hear(&said(1, 1, 0), card(1), card(0));
        roll.hear(&said(1, 1, 0), card(7), card(0));
        assert_eq!(roll.twice(), Some(Twice { rank: 1, cards: [card(1), card(7)] }));
        roll.hear(&said(0, 1, 0), card(7), card(0));
        assert_eq!(roll.twice(), Some(Twice { rank: 0, cards: [card(0), card(7)] }));
    }
}
