//! The ranks of this host: their segment, their keeper, and what is heard of them. mpirun has this for its own host, a daemon for
//! its own.
//!
//! Ranks are those of the job here; the segment and the keeper count the ranks of the host alone.

use crate::cli::{Stdin, app_of};
use crate::file_limit::without_file_limit;
use crate::modex::{self, Modex};
use crate::orders::{ARGUMENT, Executable, Orders};
use crate::pty::Pty;
use crate::raw;
use crate::refusal::{Refusal, say};
use crate::segment::{self, Segment};
use crate::tree::{self, Process};
use crate::wire::{self, Message, Outbox, Received};
use orte_core::framework::ess::Needed;
use orte_core::modex::JobMap;
use orte_core::segment::RankState;
use orte_core::universe::Ports;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Pid, Rlimit, Signal};
use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What to start on this host.
pub struct Plan {
    /// The node that this host is; mpirun's own is 0.
    pub node: u32,
    /// Its children in the tree of hosts.
    pub children: Vec<u32>,
    /// The job and its ranks' secret.
    pub identity: (u64, [u8; 32]),
    /// The node of each rank of the job.
    pub nodes: Vec<u32>,
    /// The name of each node.
    pub names: Vec<String>,
    /// How many ranks the job could have.
    pub universe: u32,
    /// Processors of each rank of this host.
    pub bindings: Vec<Vec<usize>>,
    /// Who reads standard input.
    pub stdin: Stdin,
    /// Where standard input comes from, if it is not this process's own.
    pub input: Option<OwnedFd>,
    /// Standard error of a rank is its standard output.
    pub merge: bool,
    /// The pseudo terminals of standard output.
    pub pty: Option<Pty>,
    /// The programs.
    pub apps: Vec<Executable>,
    /// Variables of the keeper, and so of the ranks: all of them, or those that differ from this process's own.
    pub environment: KeeperEnvironment,
    /// See [`Orders::silence_ms`].
    pub silence_ms: Option<u64>,
    /// Where the ranks turn to beyond their job.
    pub ports: Ports,
}

/// The variables of the keeper.
pub enum KeeperEnvironment {
    /// This process's own with these.
    Own(Vec<(OsString, OsString)>),
    /// These alone.
    Only(Vec<(OsString, OsString)>),
}

/// The ranks of this host while they run.
pub struct Here {
    /// Their shared memory.
    pub segment: Segment,
    /// In a job over several hosts: their part of the wire-up.
    pub modex: Option<Modex>,
    ranks: Vec<u32>,
    control: OwnedFd,
    outbox: Outbox,
    keeper: Child,
    /// It did not end in time, and was killed.
    is_killed: bool,
    /// Children that this process had before (`sleep 9 & exec mpirun …`): none of its business.
    strangers: Vec<Process>,
    /// When the keeper is looked at again.
    next_check: Instant,
    is_gone: bool,
}

/// What happened to the ranks here.
pub enum RankEvent {
    /// A rank runs as this process, with its descriptors.
    Started(u32, u32, Vec<OwnedFd>),
    /// A rank could not be started, for this errno.
    NotStarted(u32, i32),
    /// A rank ended with this wait status.
    Ended(u32, i32),
    /// A rank was sent SIGPIPE, as was asked for.
    Unread(u32),
    /// The keeper is gone.
    KeeperGone,
}

