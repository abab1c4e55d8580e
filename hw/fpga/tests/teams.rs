//! Teams of nodes that form, use and leave channels of one machine, which may lose its memory at any moment and then
//! gives channels away that old teams believe to own: `hw_fpga::joined` and `hw_fpga::node` together, over every order
//! of events. Wires have no delay here; `protocol.rs` has late ones.

#[path = "protocol/explore.rs"]
mod explore;
#[path = "protocol/member.rs"]
mod member;

use explore::{Model, finds, holds};
use hw_fpga::joined::Joined;
use hw_fpga::machine::Channel;
use hw_fpga::node::{Entry, Node, Reading, Verdict};
use member::Modes;

const NODES: usize = 3;
const TEAMS: usize = 3;
const CHANNELS: usize = 2;

/// What may happen in a run.
#[derive(Clone, Debug)]
struct Job {
    /// The members of each team; its first one leads. The first team has channel 0 from the beginning.
    teams: Vec<u8>,
    /// Barriers of each.
    barriers: u8,
    /// Times that the machine may lose everything.
    restarts: u8,
    mistake: Mistake,
}

/// On purpose, to see that the check finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// A channel that a new machine gave away is joined by members of its old team.
    JoinsAnyway,
    /// Levels of a channel that the machine is known to have forgotten are believed.
    Believes,
    /// Whether it was forgotten is looked at when the barrier is over.
    LooksFirst,
}

type Step = member::Step<Forming>;

/// The steps of becoming a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Forming {
    /// No member of a channel yet.
    Wanted,
    /// Its output is put, for this channel; the command comes next.
    Trying(u8),
    /// It has its answer.
    Asked,
    /// All have; it has looked at the read-back line once more.
    Checked,
}

/// One node in one team.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Member {
    node: Node,
    step: Step,
    entered: u8,
    over: u8,
    /// The machine confirmed it, and still when it was asked again.
    joined: bool,
    good: bool,
    level: bool,
    /// In an agreement: the number that it told the others.
    said: Option<u8>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// The machine: members of each channel, nodes that it got a command from, channels.
    members: [u8; CHANNELS],
    armed: u8,
    channel: [Channel; CHANNELS],
    /// The nodes' outputs.
    out: [u8; CHANNELS],
    /// What the nodes remember.
    joined: [Joined; NODES],
    /// By team and node.
    member: [[Member; NODES]; TEAMS],
    /// By team: what its leader got.
    found: [Option<Option<u8>>; TEAMS],
    stop: [bool; TEAMS],
    /// By team.
    modes: [Modes; TEAMS],
    restarts_left: u8,
}

/// A step, its team and its node.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "whose step it was is read by Debug alone, in a counterexample")]
enum Move {
    Puts(usize, usize),
    Commands(usize, usize),
    Refuses(usize, usize),
    Checks(usize, usize),
    Meets(usize, usize),
    Enters(usize, usize),
    Reads(usize, usize),
    Stops(usize, usize),
    Tells(usize, usize),
    Decides(usize),
    Software(usize, usize),
    WantsToLeave(usize, usize),
    Leaves(usize, usize),
    Tick(usize),
    Restart,
}

type Each<'a> = &'a mut dyn FnMut(Move, Result<State, String>);

impl Model for Job {
    type State = State;
    type Step = Move;

    fn begin(&self) -> State {
        let new = Member {
            node: Node::joined(false, 1),
            step: Step::Gone,
            entered: 0,
            over: 0,
            joined: false,
            good: false,
            level: false,
            said: None,
        };
        let mut state = State {
            members: [self.teams[0], 0],
            armed: self.teams[0],
            channel: [Channel { level: false, known: true }, Channel::default()],
            out: [0; CHANNELS],
            joined: [Joined::default(); NODES],
            member: [[new; NODES]; TEAMS],
            found: [None; TEAMS],
            stop: [false; TEAMS],
            modes: [Modes::default(); TEAMS],
            restarts_left: self.restarts,
        };
        for (team, mask) in self.teams.iter().enumerate() {
            for node in of(*mask) {
                state.member[team][node].step = if team == 0 { Step::Running } else { Step::Joining(Forming::Wanted) };
            }
        }
        state.found[0] = Some(Some(0));
        for node in of(self.teams[0]) {
            state.joined[node].read_back(1, 0);
            state.member[0][node].joined = true;
        }
        state
    }

