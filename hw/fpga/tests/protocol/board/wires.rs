//! The behaviour of the cable, and the values that a node reads.

use super::{Board, Mistake, Move, State};
use hw_fpga::node::Reading;

impl Board {
    /// What the cable can do with a node's wires.
    pub(super) fn wires_of(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
        let bit = 1u8 << node;
        if state.stuck_out & bit == 0 {
            let mut next = state.clone();
            next.seen = state.seen & !bit | state.out & bit;
            next.unheard = state.unheard & !bit;
            each(Move::OutArrives(node), Ok(next));
        }
        if state.stuck_in & bit == 0 {
            let (level, present) = self.at_machine(state, node);
            let mut next = state.clone();
            next.shown = state.shown & !bit | level & bit;
            next.shown_present = state.shown_present & !bit | present & bit;
            each(Move::LevelArrives(node), Ok(next));
        }
        if state.stuck_left > 0 {
            let mut next = state.clone();
            next.stuck_left -= 1;
            next.stuck_out |= bit;
            each(Move::OutSticks(node), Ok(next.clone()));
            next.stuck_out = state.stuck_out;
            next.stuck_in |= bit;
            each(Move::LevelSticks(node), Ok(next));
        }
        // Only an edge bounces: of a wire that the node toggled for the barrier it is or was in.
        if state.unfiltered_left > 0 && (state.seen ^ state.out) & bit == 0 && state.member[node].entered > 0 {
            let mut next = state.clone();
            next.unfiltered_left -= 1;
            next.seen ^= bit;
            each(Move::OutBounces(node), Ok(next));
        }
    }

    pub(super) fn reading(&self, state: &State, node: usize) -> Reading {
        let present = state.shown_present >> node & 1 == 1 || self.mistake == Mistake::Unseen;
        Reading { level: state.shown >> node & 1 == 1, present }
    }

    /// What the machine puts on all nodes' wires.
    fn at_machine(&self, state: &State, _node: usize) -> (u8, u8) {
        let level = if state.channel.level { 0xf } else { 0 };
        let present = match self.classic {
            true if state.channel.known => 0xf,
            true => 0,
            false => state.armed,
        };
        (level, present)
    }

    /// Nothing is on its way on this node's wires, nor in the machine.
    pub(super) fn is_settled(&self, state: &State, node: usize) -> bool {
        let bit = 1u8 << node;
        let (level, present) = self.at_machine(state, node);
        let inward =
            state.stuck_in & bit != 0 || (level ^ state.shown) & bit == 0 && (present ^ state.shown_present) & bit == 0;
        let outward = state.stuck_out & bit != 0 || (state.seen ^ state.out) & bit == 0;
        let mut channel = state.channel;
        channel.tick(state.seen.into(), state.joined.into());
        inward && outward && channel == state.channel
    }
}
