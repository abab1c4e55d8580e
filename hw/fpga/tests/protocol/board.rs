//! Nodes, cable and machine as the model check sees them. Every wire may be late by any time: a step of its own
//! carries the level of a wire to its other end.

#[path = "board/barriers.rs"]
mod barriers;
#[path = "board/follower.rs"]
mod follower;
#[path = "board/joining.rs"]
mod joining;
#[path = "board/wires.rs"]
mod wires;

use crate::explore::Model;
use crate::member::{self, Modes};
use hw_fpga::machine::Channel;
use hw_fpga::node::Node;

/// What may happen in a run.
#[derive(Clone, Debug)]
pub struct Board {
    /// How many nodes, at most 4.
    pub nodes: usize,
    /// The machine as published (true), or a channel that nodes join and leave.
    pub classic: bool,
    /// The members of one communicator after the other.
    pub teams: Vec<u8>,
    /// Barriers of each.
    pub barriers: u8,
    /// Equal readings that a node believes.
    pub readings: u8,
    /// A wait may end by a timeout, at any time.
    pub timeouts: bool,
    /// Wires that may get stuck, at any time.
    pub stuck: u8,
    /// Wrong readings of a wire that bounces; at most `longest` in a row.
    pub bounces: u8,
    /// See `bounces`.
    pub longest: u8,
    /// Times that an output bounces at a machine without a filter.
    pub unfiltered: u8,
    /// Times that the machine may lose everything and begin anew.
    pub restarts: u8,
    /// Between two barriers a node waits until the one before is over for all: the program's own messages do that.
    pub meets: bool,
    /// Nodes whose port another rank shares: a mask, on the machine as published. The node comes to a barrier when its
    /// follower has, which leaves when the node has.
    pub followers: u8,
    /// Mistakes on purpose, to see that the check finds them.
    pub mistake: Mistake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// The read-back line is not looked at.
    Unseen,
    /// A member that is late takes its toggle back and does its barrier in software.
    Retracts,
    /// A machine that begins anew takes what its flip-flops come up with for what the wires say.
    Cold,
    /// Members check the read-back line when they have set their bit, and not again when all have.
    ChecksOnce,
    /// A member that is outside hears of a stop at its next barrier only.
    HearsLate,
    /// A node comes to a barrier before its follower has.
    AheadOfFollower,
    /// A follower leaves when its node has come, not when it leaves.
    FollowerAhead,
    /// A member that waits for its follower does not hear of a stop.
    DeafWhileGathering,
    /// Nobody waits until all have stopped before it tells its number: no mistake, as it turns out.
    TellsEarly,
    /// Each acts on its own number, not on the highest.
    OwnNumber,
    /// A leaver does not wait for the others.
    LeavesAlone,
    /// A joiner's output is what it happens to be.
    JoinsUnread,
}

type Step = member::Step<Joining>;

/// The steps of becoming a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Joining {
    /// Wants the channel: has not put its output yet.
    Wanted,
    /// Its output is put; the bit comes next.
    Put,
    /// The bit is set; the others are met next.
    Set,
    /// All have set theirs since, and the read-back line was looked at once more.
    Checked,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Member {
    node: Node,
    step: Step,
    team: u8,
    entered: u8,
    /// Barriers of this team that are over for this member.
    over: u8,
    /// Wrong readings in a row.
    wrong: u8,
    /// Joining: the read-back line was high.
    good: bool,
    /// In an agreement: the number that it told the others.
    said: Option<u8>,
    /// Its follower: barriers that it has come to, and that are over for it.
    follower_entered: u8,
    follower_over: u8,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    member: [Member; 4],
    out: u8,
    seen: u8,
    /// Wires that the machine has not heard since it began anew.
    unheard: u8,
    channel: Channel,
    joined: u8,
    armed: u8,
    shown: u8,
    shown_present: u8,
    stuck_out: u8,
    stuck_in: u8,
    stuck_left: u8,
    bounces_left: u8,
    unfiltered_left: u8,
    restarts_left: u8,
    /// A member of the current team said that it stopped.
    stop: bool,
    dead: bool,
    /// Of the current team.
    modes: Modes,
}

/// A step and whose it is.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "whose step it was is read by Debug alone, in a counterexample")]
pub enum Move {
    GivesUp(usize),
    Puts(usize),
    Sets(usize),
    Checks(usize),
    Meets(usize),
    Enters(usize),
    HearsAndEnters(usize),
    HearsOutside(usize),
    EntersStopped(usize),
    Reads(usize),
    ReadsWrong(usize),
    Stops(usize),
    ReadsAndTells(usize),
    AllDecide,
    Software(usize),
    FollowerComes(usize),
    FollowerGoes(usize),
    WantsToLeave(usize),
    Leaves(usize),
    OutArrives(usize),
    LevelArrives(usize),
    Tick,
    OutSticks(usize),
    LevelSticks(usize),
    OutBounces(usize),
    Restart,
}