    fn steps(&self, state: &State, each: &mut dyn FnMut(Move, Result<State, String>)) {
        for (team, mask) in self.teams.iter().enumerate() {
            for node in of(*mask) {
                match state.member[team][node].step {
                    Step::Joining(step) => self.forms(state, (team, node), step, each),
                    _ => self.works(state, team, node, each),
                }
            }
            if of(*mask).all(|node| state.member[team][node].said.is_some()) {
                each(Move::Decides(team), self.decide(state, team));
            }
        }
        for channel in 0..CHANNELS {
            let mut next = state.clone();
            next.channel[channel] = ticked(state, channel);
            each(Move::Tick(channel), Ok(next));
        }
        if state.restarts_left > 0 {
            let mut next = state.clone();
            next.restarts_left -= 1;
            (next.members, next.armed, next.channel) = ([0; CHANNELS], 0, [Channel::default(); CHANNELS]);
            each(Move::Restart, Ok(next));
        }
    }

    fn may_end(&self, state: &State) -> bool {
        state.member.iter().flatten().all(|member| member.step == Step::Gone)
    }
}

impl Job {
    /// From nothing to a channel that all members agree on, or none.
    fn forms(&self, state: &State, (team, node): (usize, usize), step: Forming, each: Each<'_>) {
        let leads = self.teams[team].trailing_zeros() as usize == node;
        let mut next = state.clone();
        // Before a node reads it waits until the machine has answered what was written.
        if !matches!(step, Forming::Trying(_)) && !is_settled(state) {
            return;
        }
        match (step, state.found[team]) {
            (Forming::Wanted, None) if leads => self.puts(state, team, node, 0, each),
            (Forming::Wanted, Some(None)) => {
                next.member[team][node].step = Step::Gone;
                each(Move::Meets(team, node), Ok(next));
            }
            (Forming::Wanted, Some(Some(channel))) => {
                if next.joined[node].may_join(channel.into()) || self.mistake == Mistake::JoinsAnyway {
                    return self.puts(&next, team, node, channel, each);
                }
                next.member[team][node].step = ASKED;
                each(Move::Refuses(team, node), Ok(next));
            }
            (Forming::Trying(channel), _) => self.commands(state, (team, node), channel, leads, each),
            (Forming::Asked, Some(Some(channel))) if self.all(state, team, |step| !forming(step)) => {
                let reading = self.reading(state, node, channel.into());
                let own = &mut next.member[team][node];
                (own.step, own.good, own.level) =
                    (Step::Joining(Forming::Checked), own.joined && reading.present, reading.level);
                each(Move::Checks(team, node), Ok(next));
            }
            (Forming::Checked, Some(Some(channel)))
                if self.all(state, team, |step| !forming(step) && step != ASKED) =>
            {
                let good = of(self.teams[team]).all(|other| state.member[team][other].good);
                let own = &mut next.member[team][node];
                (own.node, own.step) = (Node::joined(own.level, 1), if good { Step::Running } else { Step::Gone });
                if !good && own.joined {
                    leave(&mut next, node, channel.into());
                }
                each(Move::Meets(team, node), Ok(next));
            }
            _ => {}
        }
    }

    /// The output says what the channel says, before the machine is told. The leader takes the next one that is not its own.
    fn puts(&self, state: &State, team: usize, node: usize, from: u8, each: Each<'_>) {
        let leads = self.teams[team].trailing_zeros() as usize == node;
        let free = |channel: &u8| !leads || state.joined[node].is_free((*channel).into());
        // A node tells the machine one thing at a time.
        if (0..self.teams.len())
            .any(|other| other != team && matches!(state.member[other][node].step, Step::Joining(Forming::Trying(_))))
        {
            return;
        }
        let mut next = state.clone();
        match (from..CHANNELS as u8).find(free) {
            Some(channel) => {
                let (bit, at) = (1 << node, usize::from(channel));
                next.out[at] = state.out[at] & !bit | if state.channel[at].level { bit } else { 0 };
                next.member[team][node].step = Step::Joining(Forming::Trying(channel));
            }
            None => {
                next.found[team] = Some(None);
                next.member[team][node].step = Step::Gone;
            }
        }
        each(Move::Puts(team, node), Ok(next));
    }

