//! A program under dist/bin/mpirun.

use crate::build::Built;
use crate::failure::{At, Result, fail};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// What of a program's output reaches the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// All of it, as it comes; the library is not asked which components run.
    All,
    /// All of it but the list of components, which comes back in [`JobEnd`].
    AllButComponents,
    /// None of it: it comes back in [`JobEnd`].
    Nothing,
}

/// How a program ended.
#[derive(Debug)]
pub struct JobEnd {
    /// mpirun's exit status; 128 + signal if it was killed.
    pub status: i32,
    /// `btl/sm: chosen (priority 50)` and so on, sorted.
    pub components: Vec<String>,
    /// Both streams, where they were not shown.
    pub output: String,
}

/// Launches and waits.
pub fn launch(built: &Built, program: &Path, ranks: u32, arguments: &[String], show: Show) -> Result<JobEnd> {
    let mpirun = built.dist.join("bin/mpirun");
    if !mpirun.exists() {
        return Err(fail(format!("{} does not exist: this source tree has no package mpirun", mpirun.display())));
    }
    let mut command = Command::new(&mpirun);
    command.args(["-n", &ranks.to_string()]);
    if show != Show::All {
        command.args(["--mca", "mpi_show_components", "1"]);
    }
    command.arg(program).args(arguments);
    if show == Show::All {
        let status = command.status().at(format!("run {}", mpirun.display()))?;
        return Ok(JobEnd { status: number(status), components: Vec::new(), output: String::new() });
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(if show == Show::Nothing { Stdio::piped() } else { Stdio::inherit() })
        .stderr(Stdio::piped())
        .spawn()
        .at(format!("run {}", mpirun.display()))?;
    let (ended, watchdog) = guard(child.id());
    let (sender, lines) = channel();
    let readers = [
        child.stdout.take().map(|pipe| read(pipe, sender.clone())),
        child.stderr.take().map(|pipe| read(pipe, sender)),
    ];
    let (mut components, mut output) = (Vec::new(), String::new());
    for line in lines {
        match line.split_once("] component ") {
            Some((_, decision)) => components.push(decision.to_owned()),
            None if show == Show::Nothing => output += &format!("{line}\n"),
            None => _ = writeln!(std::io::stderr(), "{line}"),
        }
    }
    for reader in readers.into_iter().flatten() {
        let _ = reader.join();
    }
    let status = child.wait().at("wait for mpirun")?;
    drop(ended);
    if watchdog.join().unwrap_or(false) {
        let name = program.display();
        return Err(fail(format!(
            "{name} did not end within {} s; mpirun was told to end it\n{output}",
            PATIENCE.as_secs()
        )));
    }
    components.sort();
    Ok(JobEnd { status: number(status), components, output })
}

/// Asks mpirun to end when it takes too long; true from the thread when it came to that. Ends when the sender is
/// dropped.
fn guard(mpirun: u32) -> (Sender<()>, thread::JoinHandle<bool>) {
    let (ended, wait) = channel::<()>();
    let watchdog = thread::spawn(move || match wait.recv_timeout(PATIENCE) {
        Err(RecvTimeoutError::Timeout) => {
            // Its own signal handling ends all ranks, which a SIGKILL from here would not.
            let _ = Command::new("kill").arg(mpirun.to_string()).status();
            true
        }
        _ => false,
    });
    (ended, watchdog)
}

fn read(pipe: impl Read + Send + 'static, sender: Sender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(std::result::Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    })
}

fn number(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// For the heat solver, which takes a second; a hang must become a message.
const PATIENCE: Duration = Duration::from_secs(300);
