//! A member's barriers: it comes, waits, is told that all are there or stops. Members that stopped agree on the outcome.

use super::{Board, Mistake, Move, State, Step};
use hw_fpga::node::{Entry, Node, Reading, Verdict};

impl Board {
    /// Between two barriers.
    pub(super) fn runs(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
        let (member, team) = (&state.member[node], self.teams[state.member[node].team as usize]);
        let mut next = state.clone();
        let deaf = match self.mistake {
            Mistake::HearsLate => true,
            Mistake::DeafWhileGathering => !self.follower_has_come(state, node) && member.over < self.barriers,
            _ => false,
        };
        if state.stop && !member.node.is_dead() && !deaf {
            next.member[node].node.stop();
            next.member[node].step = Step::Stopped;
            each(Move::HearsOutside(node), Ok(next.clone()));
        }
        if self.meets && self.of(team).any(|other| state.member[other].over < member.over) {
            return;
        }
        if member.over == self.barriers {
            next = state.clone();
            next.member[node].step = Step::Leaving;
            each(Move::WantsToLeave(node), Ok(next));
            return;
        }
        if !self.follower_has_come(state, node) {
            return;
        }
        each(Move::Enters(node), Ok(self.entered(state, node, false)));
        if state.stop {
            each(Move::HearsAndEnters(node), Ok(self.entered(state, node, true)));
        }
    }

    pub(super) fn waits(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
        let bit = 1u8 << node;
        let reading = self.reading(state, node);
        let mut next = state.clone();
        next.member[node].wrong = 0;
        let over = next.member[node].node.look(reading);
        if over {
            next.member[node].step = Step::Running;
        }
        each(Move::Reads(node), if over { self.over(next, node, false) } else { Ok(next) });
        if state.bounces_left > 0 && state.member[node].wrong < self.longest {
            let mut next = state.clone();
            next.bounces_left -= 1;
            next.member[node].wrong += 1;
            let over = next.member[node].node.look(Reading { level: !reading.level, ..reading });
            if over {
                next.member[node].step = Step::Running;
            }
            each(Move::ReadsWrong(node), if over { self.over(next, node, false) } else { Ok(next) });
        }
        if self.timeouts || state.stop {
            let mut next = state.clone();
            if self.mistake == Mistake::Retracts {
                next.out ^= bit;
                next.member[node].step = Step::Software;
                next.member[node].node = Node::joined(next.out & bit != 0, self.readings);
            } else {
                next.member[node].node.stop();
                next.member[node].step = Step::Stopped;
            }
            next.stop = true;
            each(Move::Stops(node), Ok(next));
        }
    }

    pub(super) fn entered(&self, state: &State, node: usize, heard: bool) -> State {
        let bit = 1u8 << node;
        let mut next = state.clone();
        let own = &mut next.member[node];
        own.entered += 1;
        own.step = match own.node.enter(heard) {
            Entry::Write(level) => {
                next.out = state.out & !bit | if level { bit } else { 0 };
                Step::Waiting
            }
            Entry::Stopped => Step::Stopped,
            Entry::Software => Step::Software,
        };
        next
    }

    /// A barrier is over for a member: everybody must have come, and everybody must have done it in the same way.
    pub(super) fn over(&self, mut next: State, node: usize, software: bool) -> Result<State, String> {
        let team = self.teams[next.member[node].team as usize];
        let number = next.member[node].entered;
        next.member[node].over = number;
        if let Some(absent) = self
            .of(team)
            .find(|other| next.member[*other].team == next.member[node].team && !self.has_come(&next, *other, number))
        {
            return Err(format!("node {node} leaves barrier {number} and node {absent} has not come"));
        }
        next.modes.note(number, software)?;
        Ok(next)
    }

    pub(super) fn may_decide(&self, state: &State) -> bool {
        let told = |node: usize| state.member[node].step == Step::Stopped && state.member[node].said.is_some();
        self.teams.iter().any(|team| self.of(*team).all(told))
    }

    /// All have stopped and told their number: the highest decides.
    pub(super) fn decide(&self, state: &State) -> Result<State, String> {
        let members: Vec<usize> = (0..self.nodes).filter(|node| state.member[*node].said.is_some()).collect();
        let highest = members.iter().filter_map(|node| state.member[*node].said).max().unwrap_or(0).into();
        let mut next = state.clone();
        next.dead = true;
        for node in members {
            next.member[node].said = None;
            let own = state.member[node].said.unwrap_or(0).into();
            let highest = if self.mistake == Mistake::OwnNumber { own } else { highest };
            let verdict = next.member[node].node.decide(highest);
            match verdict.map_err(|_| format!("node {node} contradicts {highest}"))? {
                Verdict::Nothing => next.member[node].step = Step::Running,
                Verdict::Software => next.member[node].step = Step::Software,
                Verdict::Over => {
                    next.member[node].step = Step::Running;
                    next = self.over(next, node, false)?;
                }
            }
        }
        Ok(next)
    }
}
