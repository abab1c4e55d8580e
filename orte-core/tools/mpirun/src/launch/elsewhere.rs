//! The ranks of other hosts: what their daemons say of them, and what they are sent.

use super::known::{AGAIN, INPUT_WINDOW};
use super::{Phase, Running};
use crate::daemon;
use crate::doing::Doing;
use crate::modex;
use crate::outcome::Cause;
use crate::refusal::{OWN, Refusal, say};
use crate::tag::{Origin, Stream};
use crate::there::{HostEvent, There};
use crate::wire::Message;
use orte_core::oob::Frame;
use orte_core::segment::RankState;
use rustix::event::PollFlags;
use std::time::Instant;

impl Running {
    /// What a rank is to MPI, as far as is known.
    pub(super) fn state(&self, rank: u32) -> RankState {
        match self.here.as_ref().filter(|_| self.node_of(rank) == 0) {
            Some(here) => here.state(rank),
            None => self.known.states.get(rank as usize).copied().unwrap_or(RankState::Gone),
        }
    }

    /// Status and message of a rank that called abort.
    pub(super) fn aborted(&self, rank: u32) -> Option<(i32, String)> {
        match self.here.as_ref().filter(|_| self.node_of(rank) == 0) {
            Some(here) => here.aborted(rank),
            None => self.known.aborted.get(rank as usize)?.clone(),
        }
    }

    /// Whether a call of a rank failed because a peer was lost.
    pub(super) fn has_lost_peer(&self, rank: u32) -> bool {
        match self.here.as_ref().filter(|_| self.node_of(rank) == 0) {
            Some(here) => here.has_lost_peer(rank),
            None => self.known.lost_peer.get(rank as usize).is_some_and(|lost| *lost),
        }
    }

    /// Whether any rank called abort.
    pub(super) fn aborts(&self) -> bool {
        self.here.as_ref().is_some_and(|here| here.segment.control.aborts() > 0)
            || self.known.aborted.iter().any(Option::is_some)
    }

    /// A rank of this host ended.
    pub(super) fn mark_gone(&mut self, rank: u32) {
        let is_lost = self.state(rank) != RankState::Finalized;
        let sends = self.here.as_mut().map_or(Ok(Vec::new()), |here| here.mark_gone(rank));
        self.pass_on(sends);
        if is_lost {
            self.tell_elsewhere(&Frame::LostElsewhere(rank));
        }
    }

    /// A daemon has something to say, or never will again.
    pub(super) fn hear_host(&mut self, event: HostEvent) -> Result<(), Refusal> {
        match event {
            HostEvent::Said(node, frame) => {
                let is_of_host = rank_of(&frame)
                    .is_none_or(|rank| self.job.nodes.get(rank as usize).is_some_and(|its| *its == node));
                match is_of_host {
                    true => self.hear_frame(node, frame),
                    false => {
                        self.refuse(node, OWN, "its daemon speaks of ranks that do not run there");
                        Ok(())
                    }
                }
            }
            HostEvent::Resumed(node, ends) => {
                if self.job.verbose {
                    let host = &self.job.names[node as usize];
                    say(&format!("the connection to the daemon of host {host} broke and goes on, between {ends}"));
                }
                Ok(())
            }
            HostEvent::Lost(node, why, was_up) => {
                self.lost(node, why, was_up);
                Ok(())
            }
            HostEvent::CutOff(node) => {
                self.gone(node);
                Ok(())
            }
        }
    }

