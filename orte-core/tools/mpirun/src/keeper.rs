//! The keeper: parent of all ranks. It starts them, tells mpirun how each ended, and passes signals on.
//!
//! When mpirun dies its end of the socket closes, and the keeper kills everything below itself.

use crate::cli::{self, Stdin};
use crate::raw::{self, Start};
use crate::tree;
use crate::wire::{self, Message, Received};
use orte_core::environment::Contract;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Resource, Signal};
use std::ffi::{CString, OsString};
use std::io::{Error, Result};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Command, ExitCode, Stdio};

/// The hidden first argument that makes this program a keeper; the words of [`Orders`] follow.
pub const ARGUMENT: &str = "--ompi-rs-keeper";

/// What mpirun passes in the keeper's arguments; everything else is in its environment and directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Number of the socket to mpirun.
    pub control: i32,
    /// Number of the segment.
    pub segment: i32,
    /// The job.
    pub job: u64,
    /// How many ranks the job could have.
    pub universe: u32,
    /// Sets of processors that the ranks take in turn; none: they run anywhere.
    pub bindings: Vec<Vec<usize>>,
    /// Who gets standard input.
    pub stdin: Stdin,
    /// What to start.
    pub apps: Vec<App>,
}

/// One program of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Its ranks.
    pub ranks: u32,
    /// The file to execute.
    pub path: OsString,
    /// The directory to work in, absolute; empty: mpirun's own.
    pub directory: OsString,
    /// Its arguments, the first being its name.
    pub arguments: Vec<OsString>,
}

/// Runs as keeper until the job is over.
pub fn run(words: &[OsString]) -> ExitCode {
    let Some(orders) = Orders::decode(words) else {
        crate::refusal::say(&format!("{ARGUMENT} is for mpirun itself; run mpirun --help"));
        return ExitCode::from(2);
    };
    match Keeper::new(orders).and_then(Keeper::keep) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::refusal::say(&format!("the keeper process failed: {error}"));
            tree::clear(&[], |_, _| {});
            ExitCode::FAILURE
        }
    }
}

impl Orders {
    /// As words of a command line.
    pub fn encode(&self) -> Vec<OsString> {
        let numbers = |set: &Vec<usize>| set.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let stdin = match self.stdin {
            Stdin::Rank(rank) => rank.to_string(),
            Stdin::All => "all".to_owned(),
            Stdin::None => "none".to_owned(),
        };
        let fixed = [
            self.control.to_string(),
            self.segment.to_string(),
            self.job.to_string(),
            self.universe.to_string(),
            self.bindings.iter().map(numbers).collect::<Vec<_>>().join(";"),
            stdin,
        ];
        let mut words: Vec<OsString> = fixed.into_iter().map(OsString::from).collect();
        for app in &self.apps {
            words.push(app.ranks.to_string().into());
            words.extend([app.path.clone(), app.directory.clone()]);
            words.push(app.arguments.len().to_string().into());
            words.extend_from_slice(&app.arguments);
        }
        words
    }

    fn decode(words: &[OsString]) -> Option<Orders> {
        let (fixed, mut rest) = words.split_first_chunk::<6>()?;
        let set = |text: &str| text.split(',').map(|number| number.parse().ok()).collect::<Option<Vec<usize>>>();
        let stdin = match fixed[5].to_str()? {
            "all" => Stdin::All,
            "none" => Stdin::None,
            rank => Stdin::Rank(rank.parse().ok()?),
        };
        let mut apps = Vec::new();
        while !rest.is_empty() {
            let ([ranks, path, directory, count], after) = rest.split_first_chunk::<4>()?;
            let (arguments, after) = after.split_at_checked(count.to_str()?.parse().ok()?)?;
            let ranks = ranks.to_str()?.parse().ok()?;
            let (path, directory) = (path.clone(), directory.clone());
            apps.push(App { ranks, path, directory, arguments: arguments.to_vec() });
            rest = after;
        }
        if apps.is_empty() {
            return None;
        }
        Some(Orders {
            control: fixed[0].to_str()?.parse().ok()?,
            segment: fixed[1].to_str()?.parse().ok()?,
            job: fixed[2].to_str()?.parse().ok()?,
            universe: fixed[3].to_str()?.parse().ok()?,
            bindings: fixed[4].to_str()?.split(';').filter(|one| !one.is_empty()).map(set).collect::<Option<_>>()?,
            stdin,
            apps,
        })
    }

