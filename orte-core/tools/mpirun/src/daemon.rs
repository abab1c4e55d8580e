//! The daemon of a host: mpirun's arm there. An agent (ssh) starts it, it calls back whoever had that agent started, starts the ranks of
//! its host through a keeper of its own, and passes on what they write and how they end. Where there are many hosts it starts the daemons
//! of further ones, and passes on what these and mpirun say to each other.
//!
//! When the connection upwards ends, everything of the job is killed here; when the daemon dies, its keeper does that.

mod below;
mod call;
mod greeting;
mod input;
mod output;
mod ready;
mod recall;
mod up;

use crate::children::{ChildInterest, Children};
use crate::here::{Here, RankEvent};
use crate::modex;
use crate::refusal::{OWN, Refusal, say};
use crate::wire::Message;
use crate::{doing, program, signals, tree};
use below::Below;
pub use call::{ARGUMENT, VERSION};
use input::Input;
use orte_core::oob::frame::RankEnd;
use orte_core::oob::{Frame, Invitation, JobOrders};
use orte_core::routed::{Way, envelope};
use orte_core::segment::RankState;
use output::DaemonOutput;
pub use output::WINDOW;
use recall::Whom;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use up::{Pulse, Up};

/// Runs as daemon until the job is over.
pub fn run() -> ExitCode {
    match invited() {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            if !refusal.sentence.is_empty() {
                say(&format!("{} (on {})", refusal.sentence, opal_core::sys::hostname()));
            }
            ExitCode::from(refusal.status)
        }
    }
}

fn invited() -> Result<(), Refusal> {
    let (invitation, node) = call::invitation()?;
    let call::Answer { link, addresses, orders, bytes, behind } = call::starter(&invitation, node)?;
    let is_mpirun = below::tree(&orders).parent(node) == Some(0);
    let silence = Duration::from_millis(invitation.silence_ms);
    let mut up = Up::new(link, Whom { secret: invitation.secret, node, addresses, silence }, is_mpirun);
    let below = Below::new(node, &orders, bytes);
    let parts = Daemon::start(&invitation, node, orders);
    match parts.and_then(|parts| Ok((parts, below.start(&invitation, &mut up)?))) {
        Ok((parts, children)) => Daemon::new(up, children, parts).watch(behind),
        Err(refusal) => {
            // mpirun says it.
            up.send(&Frame::Refused(refusal.status, refusal.sentence));
            up.send(&Frame::Gone);
            up.drain(PATIENCE);
            Ok(())
        }
    }
}

struct Daemon {
    up: Up,
    children: Children,
    here: Here,
    output: DaemonOutput,
    input: Input,
    kept: ready::Kept,
    /// Of each program its ranks, and the file that is executed.
    programs: Vec<(u32, PathBuf)>,
    /// Ranks that have not started.
    awaited: usize,
    /// The processes of the ranks that run.
    pids: BTreeMap<u32, u32>,
    /// What mpirun was told of each rank's state.
    told: BTreeMap<u32, u32>,
    phase: Phase,
    /// Nobody hears any more.
    is_orphan: bool,
}

/// What was made ready before anything runs.
struct Parts {
    here: Here,
    input: Input,
    programs: Vec<(u32, PathBuf)>,
    kept: ready::Kept,
}

/// What is to be looked at.
struct Ready {
    up: bool,
    keeper: bool,
    wake_socket: bool,
    children: Vec<(ChildInterest, PollFlags)>,
    /// Streams of output.
    streams: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// The keeper was told to kill what is left; it is killed itself at this time.
    Clearing(Instant),
}

