//! Nodes, cable and machine as the model check sees them. Every wire may be late by any time; what a wire says is
//! carried to its other end by a step of its own.

use crate::explore::Model;
use hw_fpga::machine::Channel;
use hw_fpga::node::{Entry, Node, Reading, Verdict};

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
    /// Who is late takes its toggle back and does its barrier in software.
    Retracts,
    /// A machine that begins anew takes what its flip-flops come up with for what the wires say.
    Cold,
    /// Members check the read-back line when they have set their bit, and not again when all have.
    ChecksOnce,
    /// Who is outside hears of a stop at its next barrier only.
    HearsLate,
    /// A node comes to a barrier before its follower has.
    AheadOfFollower,
    /// A follower leaves when its node has come, not when it leaves.
    FollowerAhead,
    /// Who waits for its follower does not hear of a stop.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// Wants the channel: has not put its output yet.
    Joining,
    /// Its output is put; the bit comes next.
    Put,
    /// The bit is set; the others are met next.
    Set,
    /// All have set theirs since, and the read-back line was looked at once more.
    Checked,
    Running,
    Waiting,
    Stopped,
    /// In a software barrier.
    Software,
    Leaving,
    Gone,
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
    /// Barriers of the current team that ended in hardware (bit 0, 2, …) or in software (bit 1, 3, …).
    modes: u16,
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
        let start = if self.classic { Step::Running } else { Step::Joining };
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
            modes: 0,
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
    fn moves_of(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
        let bit = 1 << node;
        let (member, team) = (&state.member[node], self.teams[state.member[node].team as usize]);
        let mut next = state.clone();
        let own = &mut next.member[node];
        match member.step {
            Step::Joining | Step::Put | Step::Set | Step::Checked => self.joins(state, node, each),
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
                    // Who leaves a machine as published only leaves the communicator.
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
        // The agreement does not wait for who comes to its next barrier meanwhile.
        let between = member.step == Step::Stopped && member.entered == member.over && member.over < self.barriers;
        if between && self.follower_has_come(state, node) {
            each(Move::EntersStopped(node), Ok(self.entered(state, node, false)));
        }
    }

    /// Between two barriers.
    fn runs(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
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

    /// The other rank of a node's port: it comes by itself, and goes when the node's barrier has ended.
    fn moves_of_follower(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
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
    fn follower_has_come(&self, state: &State, node: usize) -> bool {
        let member = &state.member[node];
        let shares = self.followers >> node & 1 == 1 && self.mistake != Mistake::AheadOfFollower;
        !shares || member.follower_entered > member.entered
    }

    /// Whether all ranks of a node's port have come to a barrier.
    fn has_come(&self, state: &State, node: usize, number: u8) -> bool {
        let member = &state.member[node];
        member.entered >= number && (self.followers >> node & 1 == 0 || member.follower_entered >= number)
    }

    fn joins(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
        let bit = 1u8 << node;
        let (member, team) = (&state.member[node], self.teams[state.member[node].team as usize]);
        let leads = team.trailing_zeros() as usize == node;
        let leader = &state.member[team.trailing_zeros() as usize];
        let leader_has_set = leader.team == member.team
            && !matches!(leader.step, Step::Joining | Step::Put)
            && leader.step != Step::Gone;
        let is_at = |other: usize, holds: &dyn Fn(Step) -> bool| {
            let other = &state.member[other];
            other.team == member.team && holds(other.step) || other.team > member.team
        };
        let mut next = state.clone();
        match member.step {
            // The members of a dead channel stay on it, so that nobody's claim succeeds any more.
            Step::Joining | Step::Put if state.dead => {
                next.member[node].step = Step::Gone;
                each(Move::GivesUp(node), Ok(next));
            }
            // Who does not lead hears of the channel from who does, and the wires have settled since.
            Step::Joining if leads || leader_has_set && self.is_settled(state, node) => {
                let level = if self.mistake == Mistake::JoinsUnread { state.out } else { state.shown };
                next.out = state.out & !bit | level & bit;
                next.member[node].step = Step::Put;
                each(Move::Puts(node), Ok(next));
            }
            Step::Put if (!leads || state.joined == 0) && (state.seen ^ state.out) & bit == 0 => {
                next.joined |= bit;
                next.armed |= bit;
                next.member[node].step = Step::Set;
                if leads {
                    (next.stop, next.modes) = (false, 0);
                }
                each(Move::Sets(node), Ok(next));
            }
            Step::Set => {
                let has_set = |step: Step| !matches!(step, Step::Joining | Step::Put);
                let once = self.mistake == Mistake::ChecksOnce;
                if (once || self.of(team).all(|other| is_at(other, &has_set))) && self.is_settled(state, node) {
                    next.member[node].step = Step::Checked;
                    next.member[node].good = self.reading(state, node).present;
                    each(Move::Checks(node), Ok(next));
                }
            }
            Step::Checked => {
                let has_checked = |step: Step| !matches!(step, Step::Joining | Step::Put | Step::Set);
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

    fn waits(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
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

    /// What the cable can do with a node's wires.
    fn wires_of(&self, state: &State, node: usize, each: &mut dyn FnMut(Move, Result<State, String>)) {
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

    fn entered(&self, state: &State, node: usize, heard: bool) -> State {
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
    fn over(&self, mut next: State, node: usize, software: bool) -> Result<State, String> {
        let team = self.teams[next.member[node].team as usize];
        let number = next.member[node].entered;
        next.member[node].over = number;
        if let Some(absent) = self
            .of(team)
            .find(|other| next.member[*other].team == next.member[node].team && !self.has_come(&next, *other, number))
        {
            return Err(format!("node {node} leaves barrier {number} and node {absent} has not come"));
        }
        let (mine, other) = (1 << (2 * number + u8::from(software)), 1 << (2 * number + u8::from(!software)));
        if next.modes & other != 0 {
            return Err(format!("barrier {number} is in hardware for some and in software for others"));
        }
        next.modes |= mine;
        Ok(next)
    }

    fn may_decide(&self, state: &State) -> bool {
        let told = |node: usize| state.member[node].step == Step::Stopped && state.member[node].said.is_some();
        self.teams.iter().any(|team| self.of(*team).all(told))
    }

    /// All have stopped and told their number: the highest decides.
    fn decide(&self, state: &State) -> Result<State, String> {
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

    /// To the next team; with a dead channel all further ones are in software from the beginning.
    fn goes_on(&self, next: &mut State, node: usize) {
        let from = next.member[node].team as usize + 1;
        let team = (from..self.teams.len()).find(|team| self.teams[*team] >> node & 1 == 1);
        let own = &mut next.member[node];
        (own.step, own.team) = match team {
            Some(team) if !next.dead => (Step::Joining, team as u8),
            _ => (Step::Gone, from as u8 - 1),
        };
        (own.entered, own.over, own.good) = (0, 0, false);
        own.node = Node::joined(false, self.readings);
        if own.step == Step::Gone {
            own.entered = u8::MAX >> 1;
        }
    }

    fn reading(&self, state: &State, node: usize) -> Reading {
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
    fn is_settled(&self, state: &State, node: usize) -> bool {
        let bit = 1u8 << node;
        let (level, present) = self.at_machine(state, node);
        let inward =
            state.stuck_in & bit != 0 || (level ^ state.shown) & bit == 0 && (present ^ state.shown_present) & bit == 0;
        let outward = state.stuck_out & bit != 0 || (state.seen ^ state.out) & bit == 0;
        let mut channel = state.channel;
        channel.tick(state.seen.into(), state.joined.into());
        inward && outward && channel == state.channel
    }

    fn of(&self, team: u8) -> impl Iterator<Item = usize> {
        (0..self.nodes).filter(move |node| team >> node & 1 == 1)
    }
}