    fn commands(&self, state: &State, (team, node): (usize, usize), channel: u8, leads: bool, each: Each<'_>) {
        let (mut next, at) = (state.clone(), usize::from(channel));
        next.armed |= 1 << node;
        if !leads || state.members[at] == 0 {
            next.members[at] |= 1 << node;
        }
        let known = known(&next, node);
        let joined = next.joined[node].read_back(known, at);
        next.member[team][node].joined = joined;
        if joined || !leads {
            next.member[team][node].step = ASKED;
            if leads {
                next.found[team] = Some(Some(channel));
            }
            return each(Move::Commands(team, node), Ok(next));
        }
        next.member[team][node].step = Step::Joining(Forming::Wanted);
        self.puts(&next, team, node, channel + 1, each);
    }

    /// Barriers, and the end.
    fn works(&self, state: &State, team: usize, node: usize, each: Each<'_>) {
        let member = &state.member[team][node];
        let Some(Some(channel)) = state.found[team] else { return };
        let (bit, at) = (1 << node, usize::from(channel));
        let mut next = state.clone();
        let own = &mut next.member[team][node];
        if matches!(member.step, Step::Running | Step::Leaving) && state.stop[team] && !member.node.is_dead() {
            own.node.stop();
            own.step = Step::Stopped;
            return each(Move::Stops(team, node), Ok(next));
        }
        match member.step {
            Step::Running if member.over == self.barriers => {
                own.step = Step::Leaving;
                each(Move::WantsToLeave(team, node), Ok(next));
            }
            Step::Running => {
                own.entered += 1;
                own.step = match own.node.enter(false) {
                    Entry::Write(level) => {
                        next.out[at] = state.out[at] & !bit | if level { bit } else { 0 };
                        Step::Waiting
                    }
                    Entry::Stopped => Step::Stopped,
                    Entry::Software => Step::Software,
                };
                each(Move::Enters(team, node), Ok(next));
            }
            Step::Waiting => {
                each(Move::Reads(team, node), self.looks(state, team, node, at));
                own.node.stop();
                own.step = Step::Stopped;
                next.stop[team] = true;
                each(Move::Stops(team, node), Ok(next));
            }
            Step::Stopped if member.said.is_none() && self.all(state, team, |step| step == Step::Stopped) => {
                own.said = Some(member.node.settled(self.reading(state, node, at)) as u8);
                each(Move::Tells(team, node), Ok(next));
            }
            Step::Software if of(self.teams[team]).all(|other| state.member[team][other].entered >= member.entered) => {
                own.step = Step::Running;
                each(Move::Software(team, node), self.over(next, team, node, true));
            }
            Step::Leaving if self.all(state, team, |step| matches!(step, Step::Leaving | Step::Gone)) => {
                own.step = Step::Gone;
                // The channel of a dead team stays its nodes'.
                if !member.node.is_dead() {
                    leave(&mut next, node, at);
                }
                each(Move::Leaves(team, node), Ok(next));
            }
            _ => {}
        }
    }

    fn looks(&self, state: &State, team: usize, node: usize, at: usize) -> Result<State, String> {
        let mut next = state.clone();
        let reading = match self.mistake {
            Mistake::LooksFirst => raw(state, node, at),
            _ => self.reading(state, node, at),
        };
        if !next.member[team][node].node.look(reading) {
            return Ok(next);
        }
        if self.mistake == Mistake::LooksFirst && state.joined[node].is_lost(at) {
            return Ok(next);
        }
        next.member[team][node].step = Step::Running;
        self.over(next, team, node, false)
    }