    fn hear_frame(&mut self, node: u32, frame: Frame) -> Result<(), Refusal> {
        match frame {
            Frame::Started(rank, pid) => {
                let [output, error] = self.begin(rank, pid)?;
                for (stream, file) in [(Stream::Output, output), (Stream::Error, error)] {
                    self.streams.add_elsewhere(Origin { rank, pid, node, stream }, file);
                }
                if let Some(channel) = self.feed.channel(node) {
                    channel.is_open = true;
                }
            }
            Frame::Refused(status, sentence) => self.refuse(node, status, &sentence),
            Frame::Ended(end) => {
                let state = RankState::of(end.state);
                self.known.states[end.rank as usize] = state;
                self.known.aborted[end.rank as usize] = end.aborted.clone();
                self.known.lost_peer[end.rank as usize] = end.has_lost_peer;
                if state != RankState::Finalized {
                    self.lost_elsewhere(end.rank);
                }
                self.ended(end.rank, end.wait_status, state, end.aborted);
            }
            Frame::Aborted(rank, status, message, has_lost_peer) => {
                self.known.lost_peer[rank as usize] = has_lost_peer;
                self.known.states[rank as usize] = RankState::Aborted;
                self.known.aborted[rank as usize] = Some((status, message));
            }
            Frame::State(rank, state) => self.known.states[rank as usize] = RankState::of(state),
            Frame::Output(rank, stream, bytes) => {
                let stream = if stream == 0 { Stream::Output } else { Stream::Error };
                self.streams.take_elsewhere(rank, stream, &bytes);
                self.known.owed[node as usize] += bytes.len();
            }
            Frame::InputRoom(bytes) => {
                if let Some(channel) = self.feed.channel(node) {
                    channel.room = channel.room.saturating_add(bytes as usize).min(INPUT_WINDOW);
                }
            }
            Frame::InputUnread => self.feed.channels.retain(|channel| channel.node != node),
            Frame::KeeperLost(status) => {
                let host = self.job.names[node as usize].clone();
                self.all_ended_on(node);
                if matches!(self.phase, Phase::Running | Phase::Lingering(_) | Phase::Seeking(_)) {
                    self.fail(Cause::KeeperLost(status, Some(host)), true);
                }
            }
            Frame::Waits(rank, since_ns, waited_ns) => {
                self.known.waits[rank as usize] = Some((since_ns, waited_ns, Instant::now()));
            }
            Frame::Doing(rank, text, needed, functions) => {
                let functions = Some(functions).filter(|functions| !functions.is_empty());
                self.known.doing[rank as usize] = Some(Doing { text, needed, functions });
                self.look_at_inquiry();
            }
            Frame::Told(rank, age_ns, words) => self.known.told[rank as usize] = Some((age_ns, words)),
            Frame::Say(line) => say(&format!("{}: {line}", self.job.names[node as usize])),
            Frame::Modex(bytes) => {
                let from = modex::Neighbor::Child(node);
                let modex = self.modex.as_mut().or_else(|| self.here.as_mut().and_then(|here| here.modex.as_mut()));
                let sends = modex.map_or(Ok(Vec::new()), |modex| modex.on_frame(from, &bytes));
                self.pass_on(sends);
            }
            Frame::Gone => self.gone(node),
            Frame::Beat => {}
            _ => self.refuse(node, OWN, "its daemon sent what only mpirun sends"),
        }
        Ok(())
    }

    /// The job cannot go on because of a host.
    fn refuse(&mut self, node: u32, status: u8, sentence: &str) {
        let sentence = format!("host {}: {sentence}", self.job.names[node as usize]);
        self.refusal.get_or_insert(Refusal { status, sentence });
        self.finish();
    }

    fn lost(&mut self, node: u32, why: String, was_up: bool) {
        let host = self.job.names[node as usize].clone();
        let had_ranks = self.alive.iter().zip(&self.job.nodes).any(|(alive, its)| *alive && *its == node);
        self.all_ended_on(node);
        self.streams.end_of(node);
        match self.phase {
            _ if !was_up => {
                self.refusal.get_or_insert(Refusal { status: OWN, sentence: format!("host {host}: {why}") });
                self.finish();
            }
            Phase::Running | Phase::Lingering(_) | Phase::Seeking(_) => self.fail(Cause::HostLost(host, why), true),
            // What it was told to end may be left there.
            Phase::Ending(_) | Phase::Clearing(_) if had_ranks => say(&format!("host {host} was lost, too: {why}")),
            _ => {}
        }
        self.look_whether_over();
    }

    /// Nothing is left of the job on a host, or nothing more is heard of it.
    fn gone(&mut self, node: u32) {
        self.all_ended_on(node);
        self.streams.end_of(node);
        self.look_whether_over();
    }

    fn look_whether_over(&mut self) {
        self.finish_if_all_ended();
        self.look_whether_gone();
    }

