//! Every process below this one: finding them, signalling them, killing them until none is left.
//!
//! A child subreaper is the parent of all orphans below it. So once `waitpid` says that there is no child, there is no
//! descendant either, whatever they forked or however they detached themselves. A process is signalled through a pidfd
//! that was checked to be the one that was listed, so that a number that is used again hits nobody else. Where the system
//! has no pidfds, the start time of the process is compared just before it is signalled.

use crate::raw;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// One process: the number alone would be ambiguous over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// When it started, in clock ticks since boot.
    pub started: u64,
}

/// The processes below this one, but neither those in `spare` nor what is below them.
pub fn below(spare: &[Process]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some((process, parent)) = pid.and_then(look) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![std::process::id() as i32];
    while let Some(parent) = parents.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if !spare.contains(&child) {
                parents.push(child.pid);
                found.push(child);
            }
        }
    }
    found
}

/// The process with a number.
pub fn find(pid: i32) -> Option<Process> {
    look(pid).map(|(process, _)| process)
}

/// A process and all below it, parents first. Only these are looked at: a host may run many other processes.
pub fn family(pid: i32) -> Vec<i32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        match children(*parent) {
            Some(children) => found.extend(children),
            None => return family_among_all(pid),
        }
        next += 1;
    }
    found
}

/// The children of a process, none of one that is gone; `None` where the system does not list them (CONFIG_PROC_CHILDREN).
fn children(pid: i32) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(list.split_ascii_whitespace().filter_map(|child| child.parse::<i32>().ok())),
            Err(_) if thread.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(found)
}

/// The same by the parents that all processes name.
fn family_among_all(pid: i32) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in below(&[]) {
        if let Some((_, parent)) = look(process.pid) {
            children.entry(parent).or_default().push(process.pid);
        }
    }
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        found.extend(children.remove(parent).unwrap_or_default());
        next += 1;
    }
    found
}

/// Sends a signal to all of them that still exist, and says which of them the system does not let it reach.
pub fn signal(processes: &[Process], signal: Signal) {
    for process in processes {
        if let Some(Err(errno)) = Target::open(process).map(|target| target.signal(signal)) {
            say_unreachable(process, errno);
        }
    }
}

/// Kills everything below this process except `spare` and waits until it is gone; `ended` hears of every child. Returns
/// what could not be killed within ten seconds: processes that hang inside the system, or that are somebody else's.
pub fn clear(spare: &[Process], mut ended: impl FnMut(Pid, i32)) -> Vec<Process> {
    let give_up = Instant::now() + Duration::from_secs(10);
    let mut unreachable = HashSet::new();
    loop {
        while let Ok(Some((pid, status))) = raw::reap() {
            ended(pid, status);
        }
        let victims = below(spare);
        if victims.is_empty() || Instant::now() >= give_up {
            return victims;
        }
        let targets: Vec<Target> = victims.iter().filter_map(Target::open).collect();
        for target in &targets {
            if let Err(errno) = target.signal(Signal::KILL)
                && unreachable.insert(target.process)
            {
                say_unreachable(&target.process, errno);
            }
        }
        // What is dead already makes this return at once; then its parent, killed as well, is about to leave it to us.
        let pidfds = targets.iter().filter_map(|target| target.pidfd.as_ref());
        let mut waiting: Vec<PollFd<'_>> = pidfds.map(|pidfd| PollFd::new(pidfd, PollFlags::IN)).collect();
        let slice = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        let _ = rustix::event::poll(&mut waiting, Some(&slice));
    }
}

/// A process that can be signalled.
struct Target {
    process: Process,
    /// Leads to this process even after its end. None where the system has no such descriptors: kernels before 5.3, and
    /// filters of containers that refuse what they do not know.
    pidfd: Option<OwnedFd>,
}

