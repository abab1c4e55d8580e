//! What the members of one channel tell each other: that they stopped, the number of their last barrier, that they want
//! to leave. Nothing here waits; a caller that waits calls `advance` again.

use crate::device::Device;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use hw_fpga::node::{Contradiction, Node, Verdict};
use opal_core::sync::Mutex;

/// One communicator's use of a channel, on one member.
pub struct Team {
    /// The same for all members.
    pub name: u64,
    /// Which wires.
    pub channel: usize,
    /// Ranks in MPI_COMM_WORLD.
    pub members: Box<[u32]>,
    /// This member's place among them.
    pub own: usize,
    state: Mutex<State>,
}

struct State {
    node: Node,
    /// The members that said that they stopped, a bit each.
    stopped: u64,
    numbers: Vec<Option<u64>>,
    left: u64,
    leaving: bool,
    verdict: Option<Result<Verdict, Contradiction>>,
    gone: bool,
}

/// What one member tells all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamMessage {
    /// It writes the channel no more.
    Stopped,
    /// All have stopped; the last barrier that it knows to be over.
    Number(u64),
    /// It has done its last barrier here.
    Leaves,
}

impl Team {
    /// After setup.
    pub fn new(name: u64, channel: usize, node: Node, members: Box<[u32]>, own: usize) -> Team {
        let numbers = vec![None; members.len()];
        let state = State { node, stopped: 0, numbers, left: 0, leaving: false, verdict: None, gone: false };
        Team { name, channel, members, own, state: Mutex::new(state) }
    }

    /// With the protocol's state.
    pub fn with_node<R>(&self, call: impl FnOnce(&mut Node) -> R) -> R {
        call(&mut self.state.lock().node)
    }

    /// Whether another member stopped.
    pub fn heard_a_stop(&self) -> bool {
        self.state.lock().stopped != 0
    }

    /// A member said something.
    pub fn hear(&self, from: u32, message: TeamMessage) {
        if let Some(place) = self.members.iter().position(|member| *member == from) {
            self.record(&mut self.state.lock(), place, message);
        }
    }

    /// This member has stopped: what it is to tell the others, if it has not.
    pub fn stopped(&self) -> Option<TeamMessage> {
        let mut state = self.state.lock();
        if state.stopped >> self.own & 1 == 1 {
            return None;
        }
        self.record(&mut state, self.own, TeamMessage::Stopped);
        Some(TeamMessage::Stopped)
    }

    /// Whether `advance` may have something to do although nobody waits in a barrier.
    pub fn is_moving(&self) -> bool {
        let state = self.state.lock();
        state.leaving || state.stopped != 0 && state.verdict.is_none()
    }

    /// This member has done its last barrier here: what it is to tell the others, unless the channel is dead or they know.
    pub fn leaves(&self) -> Option<TeamMessage> {
        let mut state = self.state.lock();
        if state.leaving {
            return None;
        }
        state.leaving = true;
        state.gone = state.node.is_dead();
        if state.gone {
            return None;
        }
        self.record(&mut state, self.own, TeamMessage::Leaves);
        Some(TeamMessage::Leaves)
    }

    /// Goes on as far as it can; what there is to tell the others next.
    pub fn advance(&self, device: &Device) -> Option<TeamMessage> {
        let mut state = self.state.lock();
        let all = u64::MAX >> (64 - self.members.len());
        let own = 1 << self.own;
        // A member that waits for this one's word may be the one that this one waits for, in another operation.
        if state.stopped != 0 && state.stopped & own == 0 && state.node.is_outside() {
            state.node.stop();
            self.record(&mut state, self.own, TeamMessage::Stopped);
            return Some(TeamMessage::Stopped);
        }
        if state.stopped == all && state.numbers[self.own].is_none() {
            let number = state.node.settled(device.read_settled(self.channel));
            self.record(&mut state, self.own, TeamMessage::Number(number));
            return Some(TeamMessage::Number(number));
        }
        if state.verdict.is_none() && state.numbers.iter().all(Option::is_some) {
            let highest = state.numbers.iter().flatten().copied().max().unwrap_or(0);
            state.verdict = Some(state.node.decide(highest));
            // The channel stays this node's: nobody's claim succeeds, and the others' wires no longer matter.
            state.gone = state.leaving;
        }
        if state.leaving && state.left == all && !state.gone {
            device.leave(self.channel);
            state.gone = true;
        }
        None
    }

    /// What the agreement says of this member's barrier, when it is over.
    pub fn verdict(&self) -> Option<Result<Verdict, Contradiction>> {
        self.state.lock().verdict
    }

    /// Whether nothing is left to do.
    pub fn is_gone(&self) -> bool {
        self.state.lock().gone
    }

    fn record(&self, state: &mut State, place: usize, message: TeamMessage) {
        match message {
            TeamMessage::Stopped => state.stopped |= 1 << place,
            TeamMessage::Number(number) => state.numbers[place] = Some(number),
            TeamMessage::Leaves => state.left |= 1 << place,
        }
    }
}

impl TeamMessage {
    /// As words of a message.
    pub fn words(self) -> [u64; 2] {
        match self {
            TeamMessage::Stopped => [1, 0],
            TeamMessage::Number(number) => [2, number],
            TeamMessage::Leaves => [3, 0],
        }
    }

    /// From a peer's words; `None` for what is no message.
    pub fn of(words: [u64; 2]) -> Option<TeamMessage> {
        match words {
            [1, 0] => Some(TeamMessage::Stopped),
            [2, number] => Some(TeamMessage::Number(number)),
            [3, 0] => Some(TeamMessage::Leaves),
            _ => None,
        }
    }
}
