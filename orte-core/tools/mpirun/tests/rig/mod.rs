//! Running mpirun and looking for processes that it left.
#![allow(dead_code)] // each test program uses its part

pub mod directory;

use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// An mpirun whose processes all carry a mark in their environment.
pub struct Run {
    pub mark: String,
    pub child: Child,
}

/// What came of it.
pub struct Ended {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    /// Starts mpirun with these words. It respects signals that it finds ignored, as everything does that a script starts in
    /// the background; the tests are about a job in the foreground, wherever they run.
    pub fn start(words: &[&str]) -> Run {
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT,QUIT,TERM,USR1,USR2", env!("CARGO_BIN_EXE_mpirun")]);
        Run::start_as(command.args(words))
    }

    /// Starts a command that becomes mpirun, with nothing to read.
    pub fn start_as(command: &mut Command) -> Run {
        Run::start_with(command.stdin(Stdio::null()))
    }

    /// Starts a command that becomes mpirun, with the standard input that it has.
    pub fn start_with(command: &mut Command) -> Run {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("OMPI_TEST_MARK={}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let (name, value) = mark.split_once('=').unwrap();
        command.env(name, value).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        Run { mark, child }
    }

    /// Its processes: id and command line.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|pair| pair == self.mark.as_bytes()) {
                let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
            }
        }
        found
    }

    /// Waits until this many processes have command lines that begin with `words`; their ids.
    pub fn wait_for(&self, words: &str, count: usize) -> Vec<i32> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let found: Vec<i32> =
                self.processes().into_iter().filter(|(_, line)| line.starts_with(words)).map(|(pid, _)| pid).collect();
            if found.len() == count {
                return found;
            }
            assert!(
                Instant::now() < end,
                "{count} processes `{words}` are wanted, these exist: {:?}",
                self.processes()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asserts that within a few seconds none of its processes exists.
    pub fn assert_nothing_left(&self) {
        let end = Instant::now() + Duration::from_secs(5);
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "these processes were left: {left:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal to mpirun.
    pub fn signal(&self, name: &str) {
        signal(name, self.child.id() as i32);
    }

    /// Waits for mpirun, whoever reads what it writes: its status. Fails with these words, and leaves nothing, if it takes longer.
    pub fn end_within(&mut self, limit: Duration, otherwise: &str) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.assert_nothing_left();
                return status.code();
            }
            if start.elapsed() > limit {
                self.signal("KILL");
                self.child.wait().unwrap();
                panic!("after {limit:?} mpirun {otherwise}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for mpirun, then asserts that nothing is left.
    pub fn end(mut self) -> Ended {
        let output = collect(&mut self.child);
        self.assert_nothing_left();
        Ended {
            status: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs mpirun to its end.
pub fn run(words: &[&str]) -> Ended {
    Run::start(words).end()
}

pub fn signal(name: &str, pid: i32) {
    let status: ExitStatus = Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap();
    assert!(status.success(), "kill -s {name} {pid}");
}

/// The lines of a text, sorted: ranks write in any order.
pub fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Both streams at once, and the status.
fn collect(child: &mut Child) -> Output {
    use std::io::Read;
    let mut error = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut stderr = Vec::new();
        error.read_to_end(&mut stderr).unwrap();
        stderr
    });
    let mut stdout = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    let stderr = reader.join().unwrap();
    Output { status: child.wait().unwrap(), stdout, stderr }
}
