//! Runs one program of a test with a deadline. Its output goes into files, and it may leave no process behind.

use super::marked::Mark;
use super::report::tail;
use crate::failure::{At, Result};
use crate::shell;
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// How it ended.
#[derive(Debug)]
pub struct Ended {
    /// Its status; `None` when the deadline came first.
    pub status: Option<ExitStatus>,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    pub err: String,
    /// Why it is no success whatever the status: which ranks were waiting when the deadline came, or what was left behind.
    pub trouble: Option<String>,
}

impl Ended {
    /// Ended by itself with this status and left nothing behind.
    pub fn ended_with(&self, status: i32) -> bool {
        self.trouble.is_none() && self.status.is_some_and(|ended| ended.code() == Some(status))
    }

    /// Everything that helps to understand it.
    pub fn story(&self) -> String {
        let mut story = String::new();
        for (name, text) in [("standard output", &self.out), ("standard error", &self.err)] {
            if !text.trim().is_empty() {
                story += &format!("--- {name} ---\n{}\n", tail(text, 25));
            }
        }
        match (&self.trouble, self.status) {
            (Some(trouble), _) => story += trouble,
            (None, Some(status)) => story += &format!("it ended with {status}"),
            (None, None) => story += "it did not end",
        }
        story
    }
}

/// Runs `command` for at most `limit`, with its output in `log.out` and `log.err`.
pub fn run(command: &mut Command, limit: Duration, log: &Path) -> Result<Ended> {
    run_while(command, limit, log, |_, _| {})
}

/// Likewise, and meanwhile does something to its processes, given the file of its standard output. That must end by itself.
pub fn run_while(
    command: &mut Command,
    limit: Duration,
    log: &Path,
    meanwhile: impl FnOnce(&Mark, &Path) + Send,
) -> Result<Ended> {
    if let Some(folder) = log.parent() {
        std::fs::create_dir_all(folder).at(format!("create {}", folder.display()))?;
    }
    let file = |extension: &str| {
        let path = log.with_extension(extension);
        File::create(&path).at(format!("create {}", path.display())).map(|file| (path, file))
    };
    let ((out, out_file), (err, err_file)) = (file("out")?, file("err")?);
    let mark = Mark::new();
    mark.put(command);
    // Files, not pipes: a process that outlives its parent would keep a pipe open and us waiting.
    let child = command.stdin(Stdio::null()).stdout(out_file).stderr(err_file).spawn();
    let mut child = child.at(format!("run `{}`", shell::line(command)))?;
    let status = std::thread::scope(|scope| {
        scope.spawn(|| meanwhile(&mark, &out));
        wait(&mut child, limit)
    });
    let (status, trouble) = match status {
        Some(status) => (Some(status), leftovers(&mark)),
        None => (None, Some(waiting(&mark, limit, command))),
    };
    mark.kill();
    // After the mark found everything that belongs to it; a child that cleared its environment is still ours.
    let _ = child.kill();
    let _ = child.wait();
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    Ok(Ended { status, out: text(&out), err: text(&err), trouble })
}

fn wait(child: &mut std::process::Child, limit: Duration) -> Option<ExitStatus> {
    let end = std::time::Instant::now() + limit;
    let mut nap = Duration::from_millis(1);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if std::time::Instant::now() >= end {
            return None;
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(20));
    }
}

fn leftovers(mark: &Mark) -> Option<String> {
    let left = mark.outlived(GRACE);
    let states: Vec<String> = left.into_iter().map(|process| process.state).collect();
    match states.is_empty() {
        true => None,
        false => Some(format!("it left processes behind:\n{}", states.join("\n"))),
    }
}

fn waiting(mark: &Mark, limit: Duration, command: &Command) -> String {
    let states: Vec<String> = mark.processes().into_iter().map(|process| process.state).collect();
    format!("it did not end within {} s: {}\n{}", limit.as_secs(), shell::line(command), states.join("\n"))
}

/// For processes that are on their way out when their parent has ended.
const GRACE: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit_ms: u64, name: &str) -> Ended {
        let log = std::env::temp_dir().join(format!("ompi-rs-deadline-{}-{name}", std::process::id()));
        let ended = run(Command::new("sh").args(["-c", script]), Duration::from_millis(limit_ms), &log).unwrap();
        for extension in ["out", "err"] {
            let _ = std::fs::remove_file(log.with_extension(extension));
        }
        ended
    }

    #[test]
    fn statuses_and_output() {
        let ended = sh("echo hi; echo ho >&2; exit 3", 10_000, "status");
        assert!(ended.ended_with(3) && !ended.ended_with(0));
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("hi\n", "ho\n"));
    }

    #[test]
    fn the_deadline_names_who_waits() {
        let ended = sh("sleep 100", 200, "deadline");
        assert!(!ended.ended_with(0));
        let trouble = ended.trouble.unwrap();
        assert!(trouble.contains("did not end within") && trouble.contains("sleep"), "{trouble}");
    }

    #[test]
    fn what_is_left_behind_is_no_success() {
        let ended = sh("sleep 100 & exit 0", 10_000, "left");
        assert!(!ended.ended_with(0));
        assert!(ended.trouble.unwrap().contains("left processes behind"));
    }
}