    fn ranks(&self) -> u32 {
        self.apps.iter().map(|app| app.ranks).sum()
    }
}

struct Keeper {
    orders: Orders,
    control: OwnedFd,
    segment: OwnedFd,
    children: OwnedFd,
    /// Process of each rank started so far; `None` once it ended.
    ranks: Vec<Option<Pid>>,
}

impl Keeper {
    fn new(orders: Orders) -> Result<Keeper> {
        let control = raw::adopt(orders.control)?;
        let low = raw::adopt(orders.segment)?;
        // Shell scripts use small numbers for themselves.
        let segment = rustix::io::fcntl_dupfd_cloexec(&low, SEGMENT_NUMBER).unwrap_or(low);
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        rustix::thread::set_name(c"mpirun-keeper")?;
        let children = raw::signal_descriptor(&[libc::SIGCHLD])?;
        Ok(Keeper { orders, control, segment, children, ranks: Vec::new() })
    }

    fn keep(mut self) -> Result<()> {
        self.start_all()?;
        loop {
            let (control, children) = {
                let mut ready = [PollFd::new(&self.control, PollFlags::IN), PollFd::new(&self.children, PollFlags::IN)];
                match rustix::event::poll(&mut ready, None) {
                    Ok(_) => (!ready[0].revents().is_empty(), !ready[1].revents().is_empty()),
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(errno) => return Err(errno.into()),
                }
            };
            if children {
                while raw::next_signal(&self.children).is_some() {}
                while let Ok(Some((pid, status))) = raw::reap() {
                    self.ended(pid, status);
                }
            }
            if control && !self.obey()? {
                break;
            }
        }
        let mut dead = Vec::new();
        let stuck = tree::clear(&[], |pid, status| dead.push((pid, status)));
        for (pid, status) in dead {
            self.ended(pid, status);
        }
        for process in &stuck {
            crate::refusal::say(&format!(
                "process {} did not end although it was killed; it hangs inside the system",
                process.pid
            ));
        }
        Ok(())
    }

    /// Does what mpirun says; false when the job is over.
    fn obey(&mut self) -> Result<bool> {
        loop {
            match wire::receive(&self.control)? {
                Received::Message(Message::Signal(number, all), _) => {
                    let Some(signal) = Signal::from_named_raw(number as i32) else { continue };
                    match all {
                        0 => {
                            self.ranks.iter().flatten().for_each(|pid| _ = rustix::process::kill_process(*pid, signal))
                        }
                        _ => tree::signal(&tree::below(&[]), signal),
                    }
                }
                Received::Message(Message::Finish, _) | Received::Closed => return Ok(false),
                Received::Message(..) => return Err(Error::other("mpirun sent what only a keeper sends")),
                Received::Nothing => return Ok(true),
            }
        }
    }

