//! How a node becomes a member of a channel, and what it does after it has left one.

use super::{Board, Joining, Mistake, Modes, Move, State, Step};
use hw_fpga::node::Node;

impl Board {
    pub(super) fn joins(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
        let bit = 1u8 << node;
        let (member, team) = (&state.member[node], self.teams[state.member[node].team as usize]);
        let leads = team.trailing_zeros() as usize == node;
        let leader = &state.member[team.trailing_zeros() as usize];
        let leader_has_set = leader.team == member.team
            && !matches!(leader.step, Step::Joining(Joining::Wanted | Joining::Put))
            && leader.step != Step::Gone;
        let is_at = |other: usize, holds: &dyn Fn(Step) -> bool| {
            let other = &state.member[other];
            other.team == member.team && holds(other.step) || other.team > member.team
        };
        let mut next = state.clone();
        match member.step {
            // The members of a dead channel stay on it, so that nobody's claim succeeds any more.
            Step::Joining(Joining::Wanted | Joining::Put) if state.dead => {
                next.member[node].step = Step::Gone;
                each(Move::GivesUp(node), Ok(next));
            }
            // The other members hear of the channel from the leader, and the wires have settled since.
            Step::Joining(Joining::Wanted) if leads || leader_has_set && self.is_settled(state, node) => {
                let level = if self.mistake == Mistake::JoinsUnread { state.out } else { state.shown };
                next.out = state.out & !bit | level & bit;
                next.member[node].step = Step::Joining(Joining::Put);
                each(Move::Puts(node), Ok(next));
            }
            Step::Joining(Joining::Put) if (!leads || state.joined == 0) && (state.seen ^ state.out) & bit == 0 => {
                next.joined |= bit;
                next.armed |= bit;
                next.member[node].step = Step::Joining(Joining::Set);
                if leads {
                    (next.stop, next.modes) = (false, Modes::default());
                }
                each(Move::Sets(node), Ok(next));
            }
            Step::Joining(Joining::Set) => {
                let has_set = |step: Step| !matches!(step, Step::Joining(Joining::Wanted | Joining::Put));
                let once = self.mistake == Mistake::ChecksOnce;
                if (once || self.of(team).all(|other| is_at(other, &has_set))) && self.is_settled(state, node) {
                    next.member[node].step = Step::Joining(Joining::Checked);
                    next.member[node].good = self.reading(state, node).present;
                    each(Move::Checks(node), Ok(next));
                }
            }
            Step::Joining(Joining::Checked) => {
                let has_checked =
                    |step: Step| !matches!(step, Step::Joining(Joining::Wanted | Joining::Put | Joining::Set));
                if !self.of(team).all(|other| is_at(other, &has_checked)) {
                    return;
                }
                next.member[node].node = Node::joined(state.out & bit != 0, self.readings);
                next.member[node].step = Step::Running;
                if self.of(team).any(|other| !state.member[other].good) {
                    // All are told so, and nobody uses the channel.
                    next.dead = true;
                    next.member[node].step = Step::Gone;
                }
                each(Move::Meets(node), Ok(next));
            }
            _ => {}
        }
    }

    /// To the next team; with a dead channel all further ones are in software from the beginning.
    pub(super) fn goes_on(&self, next: &mut State, node: usize) {
        let from = next.member[node].team as usize + 1;
        let team = (from..self.teams.len()).find(|team| self.teams[*team] >> node & 1 == 1);
        let own = &mut next.member[node];
        (own.step, own.team) = match team {
            Some(team) if !next.dead => (Step::Joining(Joining::Wanted), team as u8),
            _ => (Step::Gone, from as u8 - 1),
        };
        (own.entered, own.over, own.good) = (0, 0, false);
        own.node = Node::joined(false, self.readings);
        if own.step == Step::Gone {
            own.entered = u8::MAX >> 1;
        }
    }
}
