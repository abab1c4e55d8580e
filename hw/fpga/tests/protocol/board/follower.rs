//! A rank that shares the port of another rank of its node, which drives it.

use super::{Board, Mistake, Move, State, Step};

impl Board {
    /// The other rank of a node's port: it comes by itself, and goes when the node's barrier has ended.
    pub(super) fn moves_of_follower(
        &self,
        state: &State,
        node: usize,
        each: &mut dyn FnMut(Move, Result<State, String>),
    ) {
        let member = &state.member[node];
        if self.followers >> node & 1 == 0 {
            return;
        }
        let met = !self.meets || (0..self.nodes).all(|other| state.member[other].over >= member.follower_over);
        if met && member.follower_entered == member.follower_over && member.follower_entered < self.barriers {
            let mut next = state.clone();
            next.member[node].follower_entered += 1;
            each(Move::FollowerComes(node), Ok(next));
        }
        let end = if self.mistake == Mistake::FollowerAhead { member.entered } else { member.over };
        // A node that is gone has ended them all.
        let ended = end > member.follower_over || member.step == Step::Gone;
        if member.follower_entered > member.follower_over && ended {
            let mut next = state.clone();
            let number = member.follower_entered;
            next.member[node].follower_over = number;
            let absent = self.of(self.teams[0]).find(|other| !self.has_come(state, *other, number));
            let outcome = match absent {
                Some(absent) => Err(format!("the follower of {node} leaves {number} and node {absent} has not come")),
                None => Ok(next),
            };
            each(Move::FollowerGoes(node), outcome);
        }
    }

    /// Whether a node may begin its next barrier, as far as the other rank of its port is concerned.
    pub(super) fn follower_has_come(&self, state: &State, node: usize) -> bool {
        let member = &state.member[node];
        let shares = self.followers >> node & 1 == 1 && self.mistake != Mistake::AheadOfFollower;
        !shares || member.follower_entered > member.entered
    }

    /// Whether all ranks of a node's port have come to a barrier.
    pub(super) fn has_come(&self, state: &State, node: usize, number: u8) -> bool {
        let member = &state.member[node];
        member.entered >= number && (self.followers >> node & 1 == 0 || member.follower_entered >= number)
    }
}