    fn start_all(&mut self) -> Result<()> {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        for rank in 0..self.orders.ranks() {
            match self.start(rank, &environment) {
                Ok((pid, ends)) => {
                    self.ranks.push(Some(pid));
                    let message = Message::Started(rank, pid.as_raw_nonzero().get() as u32);
                    let ends: Vec<BorrowedFd<'_>> = ends.iter().map(AsFd::as_fd).collect();
                    if wire::send(&self.control, message, &ends).is_err() {
                        return Ok(());
                    }
                }
                Err(error) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    // A dead mpirun is noticed by `keep`.
                    let _ = wire::send(&self.control, Message::NotStarted(rank, errno as u32), &[]);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Starts one rank: its process, the read ends of its standard output and error, and perhaps the write end of its
    /// standard input.
    fn start(&self, rank: u32, environment: &[(OsString, OsString)]) -> Result<(Pid, Vec<OwnedFd>)> {
        let (output, output_end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let (error, error_end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let mut ends = vec![output, error];
        let input = match self.orders.stdin {
            Stdin::All => {
                let (input_end, input) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
                ends.push(input);
                Stdio::from(input_end)
            }
            Stdin::Rank(reader) if reader == rank => Stdio::inherit(),
            Stdin::Rank(_) | Stdin::None => Stdio::null(),
        };
        let app = cli::app_of(self.orders.apps.iter().map(|app| app.ranks), rank);
        let mut command = Command::new(&self.orders.apps[app].path);
        command.stdin(input).stdout(output_end).stderr(error_end);
        if !self.orders.apps[app].directory.is_empty() {
            command.current_dir(&self.orders.apps[app].directory);
        }
        let child = raw::spawn_rank(&mut command, self.begin(rank, app, environment)?)?;
        // The child is waited for by number, with all the others.
        Ok((Pid::from_child(&child), ends))
    }

    fn begin(&self, rank: u32, app: usize, environment: &[(OsString, OsString)]) -> Result<Start> {
        let Orders { job, universe, ref bindings, ref apps, .. } = self.orders;
        let ranks = self.orders.ranks();
        let contract = Contract {
            job,
            rank,
            size: ranks,
            local_rank: rank,
            local_size: ranks,
            universe,
            app: app as u32,
            segment: raw::number(&self.segment),
            launcher: Some(std::process::id()),
        };
        let own = contract.encode();
        let (app, moved) = (&apps[app], !apps[app].directory.is_empty());
        let replaced = |name: &OsString| own.iter().any(|(set, _)| name == set) || (moved && name == "PWD");
        let inherited = environment.iter().filter(|(name, _)| !replaced(name));
        let mut pairs: Vec<CString> =
            inherited.map(|(name, value)| pair(name.as_bytes(), value.as_bytes())).collect::<Result<_>>()?;
        for (name, value) in &own {
            pairs.push(pair(name.as_bytes(), value.as_bytes())?);
        }
        if moved {
            pairs.push(pair(b"PWD", app.directory.as_bytes())?);
        }
        let words = app.arguments.iter().map(|word| Ok(CString::new(word.clone().into_vec())?));
        Ok(Start {
            path: CString::new(app.path.clone().into_vec())?,
            arguments: words.collect::<Result<_>>()?,
            environment: pairs,
            segment: raw::number(&self.segment),
            processors: bindings.get(rank as usize % bindings.len().max(1)).cloned().unwrap_or_default(),
            files: rustix::process::getrlimit(Resource::Nofile),
        })
    }

    fn ended(&mut self, pid: Pid, status: i32) {
        if let Some(rank) = self.ranks.iter().position(|rank| *rank == Some(pid)) {
            self.ranks[rank] = None;
            // A dead mpirun is noticed by `keep`.
            let _ = wire::send(&self.control, Message::Ended(rank as u32, status as u32), &[]);
        }
    }
}

fn pair(name: &[u8], value: &[u8]) -> Result<CString> {
    Ok(CString::new([name, b"=", value].concat())?)
}

const SEGMENT_NUMBER: i32 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_round_trip() {
        let app = |ranks, directory: &str, arguments: &[&str]| App {
            ranks,
            path: "/bin/a b".into(),
            directory: directory.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
        };
        let orders = Orders {
            control: 3,
            segment: 4,
            job: u64::MAX,
            universe: 6,
            bindings: vec![vec![0, 2], vec![1]],
            stdin: Stdin::All,
            apps: vec![app(5, "", &["a b", "", "--x"]), app(1, "/tmp", &[":"])],
        };
        assert_eq!(Orders::decode(&orders.encode()), Some(orders.clone()));
        assert_eq!(orders.ranks(), 6);
        let unbound = Orders { bindings: Vec::new(), stdin: Stdin::Rank(3), ..orders };
        assert_eq!(Orders::decode(&unbound.encode()), Some(unbound.clone()));
        assert_eq!(Orders::decode(&["3".into()]), None);
        let mut cut = unbound.encode();
        cut.pop();
        assert_eq!(Orders::decode(&cut), None);
    }
}