impl Model for Board {
    type State = State;
    type Step = Move;

    fn begin(&self) -> State {
        let first = |node: usize| (0..self.teams.len()).find(|team| self.teams[*team] >> node & 1 == 1);
        let start = if self.classic { Step::Running } else { Step::Joining(Joining::Wanted) };
        let member = |node| Member {
            node: Node::joined(false, self.readings),
            step: if first(node).is_some() { start } else { Step::Gone },
            team: first(node).unwrap_or(0) as u8,
            entered: 0,
            over: 0,
            wrong: 0,
            good: false,
            said: None,
            follower_entered: 0,
            follower_over: 0,
        };
        State {
            member: core::array::from_fn(member),
            out: 0,
            seen: 0,
            unheard: 0,
            channel: Channel { level: false, known: true },
            joined: if self.classic { self.teams[0] } else { 0 },
            armed: if self.classic { self.teams[0] } else { 0 },
            shown: 0,
            shown_present: if self.classic { self.teams[0] } else { 0 },
            stuck_out: 0,
            stuck_in: 0,
            stuck_left: self.stuck,
            bounces_left: self.bounces,
            unfiltered_left: self.unfiltered,
            restarts_left: self.restarts,
            stop: false,
            dead: false,
            modes: Modes::default(),
        }
    }

    fn steps(&self, state: &State, each: &mut dyn FnMut(Move, Result<State, String>)) {
        for node in 0..self.nodes {
            self.moves_of(state, node, each);
            self.moves_of_follower(state, node, each);
            self.wires_of(state, node, each);
        }
        let mut next = state.clone();
        // As published, there are no members until every wire was heard.
        if state.unheard == 0 || !self.classic {
            next.channel.tick(state.seen.into(), state.joined.into());
            each(Move::Tick, Ok(next));
        }
        if self.may_decide(state) {
            each(Move::AllDecide, self.decide(state));
        }
        if state.restarts_left > 0 {
            let mut next = state.clone();
            next.restarts_left -= 1;
            next.channel = Channel::default();
            next.seen = 0;
            next.unheard = if self.mistake == Mistake::Cold { 0 } else { (1 << self.nodes) - 1 };
            if !self.classic {
                (next.joined, next.armed) = (0, 0);
            }
            each(Move::Restart, Ok(next));
        }
    }

    fn may_end(&self, state: &State) -> bool {
        let gone = |node: usize| {
            let member = &state.member[node];
            member.step == Step::Gone && (self.followers >> node & 1 == 0 || member.follower_over == self.barriers)
        };
        (0..self.nodes).all(gone)
    }
}

impl Board {
    /// What a node itself can do.
    pub(super) fn moves_of(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
        let bit = 1 << node;
        let (member, team) = (&state.member[node], self.teams[state.member[node].team as usize]);
        let mut next = state.clone();
        let own = &mut next.member[node];
        match member.step {
            Step::Joining(_) => self.joins(state, node, each),
            Step::Running => self.runs(state, node, each),
            Step::Waiting => self.waits(state, node, each),
            Step::Software => {
                let all_there = self.of(team).all(|other| state.member[other].entered >= member.entered);
                if all_there {
                    own.step = Step::Running;
                    each(Move::Software(node), self.over(next, node, true));
                }
            }
            Step::Leaving => {
                let alone = self.mistake == Mistake::LeavesAlone;
                let all_there = |other: usize| {
                    let other = &state.member[other];
                    other.step == Step::Leaving || other.step == Step::Gone || other.team != member.team
                };
                if state.stop && !member.node.is_dead() {
                    own.node.stop();
                    own.step = Step::Stopped;
                    each(Move::Stops(node), Ok(next));
                } else if alone || self.of(team).all(all_there) {
                    // A member that leaves a machine as published only leaves the communicator.
                    if !self.classic && !member.node.is_dead() {
                        next.joined &= !bit;
                    }
                    self.goes_on(&mut next, node);
                    each(Move::Leaves(node), Ok(next));
                }
            }
            Step::Stopped if member.said.is_none() => {
                let stopped = |other: usize| state.member[other].step == Step::Stopped;
                if self.mistake == Mistake::TellsEarly || self.of(team).all(stopped) {
                    // At any time after all have stopped: what is still on its way can only be missed by all.
                    own.said = Some(member.node.settled(self.reading(state, node)) as u8);
                    each(Move::ReadsAndTells(node), Ok(next));
                }
            }
            Step::Stopped | Step::Gone => {}
        }
        // The agreement does not wait for a member that comes to its next barrier meanwhile.
        let between = member.step == Step::Stopped && member.entered == member.over && member.over < self.barriers;
        if between && self.follower_has_come(state, node) {
            each(Move::EntersStopped(node), Ok(self.entered(state, node, false)));
        }
    }

    fn of(&self, team: u8) -> impl Iterator<Item = usize> {
        (0..self.nodes).filter(move |node| team >> node & 1 == 1)
    }
}
