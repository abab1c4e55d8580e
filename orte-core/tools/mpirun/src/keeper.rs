//! The keeper: parent of all ranks. It starts them, tells mpirun how each ended, and passes signals on.
//!
//! When mpirun dies its end of the socket closes, and the keeper kills everything below itself.

use crate::raw::{self, Start};
use crate::tree;
use crate::wire::{self, Message, Received};
use orte_core::environment::Contract;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, OwnedFd};
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
    /// How many ranks to start.
    pub ranks: u32,
    /// How many the job could have.
    pub universe: u32,
    /// Cores to pin the ranks to in turn; empty: none.
    pub cores: Vec<usize>,
    /// The file to execute.
    pub path: OsString,
    /// Its arguments, the first being its name.
    pub arguments: Vec<OsString>,
}

/// Runs as keeper until the job is over.
pub fn run(words: &[OsString]) -> ExitCode {
    let Some(orders) = Orders::decode(words) else {
        crate::say(&format!("{ARGUMENT} is for mpirun itself; run mpirun --help"));
        return ExitCode::from(2);
    };
    match Keeper::new(orders).and_then(Keeper::keep) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::say(&format!("the keeper process failed: {error}"));
            tree::clear(&[], |_, _| {});
            ExitCode::FAILURE
        }
    }
}

impl Orders {
    /// As words of a command line.
    pub fn encode(&self) -> Vec<OsString> {
        let cores: Vec<String> = self.cores.iter().map(usize::to_string).collect();
        let numbers = [
            self.control.to_string(),
            self.segment.to_string(),
            self.job.to_string(),
            self.ranks.to_string(),
            self.universe.to_string(),
            cores.join(","),
        ];
        let mut words: Vec<OsString> = numbers.into_iter().map(OsString::from).collect();
        words.push(self.path.clone());
        words.extend_from_slice(&self.arguments);
        words
    }

    fn decode(words: &[OsString]) -> Option<Orders> {
        let (numbers, rest) = words.split_first_chunk::<6>()?;
        let (path, arguments) = rest.split_first()?;
        let cores = numbers[5].to_str()?;
        Some(Orders {
            control: numbers[0].to_str()?.parse().ok()?,
            segment: numbers[1].to_str()?.parse().ok()?,
            job: numbers[2].to_str()?.parse().ok()?,
            ranks: numbers[3].to_str()?.parse().ok()?,
            universe: numbers[4].to_str()?.parse().ok()?,
            cores: cores
                .split(',')
                .filter(|core| !core.is_empty())
                .map(|core| core.parse().ok())
                .collect::<Option<_>>()?,
            path: path.clone(),
            arguments: arguments.to_vec(),
        })
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
            crate::say(&format!(
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
        for rank in 0..self.orders.ranks {
            match self.start(rank, &environment) {
                Ok((pid, output, error)) => {
                    self.ranks.push(Some(pid));
                    let message = Message::Started(rank, pid.as_raw_nonzero().get() as u32);
                    if wire::send(&self.control, message, &[output.as_fd(), error.as_fd()]).is_err() {
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

    /// Starts one rank: its process and the read ends of its standard output and error.
    fn start(&self, rank: u32, environment: &[(OsString, OsString)]) -> Result<(Pid, OwnedFd, OwnedFd)> {
        let (output, output_end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let (error, error_end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let mut command = Command::new(&self.orders.path);
        command.stdin(if rank == 0 { Stdio::inherit() } else { Stdio::null() });
        command.stdout(output_end).stderr(error_end);
        let child = raw::spawn_rank(&mut command, self.begin(rank, environment)?)?;
        // The child is waited for by number, with all the others.
        let pid = Pid::from_child(&child);
        Ok((pid, output, error))
    }

    fn begin(&self, rank: u32, environment: &[(OsString, OsString)]) -> Result<Start> {
        let Orders { job, ranks, universe, ref cores, .. } = self.orders;
        let contract = Contract {
            job,
            rank,
            size: ranks,
            local_rank: rank,
            local_size: ranks,
            universe,
            segment: raw::number(&self.segment),
        };
        let own = contract.encode();
        let inherited = environment.iter().filter(|(name, _)| !own.iter().any(|(set, _)| name == set));
        let mut pairs: Vec<CString> =
            inherited.map(|(name, value)| pair(name.as_bytes(), value.as_bytes())).collect::<Result<_>>()?;
        for (name, value) in &own {
            pairs.push(pair(name.as_bytes(), value.as_bytes())?);
        }
        let words = self.orders.arguments.iter().map(|word| Ok(CString::new(word.clone().into_vec())?));
        Ok(Start {
            path: CString::new(self.orders.path.clone().into_vec())?,
            arguments: words.collect::<Result<_>>()?,
            environment: pairs,
            segment: raw::number(&self.segment),
            core: (!cores.is_empty()).then(|| cores[rank as usize % cores.len()]),
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
        let orders = Orders {
            control: 3,
            segment: 4,
            job: u64::MAX,
            ranks: 5,
            universe: 6,
            cores: vec![0, 2],
            path: "/bin/a b".into(),
            arguments: vec!["a b".into(), "".into(), "--x".into()],
        };
        assert_eq!(Orders::decode(&orders.encode()), Some(orders.clone()));
        let unbound = Orders { cores: Vec::new(), ..orders };
        assert_eq!(Orders::decode(&unbound.encode()), Some(unbound));
        assert_eq!(Orders::decode(&["3".into()]), None);
    }
}