    /// Whoever waits for a rank of another host that ended learns that it will not come.
    fn lost_elsewhere(&mut self, rank: u32) {
        let modex = self.here.as_mut().and_then(|here| here.modex.as_mut());
        let told = modex.map_or(Ok(()), |modex| modex.lost_elsewhere(rank));
        self.pass_on(told.map(|()| Vec::new()));
        // The host where it ran knows, and does not mind.
        self.tell_elsewhere(&Frame::LostElsewhere(rank));
    }

    /// Messages of the wire-up go to the hosts below; without a wire-up there is no job.
    pub(super) fn pass_on(&mut self, sends: Result<Vec<modex::Outgoing>, String>) {
        match sends {
            Ok(sends) => {
                for send in sends {
                    // This is the root: nothing goes up.
                    if let modex::Outgoing::Down(node, bytes) = send {
                        self.tell_host(node, &Frame::Modex(bytes));
                    }
                }
            }
            Err(sentence) => {
                self.refusal.get_or_insert(Refusal { status: OWN, sentence });
                self.finish();
            }
        }
    }

    pub(super) fn tell_host(&mut self, node: u32, frame: &Frame) {
        if let Some(there) = &mut self.there {
            there.tell(node, frame);
        }
    }

    /// All other hosts.
    pub(super) fn tell_elsewhere(&mut self, frame: &Frame) {
        if let Some(there) = &mut self.there {
            there.tell_all(frame);
        }
    }

    /// A signal for all ranks, or for every process below the keepers.
    pub(super) fn signal(&mut self, signal: i32, all: bool) {
        self.tell(Message::Signal(signal as u32, u32::from(all)));
        self.tell_elsewhere(&Frame::Signal(signal as u32, all));
    }

    /// Nobody reads a stream.
    pub(super) fn tell_unread(&mut self, origin: Origin) {
        match origin.node {
            0 => self.tell(Message::Unread(origin.rank)),
            node => self.tell_host(node, &Frame::Unread(origin.rank, u8::from(origin.stream == Stream::Error))),
        }
    }

    /// Moves input to other hosts, and tells them that there is room for output.
    pub(super) fn pump_elsewhere(&mut self, interests: &[usize], ready: &[PollFlags]) {
        for (index, _) in interests.iter().zip(ready).filter(|(_, flags)| !flags.is_empty()) {
            let Some(channel) = self.feed.channels.get_mut(*index) else { continue };
            let node = channel.node;
            if let Some(bytes) = channel.read() {
                channel.is_open = !bytes.is_empty();
                self.tell_host(node, &Frame::Input(bytes));
            }
        }
        if !self.streams.has_room() {
            return;
        }
        for node in 1..self.known.owed.len() {
            let owed = self.known.owed[node];
            // Not for every line: what is under way is much more.
            if owed >= daemon::WINDOW / 4 {
                self.known.owed[node] = 0;
                self.tell_host(node as u32, &Frame::Room(owed as u32));
            }
        }
    }

    /// Logins may take long, and somebody waits.
    pub(super) fn say_progress(&mut self) {
        if self.job.quiet || self.next_progress.is_none_or(|next| Instant::now() < next) {
            return;
        }
        let starting = self.there.as_ref().map_or_else(Vec::new, There::starting);
        self.next_progress = None;
        if !starting.is_empty() && self.phase == Phase::Running {
            let (count, of) = (starting.len(), self.job.names.len() - 1);
            let names = starting[..count.min(SHOWN)].join(", ");
            let more = if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
            say(&format!("waiting for the daemons of {count} of {of} hosts: {names}{more}"));
            self.next_progress = Some(Instant::now() + AGAIN);
        }
    }
}

/// The rank that a daemon speaks of.
fn rank_of(frame: &Frame) -> Option<u32> {
    match frame {
        Frame::Started(rank, _)
        | Frame::State(rank, _)
        | Frame::Aborted(rank, ..)
        | Frame::Output(rank, ..)
        | Frame::Waits(rank, ..)
        | Frame::Told(rank, ..)
        | Frame::Doing(rank, ..) => Some(*rank),
        Frame::Ended(end) => Some(end.rank),
        _ => None,
    }
}

/// Hosts that are named.
const SHOWN: usize = 4;