impl Daemon {
    fn start(invitation: &Invitation, node: u32, orders: JobOrders) -> Result<Parts, Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::system("starting the keeper process", error);
        let limit = crate::prepare::raise_descriptor_limit();
        let strangers = tree::below(&[]);
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|errno| failed(&errno))?;
        let (input, read_end) = Input::new(ready::reads_here(&orders, node)).map_err(|errno| failed(&errno))?;
        let (plan, kept) = ready::plan(invitation, node, orders, read_end)?;
        let programs = plan.apps.iter().map(|app| (app.ranks, PathBuf::from(&app.path))).collect();
        let here = Here::start(plan, signals::handled(), limit, strangers)?;
        Ok(Parts { here, input, programs, kept })
    }

    fn new(up: Up, children: Children, parts: Parts) -> Daemon {
        let Parts { here, input, programs, kept } = parts;
        let (output, told, awaited) = (DaemonOutput::default(), BTreeMap::new(), here.ranks().len());
        Daemon {
            up,
            children,
            here,
            output,
            input,
            kept,
            programs,
            awaited,
            pids: BTreeMap::new(),
            told,
            phase: Phase::Running,
            is_orphan: false,
        }
    }

    /// Until nothing of the job is left here and below. `behind` came together with the orders.
    fn watch(mut self, behind: Vec<Vec<u8>>) -> Result<(), Refusal> {
        let wired = self.here.modex.as_mut().map_or(Ok(Vec::new()), |modex| modex.on_wake());
        self.pass_on(wired);
        behind.into_iter().for_each(|bytes| self.hear_parent(&bytes));
        // Those below end by themselves when this process has, if there is nobody above to be told.
        while !self.here.is_gone() || !(self.children.have_left() || self.is_orphan) {
            let Ready { up, keeper, wake_socket, children, streams } = self.wait()?;
            if wake_socket {
                let sends = self.here.modex.as_mut().map_or(Ok(Vec::new()), |modex| modex.on_wake());
                self.pass_on(sends);
            }
            if up {
                self.hear_up();
            }
            self.hear_children(&children);
            self.output.pump(&mut self.up, &streams);
            self.input.pump(&mut self.up);
            if keeper {
                self.hear_keeper()?;
            }
            self.look_at_clock();
        }
        self.output.last_call(&mut self.up);
        // Before mpirun hears that nothing is left.
        self.kept = ready::Kept::default();
        self.up.send(&Frame::Gone);
        if !self.is_orphan {
            self.up.drain(PATIENCE);
        }
        self.children.end(if self.is_orphan { Duration::ZERO } else { LEAVING });
        Ok(())
    }

    /// Sleeps until something happens.
    fn wait(&self) -> Result<Ready, Refusal> {
        let mut polls = Vec::new();
        let up_at = self.up.interest().filter(|_| !self.is_orphan).map(|(socket, flags)| {
            polls.push(PollFd::from_borrowed_fd(socket, flags));
            0
        });
        let [keeper, wake_socket] = self.here.descriptors();
        let place = |polls: &mut Vec<PollFd<'_>>| polls.len();
        let keeper_at = keeper.map(|keeper| {
            polls.push(PollFd::from_borrowed_fd(keeper, PollFlags::IN));
            place(&mut polls) - 1
        });
        let wake_socket_at = wake_socket.map(|wake_socket| {
            polls.push(PollFd::from_borrowed_fd(wake_socket, PollFlags::IN));
            place(&mut polls) - 1
        });
        self.input.interest(&mut polls);
        let below = polls.len();
        let interests = self.children.interests(&mut polls);
        let first = polls.len();
        let sources = self.output.interests(&mut polls, self.up.behind());
        let tick = self.up.until_beat().min(TICK);
        let tick = Timespec { tv_sec: tick.as_secs() as i64, tv_nsec: i64::from(tick.subsec_nanos()) };
        match rustix::event::poll(&mut polls, Some(&tick)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Refusal::system("waiting for the ranks", errno)),
        }
        let is_ready = |at: Option<usize>| at.is_some_and(|at| !polls[at].revents().is_empty());
        let ready = sources.into_iter().zip(&polls[first..]).filter(|(_, poll)| !poll.revents().is_empty());
        let flags = polls[below..first].iter().map(PollFd::revents);
        Ok(Ready {
            up: is_ready(up_at),
            keeper: is_ready(keeper_at),
            wake_socket: is_ready(wake_socket_at),
            streams: ready.map(|(source, _)| source).collect(),
            children: interests.into_iter().zip(flags).collect(),
        })
    }

    fn hear_up(&mut self) {
        let (payloads, is_lost) = self.up.receive();
        for bytes in payloads {
            self.hear_parent(&bytes);
        }
        if is_lost {
            self.lose_parent();
        }
    }

    /// mpirun is not to be reached any more: the job is over here and below.
    fn lose_parent(&mut self) {
        self.is_orphan = true;
        self.children.tell_all(&Frame::Finish);
        self.finish();
    }

    /// What came from above: for those below, for this daemon, or both.
    fn hear_parent(&mut self, bytes: &[u8]) {
        match self.children.router().from_parent(bytes) {
            Ok(routed) => {
                self.children.forward(routed.down, bytes);
                routed.here.into_iter().for_each(|(_, frame)| self.obey(frame));
            }
            Err(flaw) => self.refuse(OWN, format!("what mpirun sent has no meaning: {flaw}")),
        }
    }

    fn hear_children(&mut self, ready: &[(ChildInterest, PollFlags)]) {
        let (interests, flags): (Vec<ChildInterest>, Vec<PollFlags>) = ready.iter().copied().unzip();
        let events = self.children.pump(&interests, &flags);
        for (child, frame) in below::pass_on(events, &mut self.up) {
            match frame {
                Frame::Modex(bytes) => {
                    let from = modex::Neighbor::Child(child);
                    let sends = self.here.modex.as_mut().map_or(Ok(Vec::new()), |modex| modex.on_frame(from, &bytes));
                    self.pass_on(sends);
                }
                Frame::Beat => {}
                _ => self.refuse(OWN, format!("the daemon of node {child} sent what only mpirun hears")),
            }
        }
    }

    fn obey(&mut self, frame: Frame) {
        match frame {
            Frame::Signal(signal, all) => self.here.tell(Message::Signal(signal, u32::from(all))),
            Frame::Finish => self.finish(),
            Frame::Input(bytes) => self.input.take(bytes),
            Frame::Room(bytes) => self.output.room(bytes),
            Frame::Unread(rank, stream) => {
                if self.output.unread(rank, stream) {
                    self.here.tell(Message::Unread(rank));
                }
            }
            Frame::End(rank, signal) => self.here.tell(Message::End(rank, signal)),
            Frame::Modex(bytes) => {
                let from = modex::Neighbor::Parent;
                let sends = self.here.modex.as_mut().map_or(Ok(Vec::new()), |modex| modex.on_frame(from, &bytes));
                self.pass_on(sends);
            }
            Frame::LostElsewhere(rank) if self.here.local(rank).is_some() => {}
            Frame::LostElsewhere(rank) => {
                let lost = self.here.modex.as_mut().map_or(Ok(()), |modex| modex.lost_elsewhere(rank));
                self.pass_on(lost.map(|()| Vec::new()));
            }
            Frame::Ask(question) => self.answer(question),
            Frame::Beat => {}
            _ => self.refuse(OWN, "mpirun sent what only a daemon sends".to_owned()),
        }
    }

    /// What the ranks do, or how long they have waited.
    fn answer(&mut self, question: u8) {
        for rank in self.here.ranks().to_vec() {
            let pid = self.pids.get(&rank).copied();
            if question == 0 {
                if let Some((since_ns, waited_ns)) = doing::waits(&self.here, rank, pid) {
                    self.up.send(&Frame::Waits(rank, since_ns, waited_ns));
                }
            } else if pid.is_some() {
                let doing = doing::of_rank(&self.here, rank, pid);
                let functions = doing.functions.filter(|_| question == 2).unwrap_or_default();
                self.up.send(&Frame::Doing(rank, doing.text, doing.needed, functions));
            }
        }
    }

    /// Messages of the wire-up go up or down by one host; without a wire-up there is no job.
    fn pass_on(&mut self, sends: Result<Vec<modex::Outgoing>, String>) {
        match sends {
            Ok(sends) => {
                for send in sends {
                    match send {
                        modex::Outgoing::Up(bytes) => self.up.send_neighbor(&Frame::Modex(bytes)),
                        modex::Outgoing::Down(child, bytes) => {
                            let frame = envelope::encode(Way::Neighbor, &Frame::Modex(bytes));
                            self.children.forward(child..child + 1, &frame);
                        }
                    }
                }
            }
            Err(why) => self.refuse(OWN, why),
        }
    }

    fn refuse(&mut self, status: u8, sentence: String) {
        self.up.send(&Frame::Refused(status, sentence));
        self.finish();
    }

    fn finish(&mut self) {
        if self.phase == Phase::Running {
            self.phase = Phase::Clearing(Instant::now() + CLEARING);
            self.input.close();
            self.here.tell(Message::Finish);
            self.children.finish();
        }
    }

    fn hear_keeper(&mut self) -> Result<(), Refusal> {
        while let Some(event) = self.here.hear()? {
            match event {
                RankEvent::Started(rank, pid, ends) => self.started(rank, pid, ends),
                RankEvent::NotStarted(rank, errno) => {
                    let app = crate::cli::app_of(self.programs.iter().map(|(ranks, _)| *ranks), rank);
                    let refusal = program::not_started(&self.programs[app].1, errno);
                    self.refuse(refusal.status, refusal.sentence);
                }
                RankEvent::Ended(rank, wait_status) => self.ended(rank, wait_status),
                RankEvent::Unread(rank) => self.output.close(rank),
                RankEvent::KeeperGone => {
                    let is_asked = matches!(self.phase, Phase::Clearing(_));
                    let status = self.here.keeper_is_gone(&self.children.processes());
                    if !is_asked || status != 0 {
                        self.up.send(&Frame::KeeperLost(status));
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn started(&mut self, rank: u32, pid: u32, ends: Vec<OwnedFd>) {
        self.pids.insert(rank, pid);
        self.up.send(&Frame::Started(rank, pid));
        let mut ends = ends.into_iter();
        // Fewer arrive if this process has no descriptors left.
        match (ends.next(), ends.next()) {
            (Some(output), Some(error)) => {
                if let Err(errno) = self.output.add(rank, output, error) {
                    self.refuse(OWN, format!("reading the output of rank {rank} failed: {errno}"));
                }
            }
            _ => self.refuse(OWN, "too many open files; raise the limit with ulimit -n".to_owned()),
        }
        if let Some(reader) = ends.next() {
            self.input.add(reader);
        }
        self.awaited = self.awaited.saturating_sub(1);
        if self.awaited == 0 {
            self.input.is_complete();
        }
    }

    fn ended(&mut self, rank: u32, wait_status: i32) {
        self.pids.remove(&rank);
        let (state, aborted) = (self.here.state(rank) as u32, self.here.aborted(rank));
        let end = RankEnd { rank, wait_status, state, aborted, has_lost_peer: self.here.has_lost_peer(rank) };
        self.told.insert(rank, end.state);
        if let Some((age_ns, words)) = self.here.told(rank) {
            self.up.send(&Frame::Told(rank, age_ns, words));
        }
        self.up.send(&Frame::Ended(end));
        let sends = self.here.mark_gone(rank);
        self.pass_on(sends);
    }

    fn look_at_clock(&mut self) {
        let now = Instant::now();
        if !self.is_orphan {
            match self.up.look_at_clock() {
                Pulse::Alive => {}
                Pulse::Again => self.hear_up(),
                Pulse::Lost => self.lose_parent(),
            }
        }
        for rank in self.here.ranks().to_vec() {
            let state = self.here.state(rank);
            // What a rank left behind when it ended is told with its end.
            if state == RankState::Gone || self.told.insert(rank, state as u32) == Some(state as u32) {
                continue;
            }
            match self.here.aborted(rank) {
                Some((status, message)) => {
                    let has_lost_peer = self.here.has_lost_peer(rank);
                    self.up.send(&Frame::Aborted(rank, status, message, has_lost_peer));
                }
                None => self.up.send(&Frame::State(rank, state as u32)),
            }
        }
        if self.here.look_at_keeper()
            && let Phase::Clearing(end) = self.phase
        {
            self.phase = Phase::Clearing(end.min(now + IMPATIENT));
        }
        if !self.here.is_gone() && matches!(self.phase, Phase::Clearing(end) if now >= end) {
            match self.here.kill_keeper() {
                Some(time) => self.phase = Phase::Clearing(now + time),
                None => {
                    let status = self.here.keeper_is_gone(&self.children.processes());
                    self.up.send(&Frame::KeeperLost(status));
                }
            }
        }
    }
}

/// How often to look whether a rank called abort, and whether the keeper was stopped.
const TICK: Duration = Duration::from_millis(250);
/// How long daemons below may take to end after everything else of the job has.
const LEAVING: Duration = Duration::from_secs(2);
/// How long the last words may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the keeper may take to kill what is left: longer than it tries to.
const CLEARING: Duration = Duration::from_secs(12);
/// How long a keeper that kills ranks may go on after it was stopped.
const IMPATIENT: Duration = Duration::from_secs(1);