impl Target {
    /// `None` if it is gone.
    fn open(process: &Process) -> Option<Target> {
        let pidfd = match rustix::process::pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()) {
            Ok(pidfd) => Some(pidfd),
            Err(Errno::SRCH) => return None,
            Err(_) => None,
        };
        // The number may have been given to another process between listing and opening.
        let target = Target { process: *process, pidfd };
        target.exists().then_some(target)
    }

    fn signal(&self, signal: Signal) -> Result<(), Errno> {
        let sent = match &self.pidfd {
            Some(pidfd) => rustix::process::pidfd_send_signal(pidfd, signal),
            None => Err(Errno::NOSYS),
        };
        let sent = match (sent, Pid::from_raw(self.process.pid)) {
            (Err(Errno::NOSYS | Errno::PERM | Errno::INVAL), Some(pid)) if self.exists() => {
                rustix::process::kill_process(pid, signal)
            }
            (sent, _) => sent,
        };
        match sent {
            // It may be a zombie by now, or gone; there is nothing to tell.
            Err(Errno::SRCH) => Ok(()),
            Err(_) if !self.exists() => Ok(()),
            sent => sent,
        }
    }

    /// Whether the process of this number started when this one did.
    fn exists(&self) -> bool {
        look(self.process.pid).is_some_and(|(process, _)| process == self.process)
    }
}

fn say_unreachable(process: &Process, errno: Errno) {
    crate::refusal::say(&format!("process {} cannot be signalled to end it: {errno}", process.pid));
}

/// A process and its parent, from `/proc/<pid>/stat`.
fn look(pid: i32) -> Option<(Process, i32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (parent, started) = parse(&text)?;
    Some((Process { pid, started }, parent))
}

/// The process of this number as it is now.
pub fn process(pid: i32) -> Option<Process> {
    look(pid).map(|(process, _)| process)
}

/// Whether a process was stopped by a signal.
pub fn is_stopped(pid: i32) -> bool {
    state(pid) == Some('T')
}

/// Whether a debugger holds a process. One that only looks at its system calls, as strace, lets it go at once.
pub fn is_traced(pid: i32) -> bool {
    stays(pid, 't')
}

/// Whether a process does nothing until somebody else lets it: one whose signals it does not see.
pub fn is_held(pid: i32) -> bool {
    is_stopped(pid) || is_traced(pid)
}

/// Whether a process hangs inside the system, where no signal but SIGKILL reaches it: it waits for a file server, or is in vfork
/// until its child executes something.
pub fn is_stuck(pid: i32) -> bool {
    stays(pid, 'D')
}

/// Whether a process is in this state for a while.
fn stays(pid: i32, letter: char) -> bool {
    let end = Instant::now() + WHILE;
    while state(pid) == Some(letter) {
        if Instant::now() >= end {
            return true;
        }
        opal_core::sys::nap_us(100);
    }
    false
}

/// The letter that proc(5) lists.
fn state(pid: i32) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

/// Fields 4 and 22. The name in field 2 may hold blanks and parentheses.
fn parse(text: &str) -> Option<(i32, u64)> {
    let fields: Vec<&str> = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

/// Longer than a process waits for a disk, or is held at a system call that somebody looks at.
const WHILE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines() {
        let rest = "S 17 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 9 9";
        assert_eq!(parse(&format!("42 (sh) {rest}")), Some((17, 987654)));
        assert_eq!(parse(&format!("42 (a) b) (c) {rest}")), Some((17, 987654)));
        assert_eq!(parse("42 (sh) S 17"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_family_is_found_in_either_way() {
        use std::io::BufRead;
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", "sleep 101 & sleep 102 & echo; wait"]).stdout(std::process::Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        std::io::BufReader::new(shell.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        let pid = shell.id() as i32;
        let found = family(pid);
        assert!(found.len() == 3 && found[0] == pid, "{found:?}");
        assert_eq!(family_among_all(pid), found);
        found.iter().for_each(|pid| signal(&process(*pid).into_iter().collect::<Vec<_>>(), Signal::KILL));
        shell.wait().unwrap();
        assert_eq!(family(pid), [pid], "nothing is below a process that is gone");
    }

    #[test]
    fn this_process_is_found_and_its_children_are_below() {
        let own = look(std::process::id() as i32).unwrap().0;
        assert!(own.started > 0);
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let found = below(&[]);
        let process = *found.iter().find(|process| process.pid == child.id() as i32).unwrap();
        assert!(!below(&[process]).contains(&process));
        signal(&[Process { started: process.started + 1, ..process }], Signal::KILL);
        assert!(child.try_wait().unwrap().is_none(), "another process of the same number was hit");
        signal(&[process], Signal::KILL);
        child.wait().unwrap();
    }
}