    /// A barrier is over for a member: everybody must have come, and everybody must have done it in the same way.
    fn over(&self, mut next: State, team: usize, node: usize, software: bool) -> Result<State, String> {
        let number = next.member[team][node].entered;
        next.member[team][node].over = number;
        if let Some(absent) = of(self.teams[team]).find(|other| next.member[team][*other].entered < number) {
            return Err(format!("node {node} leaves barrier {number} of team {team} and node {absent} has not come"));
        }
        next.modes[team].note(number, software).map_err(|why| format!("team {team}: {why}"))?;
        Ok(next)
    }

    /// All have stopped and told their number: the highest decides.
    fn decide(&self, state: &State, team: usize) -> Result<State, String> {
        let highest = state.member[team].iter().filter_map(|member| member.said).max().unwrap_or(0);
        let mut next = state.clone();
        for node in of(self.teams[team]) {
            let own = &mut next.member[team][node];
            own.said = None;
            match own.node.decide(highest.into()).map_err(|_| format!("node {node} contradicts {highest}"))? {
                Verdict::Software => own.step = Step::Software,
                Verdict::Nothing => own.step = Step::Running,
                Verdict::Over => {
                    own.step = Step::Running;
                    next = self.over(next, team, node, false)?;
                }
            }
        }
        Ok(next)
    }

    /// What a node believes of a channel.
    fn reading(&self, state: &State, node: usize, channel: usize) -> Reading {
        let reading = raw(state, node, channel);
        let lost = state.joined[node].is_lost(channel) && self.mistake != Mistake::Believes;
        Reading { present: reading.present && !lost, ..reading }
    }

    fn all(&self, state: &State, team: usize, holds: impl Fn(Step) -> bool) -> bool {
        of(self.teams[team]).all(|node| holds(state.member[team][node].step))
    }
}

/// What the wires say.
fn raw(state: &State, node: usize, channel: usize) -> Reading {
    Reading { level: state.channel[channel].level, present: state.armed >> node & 1 == 1 }
}

/// The channel after the next clock edge.
fn ticked(state: &State, channel: usize) -> Channel {
    let mut next = state.channel[channel];
    next.tick(state.out[channel].into(), state.members[channel].into());
    next
}

fn is_settled(state: &State) -> bool {
    (0..CHANNELS).all(|channel| ticked(state, channel) == state.channel[channel])
}

/// Of which channels the machine says that the node is a member.
fn known(state: &State, node: usize) -> u8 {
    (0..CHANNELS).fold(0, |known, channel| known | (state.members[channel] >> node & 1) << channel)
}

fn leave(state: &mut State, node: usize, channel: usize) {
    if state.joined[node].leaves(channel) {
        state.members[channel] &= !(1 << node);
        state.armed |= 1 << node;
        let known = known(state, node);
        state.joined[node].has_left(known, channel);
    }
}

const ASKED: Step = Step::Joining(Forming::Asked);

fn forming(step: Step) -> bool {
    matches!(step, Step::Joining(Forming::Wanted | Forming::Trying(_)))
}

fn of(team: u8) -> impl Iterator<Item = usize> {
    (0..NODES).filter(move |node| team >> node & 1 == 1)
}

fn job(teams: &[u8], barriers: u8, restarts: u8) -> Job {
    Job { teams: teams.to_vec(), barriers, restarts, mistake: Mistake::None }
}

fn finds_mistake(job: Job, mistake: Mistake) {
    finds(&Job { mistake, ..job }, &["has not come", "in software for others", "contradicts"]);
}

#[test]
fn teams_share_a_machine() {
    holds(&job(&[0b101, 0b110], 2, 0));
    holds(&job(&[0b101, 0b110, 0b011], 1, 0));
}

#[test]
fn a_machine_that_begins_anew_gives_channels_away() {
    holds(&job(&[0b101, 0b110], 2, 1));
    holds(&job(&[0b101, 0b110], 1, 2));
    finds_mistake(job(&[0b101, 0b110], 2, 1), Mistake::JoinsAnyway);
}

#[test]
fn who_tells_a_new_machine_something_believes_nothing_else_of_it() {
    holds(&job(&[0b101, 0b011], 2, 1));
    finds_mistake(job(&[0b101, 0b110, 0b011], 1, 1), Mistake::Believes);
    finds_mistake(job(&[0b101, 0b110, 0b011], 1, 1), Mistake::LooksFirst);
}
