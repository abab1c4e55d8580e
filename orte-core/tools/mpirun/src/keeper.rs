//! The keeper: parent of all ranks. It starts them, tells mpirun how each ended, and passes signals on.
//!
//! When mpirun dies, even by SIGKILL, its end of the socket closes, and the keeper kills everything below itself.

use crate::cli::{self, Stdin};
use crate::orders::{ARGUMENT, Executable, Orders};
use crate::pty;
use crate::raw::{self, Start};
use crate::tree;
use crate::wire::{self, Message, Received};
use opal_core::mca::source::{COMMAND_LINE, PREFIX};
use orte_core::environment::{Contract, OutputPipe};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Resource, Signal};
use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::io::{Error, Result};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Runs as keeper until the job is over.
pub fn run(words: &[OsString]) -> ExitCode {
    let number = words.first().and_then(|word| word.to_str()?.parse().ok());
    let orders = number.map(|number| raw::adopt(number).and_then(Orders::read));
    let Some(Ok(orders)) = orders else {
        crate::refusal::say(&format!("{ARGUMENT} is for mpirun itself; run mpirun --help"));
        return ExitCode::from(crate::refusal::OWN);
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

struct Keeper {
    orders: Orders,
    control: OwnedFd,
    segment: OwnedFd,
    children: OwnedFd,
    /// Process of each rank started so far; `None` once it ended.
    ranks: Vec<Option<Pid>>,
    /// Since when the daemon above this process is stopped.
    stopped_since: Option<Instant>,
}

impl Keeper {
    fn new(orders: Orders) -> Result<Keeper> {
        let control = raw::adopt(orders.control)?;
        let low = raw::adopt(orders.segment)?;
        // Shell scripts use small numbers for themselves.
        let segment = rustix::io::fcntl_dupfd_cloexec(&low, SEGMENT_NUMBER).unwrap_or(low);
        orders.wireup.iter().try_for_each(raw::keep_from_children)?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        rustix::thread::set_name(c"mpirun-keeper")?;
        raw::defer(&[libc::SIGXFSZ])?;
        let children = raw::signal_descriptor(&[libc::SIGCHLD])?;
        Ok(Keeper { orders, control, segment, children, ranks: Vec::new(), stopped_since: None })
    }

    fn keep(mut self) -> Result<()> {
        self.start_all()?;
        let silence = self.orders.silence_ms.map(Duration::from_millis);
        let tick = silence.map(|silence| silence.min(TICK));
        let tick = tick.map(|tick| Timespec { tv_sec: tick.as_secs() as i64, tv_nsec: i64::from(tick.subsec_nanos()) });
        loop {
            if silence.is_some_and(|silence| !self.look_at_parent(silence)) {
                break;
            }
            let (control, children) = {
                let mut ready = [PollFd::new(&self.control, PollFlags::IN), PollFd::new(&self.children, PollFlags::IN)];
                match rustix::event::poll(&mut ready, tick.as_ref()) {
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
                Received::Message(Message::End(rank, number), _) => {
                    if let (Some(Some(pid)), Some(signal)) =
                        (self.ranks.get(rank as usize), Signal::from_named_raw(number as i32))
                    {
                        _ = rustix::process::kill_process(*pid, signal);
                    }
                }
                Received::Message(Message::Unread(rank), _) => {
                    // Pending before the answer makes mpirun close the terminal: no writer sees an error first.
                    if let Some(Some(pid)) = self.ranks.get(rank as usize) {
                        _ = rustix::process::kill_process(*pid, Signal::PIPE);
                    }
                    // A dead mpirun is noticed by its closed end.
                    let _ = wire::send(&self.control, Message::Unread(rank), &[]);
                }
                Received::Message(Message::Finish, _) | Received::Closed => return Ok(false),
                Received::Message(..) => return Err(Error::other("mpirun sent what only a keeper sends")),
                Received::Nothing => return Ok(true),
            }
        }
    }

    fn start_all(&mut self) -> Result<()> {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        for rank in 0..self.orders.ranks.len() as u32 {
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
    /// standard input, and the read end of what is to become its standard output.
    fn start(&mut self, rank: u32, environment: &[(OsString, OsString)]) -> Result<(Pid, Vec<OwnedFd>)> {
        let (output, output_end) = self.output()?;
        let (error, error_end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let mut ends = vec![output, error];
        let next = self.next_output(&output_end)?;
        let input = match self.orders.stdin {
            Stdin::All => {
                let (input_end, input) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
                ends.push(input);
                Stdio::from(input_end)
            }
            Stdin::Rank(reader) if reader == rank => Stdio::inherit(),
            Stdin::Rank(_) | Stdin::None => Stdio::null(),
        };
        let app = cli::app_of(self.orders.apps.iter().map(|app| app.ranks), self.orders.ranks[rank as usize]);
        let mut command = Command::new(&self.orders.apps[app].path);
        // Of a merged standard error mpirun sees the end at once.
        let error_end = if self.orders.merge { output_end.try_clone()? } else { error_end };
        command.stdin(input).stdout(output_end).stderr(error_end);
        if !self.orders.apps[app].directory.is_empty() {
            command.current_dir(&self.orders.apps[app].directory);
        }
        let start = self.begin(rank, app, environment, next.as_ref().map(|(_, end, output)| (end, *output)))?;
        let child = raw::spawn_rank(&mut command, start)?;
        ends.extend(next.map(|(next, ..)| next));
        // The child is waited for by number, with all the others.
        Ok((Pid::from_child(&child), ends))
    }

    /// The two ends of a rank's standard output. Where no pseudo terminal is to be had, none is tried again.
    fn output(&mut self) -> Result<(OwnedFd, OwnedFd)> {
        if let Some(pty) = self.orders.pty {
            match pty::open(pty) {
                Ok(ends) => return Ok(ends),
                Err(errno) => {
                    pty::complain(errno);
                    self.orders.pty = None;
                }
            }
        }
        Ok(rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?)
    }

    /// What MPI_Init puts in place of this pseudo terminal: its read end, its write end, and what the rank is told of it. With one
    /// stream for output and errors nothing, because the order of both would be lost.
    fn next_output(&self, terminal: &OwnedFd) -> Result<Option<(OwnedFd, OwnedFd, OutputPipe)>> {
        if self.orders.merge || !self.orders.pty.is_some_and(|pty| pty.until_init) {
            return Ok(None);
        }
        let (next, low) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let end = rustix::io::fcntl_dupfd_cloexec(&low, SEGMENT_NUMBER).unwrap_or(low);
        let terminal = rustix::fs::fstat(terminal)?;
        let terminal = [terminal.st_dev, terminal.st_rdev];
        let output = OutputPipe { pipe: raw::number(&end), inode: rustix::fs::fstat(&end)?.st_ino, terminal };
        Ok(Some((next, end, output)))
    }

    fn begin(
        &self,
        rank: u32,
        app: usize,
        environment: &[(OsString, OsString)],
        output: Option<(&OwnedFd, OutputPipe)>,
    ) -> Result<Start> {
        let Orders { job, universe, wireup, ref ranks, ref bindings, ref apps, .. } = self.orders;
        let contract = Contract {
            job,
            rank: ranks[rank as usize],
            size: self.orders.size(),
            local_rank: rank,
            local_size: ranks.len() as u32,
            universe,
            app: app as u32,
            segment: raw::number(&self.segment),
            launcher: Some(std::process::id()),
            wireup,
            output: output.map(|(_, output)| output),
        };
        let own = contract.encode().into_iter().map(|(name, value)| (name.into(), value.into()));
        let app = &apps[app];
        let variables = variables(app, environment, own.collect());
        let pairs = variables.iter().map(|(name, value)| pair(name.as_bytes(), value.as_bytes()));
        let words = app.arguments.iter().map(|word| Ok(CString::new(word.clone().into_vec())?));
        Ok(Start {
            path: CString::new(app.path.clone().into_vec())?,
            arguments: words.collect::<Result<_>>()?,
            environment: pairs.collect::<Result<_>>()?,
            inherit: self.inherited().into_iter().chain(output.map(|(end, _)| raw::number(end))).collect(),
            processors: bindings.get(rank as usize).cloned().unwrap_or_default(),
            files: rustix::process::getrlimit(Resource::Nofile),
        })
    }

    /// What is left open for ranks.
    fn inherited(&self) -> Vec<i32> {
        let wireup = self.orders.wireup.iter().flat_map(|wireup| [wireup.map, wireup.addresses, wireup.wake_socket]);
        wireup.chain([raw::number(&self.segment)]).collect()
    }

    /// A stopped daemon counts as silent: when mpirun has given this host up, nothing may be left here. mpirun notices the silence first;
    /// if it does not, what is said here tells why the connection ended.
    fn look_at_parent(&mut self, silence: Duration) -> bool {
        let Some(parent) = rustix::process::getppid() else { return true };
        if !tree::is_held(parent.as_raw_nonzero().get()) {
            self.stopped_since = None;
            return true;
        }
        if self.stopped_since.get_or_insert_with(Instant::now).elapsed() < silence + silence / 4 + MARGIN {
            return true;
        }
        crate::refusal::say(&format!(
            "host {}: its daemon is stopped, and was not told to go on for {} s: it is killed, and so are its ranks",
            opal_core::sys::hostname(),
            silence.as_secs()
        ));
        // It is a stopped child of the same user's; gone already is as good.
        let _ = rustix::process::kill_process(parent, Signal::KILL);
        false
    }

    fn ended(&mut self, pid: Pid, status: i32) {
        if let Some(rank) = self.ranks.iter().position(|rank| *rank == Some(pid)) {
            self.ranks[rank] = None;
            // A dead mpirun is noticed by `keep`.
            let _ = wire::send(&self.control, Message::Ended(rank as u32, status as u32), &[]);
        }
    }
}

/// The variables of a rank: the keeper's, changed as its program wants them, and those that say who it is.
fn variables(
    app: &Executable,
    environment: &[(OsString, OsString)],
    own: BTreeMap<OsString, OsString>,
) -> BTreeMap<OsString, OsString> {
    // Parameters are no variables that a user counts as such.
    let is_parameter = |name: &OsString| name.as_bytes().starts_with(PREFIX.as_bytes()) || name == COMMAND_LINE;
    let inherited = environment.iter().filter(|(name, _)| !app.environment.is_empty || is_parameter(name));
    let mut all: BTreeMap<OsString, OsString> = inherited.cloned().collect();
    for (name, value) in &app.environment.changes {
        match value {
            Some(value) => _ = all.insert(name.clone(), value.clone()),
            None => _ = all.remove(name),
        }
    }
    if !app.directory.is_empty() {
        all.insert("PWD".into(), app.directory.clone());
    }
    all.extend(own);
    all
}

fn pair(name: &[u8], value: &[u8]) -> Result<CString> {
    Ok(CString::new([name, b"=", value].concat())?)
}

const SEGMENT_NUMBER: i32 = 200;
/// So much later than mpirun the keeper gives a stopped daemon up, and a quarter of the silence.
const MARGIN: Duration = Duration::from_millis(500);
/// How often to look whether a daemon above is stopped.
const TICK: Duration = Duration::from_secs(1);
