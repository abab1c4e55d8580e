//! `mpirun --status PID`: asks a running mpirun what its ranks do.
//!
//! The asking process listens on an abstract socket that its process number names, and sends SIGUSR2. mpirun calls back, and each
//! side checks who the other one is. So a job that nobody asks has no socket for it, and no file is made.

use crate::refusal::{self, OWN, Refusal};
use crate::tree;
use orte_core::universe;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::AsFd;
use rustix::process::Signal;
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// Prints what the ranks of another mpirun do.
pub fn ask(text: &str) -> Result<(), Refusal> {
    let refused = |why: String| Refusal { status: OWN, sentence: format!("--status {text}: {why}") };
    let pid: i32 = text.parse().ok().filter(|pid| *pid > 0).ok_or_else(|| {
        refused("the process number of a running mpirun is wanted; --report-pid prints it".to_owned())
    })?;
    check(pid).map_err(refused)?;
    let failed = |error: &dyn std::fmt::Display| Refusal::system("asking for the state of a job", error);
    let listener = address(std::process::id()).and_then(|address| UnixListener::bind_addr(&address));
    let listener = listener.map_err(|error| failed(&error))?;
    let silent = "it did not answer; what it says is on its own standard error, if it can be asked";
    let turn = turn(pid).map_err(|error| failed(&error))?.ok_or_else(|| refused(silent.to_owned()))?;
    let target = tree::find(pid).ok_or_else(|| refused("it has ended".to_owned()))?;
    tree::signal(&[target], Signal::USR2);
    let mut polls = [PollFd::new(&listener, PollFlags::IN)];
    let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    let came = rustix::event::poll(&mut polls, Some(&patience)).map_err(|errno| failed(&errno))?;
    if came == 0 {
        return Err(refused(silent.to_owned()));
    }
    let (mut stream, _) = listener.accept().map_err(|error| failed(&error))?;
    // It has seen the signal.
    drop(turn);
    if peer(&stream).is_none_or(|(process, user)| process != pid || user != user_of(pid).unwrap_or(u32::MAX)) {
        return Err(refused("another process answered".to_owned()));
    }
    let mut answer = String::new();
    let limit = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.read_to_string(&mut answer));
    limit.map_err(|error| failed(&error))?;
    refusal::print(&answer)
}

/// The right to ask, for one process at a time: of several signals that wait to be taken the system keeps one. `None` if it was not to
/// be had in time. It is an address, so that it ends with its owner.
fn turn(pid: i32) -> std::io::Result<Option<UnixListener>> {
    let address = SocketAddr::from_abstract_name(format!("ompi-rs asks {pid}"))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match UnixListener::bind_addr(&address) {
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            bound => return bound.map(Some),
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        // Nothing tells of an address that becomes free.
        std::thread::sleep(AGAIN);
    }
}

/// Of the process that sent SIGUSR2: its end of the socket, if it asks like this.
pub fn asker(pid: u32) -> Option<UnixStream> {
    let stream = UnixStream::connect_addr(&address(pid).ok()?).ok()?;
    let own = rustix::process::getuid().as_raw();
    let is_asker = peer(&stream).is_some_and(|(process, user)| process as u32 == pid && (user == own || user == 0));
    // Its reader is never waited for.
    (is_asker && stream.set_nonblocking(true).is_ok()).then_some(stream)
}

/// Answers; one that has gone is no failure.
pub fn answer(mut asker: UnixStream, lines: &str) {
    let _ = asker.write_all(lines.as_bytes());
}

/// Whether some process of a rank takes the signal itself: it means something to the program.
pub fn takes_usr2(pid: u32) -> bool {
    let taken = |pid: i32| mask(pid, "SigCgt:").is_some_and(|mask| mask & USR2 != 0);
    tree::family(pid as i32).into_iter().any(taken)
}

/// `Err` with half a sentence if a process is no mpirun that can be asked: the signal would end it.
fn check(pid: i32) -> Result<(), String> {
    let place = |who: &str| {
        let file = std::fs::metadata(format!("/proc/{who}/exe"))?;
        std::io::Result::Ok((file.dev(), file.ino()))
    };
    let theirs = place(&pid.to_string()).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such process".to_owned(),
        _ => format!("it cannot be looked at: {error}"),
    })?;
    if place("self").ok() != Some(theirs) {
        return Err("it is not this mpirun, or one of another installation".to_owned());
    }
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let second = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    if second.starts_with(HELPER) && second != universe::ARGUMENT.as_bytes() {
        return Err("it is a helper; ask the mpirun that started it, or those that it has started".to_owned());
    }
    match mask(pid, "SigBlk:") {
        Some(blocked) if blocked & USR2 != 0 => Ok(()),
        _ => Err("it has not started its ranks yet".to_owned()),
    }
}

fn address(pid: u32) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("ompi-rs status {pid}"))
}

/// Process and user at the other end.
fn peer(stream: &UnixStream) -> Option<(i32, u32)> {
    let them = rustix::net::sockopt::socket_peercred(stream.as_fd()).ok()?;
    Some((them.pid.as_raw_nonzero().get(), them.uid.as_raw()))
}

fn user_of(pid: i32) -> Option<u32> {
    std::fs::metadata(format!("/proc/{pid}")).ok().map(|file| file.uid())
}

/// A set of signals of a process.
fn mask(pid: i32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let digits = status.lines().find_map(|line| line.strip_prefix(name))?;
    u64::from_str_radix(digits.trim(), 16).ok()
}

/// Keepers, daemons: how their first argument begins.
const HELPER: &[u8] = b"--ompi-rs-";
const USR2: u64 = 1 << (libc::SIGUSR2 - 1);
/// How often to look whether another process has asked.
const AGAIN: Duration = Duration::from_millis(2);
/// Longer than mpirun waits for its daemons.
const PATIENCE: Duration = Duration::from_secs(10);
