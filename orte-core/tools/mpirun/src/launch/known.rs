//! State of ranks on other hosts, as their daemons said it, and the standard input for them.

use crate::doing::Doing;
use crate::stdin::Fan;
use orte_core::segment::RankState;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// What daemons have said.
pub struct Known {
    pub states: Vec<RankState>,
    pub aborted: Vec<Option<(i32, String)>>,
    /// Which had lost a peer before they ended.
    pub lost_peer: Vec<bool>,
    /// Since when, how long, and when that was said.
    pub waits: Vec<Option<(u64, u64, Instant)>>,
    /// What each rank that ended had counted, and how long before its end that was, in ns. Of all hosts.
    pub told: Vec<Option<(u64, String)>>,
    /// What daemons have answered.
    pub doing: Vec<Option<Doing>>,
    /// Who asked by `--status` what the ranks do.
    pub askers: Vec<UnixStream>,
    /// The root of the universe wants to know that, too.
    pub is_asked_by_root: bool,
    /// Where in the program the ranks are was asked for as well.
    pub with_functions: bool,
    /// Jobs of which all ranks wait, to be said once their mpiruns have told more; whether all are known that they may wait for.
    pub stalled: Option<(BTreeSet<u64>, bool)>,
    /// Bytes of output that each node was not yet told to be taken.
    pub owed: Vec<usize>,
}

impl Known {
    /// Of a job with these ranks and so many nodes.
    pub fn new(nodes: &[u32], count: usize) -> Known {
        let ranks = nodes.len();
        Known {
            states: vec![RankState::Started; ranks],
            aborted: vec![None; ranks],
            lost_peer: vec![false; ranks],
            waits: vec![None; ranks],
            told: vec![None; ranks],
            doing: vec![None; ranks],
            askers: Vec::new(),
            is_asked_by_root: false,
            with_functions: false,
            stalled: None,
            owed: vec![0; count],
        }
    }
}

/// Daemons were asked.
#[derive(Clone, Copy, Debug)]
pub struct Inquiry {
    /// Why.
    pub purpose: Purpose,
    /// Who has not answered then does not count.
    pub until: Instant,
}

/// What daemons are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The job is to end then.
    Timeout,
    /// It stands still.
    Stall,
    /// It does so together with further jobs, or these do.
    StallOfJobs,
    /// Somebody asked by `--status`, or the root of the universe, who alone is answered.
    Answer,
    /// SIGUSR2 came.
    Signal,
}

/// Standard input on its way to other hosts.
#[derive(Default)]
pub struct Feed {
    pub channels: Vec<Channel>,
}

/// Standard input on its way to one host.
pub struct Channel {
    pub node: u32,
    /// Where it comes from; `None`: from mpirun's standard input itself.
    source: Option<OwnedFd>,
    /// Bytes that may be sent.
    pub room: usize,
    /// Its ranks are there.
    pub is_open: bool,
}

impl Feed {
    /// For a single reader on this node.
    pub fn of_one(node: u32) -> Feed {
        if node == 0 { Feed::default() } else { Feed { channels: vec![Channel::new(node, None)] } }
    }

    /// For every node but this one, each by a pipe from `fan`.
    pub fn of_all(nodes: u32, fan: &mut Fan) -> Result<Feed, Errno> {
        let mut feed = Feed::default();
        for node in 1..nodes {
            let (source, reader) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            fan.expect(1);
            fan.add(reader)?;
            feed.channels.push(Channel::new(node, Some(source)));
        }
        Ok(feed)
    }

    /// Nobody reads any more.
    pub fn close(&mut self) {
        self.channels.clear();
    }

    /// Appends what has to be waited for; the channels, in this order.
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) -> Vec<usize> {
        let mut interests = Vec::new();
        for (index, channel) in self.channels.iter().enumerate().filter(|(_, one)| one.is_open && one.room > 0) {
            match &channel.source {
                Some(source) => polls.push(PollFd::new(source, PollFlags::IN)),
                None if is_in_background() => continue,
                None => polls.push(PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN)),
            }
            interests.push(index);
        }
        interests
    }

    /// That of a node.
    pub fn channel(&mut self, node: u32) -> Option<&mut Channel> {
        self.channels.iter_mut().find(|channel| channel.node == node)
    }
}

impl Channel {
    fn new(node: u32, source: Option<OwnedFd>) -> Channel {
        Channel { node, source, room: INPUT_WINDOW, is_open: false }
    }

    /// What there is to send; nothing: there is no more. `None`: not now.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; self.room.min(CHUNK)];
        let read = match &self.source {
            Some(source) => rustix::io::read(source, &mut bytes),
            None => rustix::io::read(rustix::stdio::stdin(), &mut bytes),
        };
        match read {
            Ok(read) => bytes.truncate(read),
            Err(Errno::AGAIN | Errno::INTR) => return None,
            // Not open, or the terminal is gone: there is nothing to be had.
            Err(_) => bytes.clear(),
        }
        self.room -= bytes.len();
        Some(bytes)
    }
}

/// Reading the terminal would stop this process.
fn is_in_background() -> bool {
    let input = rustix::stdio::stdin();
    rustix::termios::tcgetpgrp(input).is_ok_and(|group| group != rustix::process::getpgrp())
}

/// After how long a launch counts as a long one: where nobody sits, later.
pub fn first_progress() -> Duration {
    if rustix::termios::isatty(rustix::stdio::stderr()) { Duration::from_secs(1) } else { AGAIN }
}

/// Bytes of input that may be under way to a host.
pub const INPUT_WINDOW: usize = 64 << 10;
/// After how long it is said again who is waited for.
pub const AGAIN: Duration = Duration::from_secs(10);
const CHUNK: usize = 16 << 10;