impl Here {
    /// Starts the keeper, which starts the ranks. Signals in `handled` are blocked there, `limit` is the ranks' limit on
    /// descriptors.
    pub fn start(plan: Plan, handled: Vec<i32>, limit: Rlimit, strangers: Vec<Process>) -> Result<Here, Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::system("starting the keeper process", error);
        let ranks: Vec<u32> =
            (0..plan.nodes.len() as u32).filter(|rank| plan.nodes[*rank as usize] == plan.node).collect();
        let app = |rank: u32| app_of(plan.apps.iter().map(|app| app.ranks), rank) as u32;
        let apps: Vec<u32> = ranks.iter().map(|rank| app(*rank)).collect();
        let segment = without_file_limit(|| segment::create(plan.identity, &apps, &plan.ports))?;
        let modex = match ranks.len() < plan.nodes.len() {
            true => {
                let map = JobMap {
                    nodes: plan.nodes.clone(),
                    node_count: plan.names.len() as u32,
                    apps: (0..plan.nodes.len() as u32).map(app).collect(),
                    names: plan.names.clone(),
                };
                let modex = Modex::new(map, plan.node, plan.children, Some(segment.descriptor.as_fd()));
                Some(modex.map_err(|why| Refusal { status: crate::refusal::OWN, sentence: why })?)
            }
            false => None,
        };
        let (control, keeper_end) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|errno| failed(&errno))?;
        let local = |rank: u32| ranks.iter().position(|here| *here == rank).map(|place| place as u32);
        let orders = Orders {
            control: raw::number(&keeper_end),
            segment: raw::number(&segment.descriptor),
            job: segment.control.layout().job,
            universe: plan.universe,
            ranks: ranks.clone(),
            wireup: modex.as_ref().and_then(Modex::wireup),
            silence_ms: plan.silence_ms,
            bindings: plan.bindings,
            stdin: match plan.stdin {
                Stdin::Rank(rank) => local(rank).map_or(Stdin::None, Stdin::Rank),
                other => other,
            },
            merge: plan.merge,
            pty: plan.pty,
            apps: plan.apps,
        };
        let orders = without_file_limit(|| orders.write()).map_err(|error| failed(&error))?;
        let mut inherit = [&keeper_end, &segment.descriptor, &orders].map(raw::number).to_vec();
        let number = inherit[2].to_string();
        inherit.extend(modex.iter().flat_map(Modex::descriptors));
        let mut command = Command::new(own_program());
        command.arg0("mpirun").arg(ARGUMENT).arg(number);
        match plan.environment {
            KeeperEnvironment::Own(variables) => command.envs(variables),
            KeeperEnvironment::Only(variables) => command.env_clear().envs(variables),
        };
        if let Some(input) = plan.input {
            command.stdin(Stdio::from(input));
        }
        let keeper = raw::spawn_keeper(&mut command, inherit, handled, limit).map_err(|error| failed(&error))?;
        let next_check = Instant::now() + TICK;
        let outbox = Outbox::default();
        let (is_killed, is_gone) = (false, false);
        Ok(Here { segment, modex, ranks, control, outbox, keeper, is_killed, strangers, next_check, is_gone })
    }

    /// The place of a rank of the job in the segment; `None` if it runs elsewhere.
    pub fn local(&self, rank: u32) -> Option<u32> {
        self.ranks.binary_search(&rank).ok().map(|place| place as u32)
    }

    /// The ranks of the job that run here.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The keeper has ended, and no process of the ranks is left.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// What to wait for: news of the keeper, and of the ranks' wire-up.
    pub fn descriptors(&self) -> [Option<BorrowedFd<'_>>; 2] {
        let keeper = (!self.is_gone).then(|| self.control.as_fd());
        [keeper, self.modex.as_ref().filter(|_| !self.is_gone).map(Modex::wake_socket)]
    }

    /// The next thing that happened.
    pub fn hear(&mut self) -> Result<Option<RankEvent>, Refusal> {
        if self.is_gone {
            return Ok(None);
        }
        let received = match wire::receive(&self.control) {
            Ok(received) => received,
            Err(error) => return Err(Refusal::system("hearing the keeper process", error)),
        };
        let rank = |local: u32| {
            let rank = self.ranks.get(local as usize).copied();
            rank.ok_or_else(|| Refusal::system("hearing the keeper process", "there is no such rank"))
        };
        Ok(Some(match received {
            Received::Message(Message::Started(local, pid), ends) => RankEvent::Started(rank(local)?, pid, ends),
            Received::Message(Message::NotStarted(local, errno), _) => {
                RankEvent::NotStarted(rank(local)?, errno as i32)
            }
            Received::Message(Message::Ended(local, status), _) => RankEvent::Ended(rank(local)?, status as i32),
            Received::Message(Message::Unread(local), _) => RankEvent::Unread(rank(local)?),
            Received::Message(..) => return Err(Refusal::system("hearing the keeper process", "wrong message")),
            Received::Closed => RankEvent::KeeperGone,
            Received::Nothing => return Ok(None),
        }))
    }

    /// Without waiting: a stopped keeper takes nothing, and this process must not hang on that.
    pub fn tell(&mut self, message: Message) {
        let message = match message {
            Message::Unread(rank) => match self.local(rank) {
                Some(local) => Message::Unread(local),
                None => return,
            },
            Message::End(rank, signal) => match self.local(rank) {
                Some(local) => Message::End(local, signal),
                None => return,
            },
            other => other,
        };
        if !self.is_gone {
            self.outbox.tell(&self.control, message);
        }
    }

    /// What a rank is to MPI; [`RankState::Gone`] if it runs elsewhere.
    pub fn state(&self, rank: u32) -> RankState {
        self.local(rank).map_or(RankState::Gone, |local| self.segment.control.state(local))
    }

    /// Status and message of a rank that called abort.
    pub fn aborted(&self, rank: u32) -> Option<(i32, String)> {
        self.segment.control.aborted(self.local(rank)?)
    }

    /// See [`orte_core::segment::Control::has_lost_peer`].
    pub fn has_lost_peer(&self, rank: u32) -> bool {
        self.local(rank).is_some_and(|local| self.segment.control.has_lost_peer(local))
    }

    /// See [`orte_core::segment::Control::slept`].
    pub fn slept(&self, rank: u32) -> Option<(u64, u64)> {
        self.segment.control.slept(self.local(rank)?)
    }

    /// See [`orte_core::segment::Control::awaited`].
    pub fn awaited(&self, rank: u32) -> (Needed, String) {
        self.local(rank).map(|local| self.segment.control.awaited(local)).unwrap_or_default()
    }

    /// What a rank has counted, and how long ago that was, in ns.
    pub fn told(&self, rank: u32) -> Option<(u64, String)> {
        let (at_ns, words) = self.segment.control.told(self.local(rank)?)?;
        Some((opal_core::sys::monotonic_ns().saturating_sub(at_ns), words))
    }

    /// Whoever waits for a rank that ended learns that it will not come; what the other hosts are told.
    pub fn mark_gone(&mut self, rank: u32) -> Result<Vec<modex::Outgoing>, String> {
        let Some(local) = self.local(rank) else { return Ok(Vec::new()) };
        // The keeper only reports ranks that it started.
        let _ = self.segment.control.mark_gone(local);
        self.modex.as_mut().map_or(Ok(Vec::new()), Modex::on_gone)
    }

    /// The keeper's end of the socket is closed: its wait status. Whatever it left is killed, except the processes in `spare`.
    pub fn keeper_is_gone(&mut self, spare: &[Process]) -> i32 {
        let status = self.keeper_status();
        let spare: Vec<Process> = self.strangers.iter().chain(spare).copied().collect();
        // Its orphans are this process's now.
        for process in tree::clear(&spare, |_, _| {}) {
            say(&format!("process {} did not end although it was killed; it hangs inside the system", process.pid));
        }
        self.is_gone = true;
        status
    }

    /// The wait status of the keeper, whose end of the socket is closed. A process may hang while it ends; then it is
    /// killed and left to the system.
    fn keeper_status(&mut self) -> i32 {
        let end = Instant::now() + LEAVING;
        while Instant::now() < end {
            match self.keeper.try_wait() {
                Ok(Some(status)) => return status.into_raw(),
                Ok(None) => opal_core::sys::nap_us(1000),
                Err(_) => break,
            }
        }
        let _ = self.keeper.kill();
        1 << 8
    }

    /// A stopped keeper neither hears nor reaps: it is told to go on, however often somebody stops it. Whether it was stopped, or a
    /// debugger holds it, which alone can let it go on.
    pub fn look_at_keeper(&mut self) -> bool {
        if self.is_gone || Instant::now() < self.next_check {
            return false;
        }
        self.next_check = Instant::now() + TICK;
        self.outbox.flush(&self.control);
        let is_stopped = tree::is_held(self.keeper.id() as i32);
        if is_stopped {
            let _ = rustix::process::kill_process(Pid::from_child(&self.keeper), Signal::CONT);
        }
        is_stopped
    }

    /// It did not end although it was told to. Its end of the socket closes, and what it left is cleared here. For how long that is
    /// to be awaited; `None` where it was killed before: then it hangs inside the system, and counts as gone.
    pub fn kill_keeper(&mut self) -> Option<Duration> {
        if self.is_killed {
            return None;
        }
        self.is_killed = true;
        say(&format!("the keeper process ({}) does not answer and is killed", self.keeper.id()));
        let _ = self.keeper.kill();
        Some(LEAVING)
    }
}

/// The file that this process runs, or what the system keeps of it when it is no longer there. By its name, because under valgrind
/// the system's link leads to valgrind.
pub fn own_program() -> PathBuf {
    let link = Path::new("/proc/self/exe");
    std::env::current_exe().ok().filter(|path| path.is_file()).unwrap_or_else(|| link.to_owned())
}

/// How often to look whether the keeper was stopped.
const TICK: Duration = Duration::from_millis(250);
/// How long the keeper's process may take to vanish after it closed everything.
const LEAVING: Duration = Duration::from_secs(2);
