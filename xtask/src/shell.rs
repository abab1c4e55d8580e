//! Runs other programs: they are quiet unless they fail, and each has a deadline.

use crate::failure::{At, Result, fail};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What a program left behind.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// Everything it wrote to standard output.
    pub stdout: String,
    /// Everything it wrote to standard error.
    pub stderr: String,
}

/// Runs to the end and returns standard output; a failure shows the command and what it wrote.
pub fn output(command: &mut Command) -> Result<String> {
    let outcome = outcome(command, LONG)?;
    if outcome.status.success() {
        return Ok(outcome.stdout);
    }
    Err(fail(format!("{}{}`{}` failed ({})", outcome.stderr, outcome.stdout, line(command), outcome.status)))
}

/// Runs with the terminal's own output when `verbose`, else like [`output`].
pub fn run(command: &mut Command, verbose: bool) -> Result<()> {
    if !verbose {
        return output(command).map(drop);
    }
    eprintln!("+ {}", line(command));
    let status = command.status().at(format!("run `{}`", line(command)))?;
    if status.success() { Ok(()) } else { Err(fail(format!("`{}` failed ({status})", line(command)))) }
}

/// Runs at most this long and returns everything; running out of time is a failure and ends the program.
pub fn outcome(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .at(format!("run `{}`", line(command)))?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = wait(&mut child, limit)
        .ok_or_else(|| fail(format!("`{}` did not end within {} s", line(command), limit.as_secs())))?;
    Ok(Outcome { status, stdout: text(stdout), stderr: text(stderr) })
}

/// Waits for a child, at most this long; ends it afterwards.
pub fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + limit;
    // Tells of the end at once, so that it can be timed. Systems before Linux 5.3 have none.
    let told = rustix::process::pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok();
    // Short naps first: most programs here run for milliseconds.
    let mut nap = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => nap_until(told.as_ref(), nap),
            _ => break,
        }
        nap = (nap * 2).min(Duration::from_millis(50));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Naps, not longer than until the end of a child if that is told.
fn nap_until(told: Option<&OwnedFd>, nap: Duration) {
    let Some(told) = told else { return thread::sleep(nap) };
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(nap.subsec_nanos()) };
    // Interrupted or not, whoever naps looks again.
    let _ = rustix::event::poll(&mut [PollFd::new(told, PollFlags::IN)], Some(&timeout));
}

/// The command as one would type it, without its environment.
pub fn line(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    if line.len() > LINE_LIMIT {
        let end = (0..=LINE_LIMIT).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
        line.truncate(end);
        line.push_str(" …");
    }
    line
}

/// Where a program of this name lies in PATH.
pub fn which(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Reads a file as text.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).at(format!("read {}", path.display()))
}

/// Makes sure that a folder is there.
pub fn folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).at(format!("create {}", path.display()))
}

/// Writes a file, and its folder if that is missing, but leaves it alone if it has this content already: cargo looks
/// at the time of the last change.
pub fn write(path: &Path, content: &str) -> Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == content.as_bytes()) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        self::folder(folder)?;
    }
    std::fs::write(path, content).at(format!("write {}", path.display()))
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A pipe that breaks has ended; what came so far is what there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn text(reader: JoinHandle<Vec<u8>>) -> String {
    String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
}

/// For compilers: on a slow machine under load they may take this long, but not longer.
const LONG: Duration = Duration::from_secs(3600);
const LINE_LIMIT: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    /// Naps that get longer would see it 40 ms later.
    #[test]
    fn the_end_of_a_child_is_seen_at_once() {
        let took = |_| {
            let begin = Instant::now();
            assert!(outcome(Command::new("sleep").arg("0.17"), Duration::from_secs(20)).unwrap().status.success());
            begin.elapsed()
        };
        assert!((0..10).map(took).min().unwrap() < Duration::from_millis(205));
    }

    #[test]
    fn a_child_that_does_not_end_is_ended() {
        assert!(outcome(Command::new("sleep").arg("1000"), Duration::from_millis(100)).is_err());
    }
}
