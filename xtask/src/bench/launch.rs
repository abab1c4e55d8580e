//! One launch, without anything of ours awake meanwhile: on a machine with as many ranks as cores, a look at a child
//! every few milliseconds would show in the samples.

use crate::failure::{At, Result};
use crate::shell;
use crate::test::session::marked::Mark;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Runs to the end, at most this long, and returns what it wrote to standard output; or in one sentence why it has
/// no figures.
pub fn run(command: &mut Command, limit: Duration, log: &Path) -> Result<std::result::Result<String, String>> {
    let (out, err) = (log.with_extension("out"), log.with_extension("err"));
    let file = |path: &Path| File::create(path).at(format!("create {}", path.display()));
    let mark = Mark::new();
    mark.put(command);
    command.stdin(Stdio::null()).stdout(file(&out)?).stderr(file(&err)?);
    let mut child = command.spawn().at(format!("run `{}`", shell::line(command)))?;
    let id = child.id().to_string();
    let (sender, ended) = channel();
    let waiter = thread::spawn(move || sender.send(child.wait()));
    let status = ended.recv_timeout(limit);
    // Nobody of it may disturb the next launch.
    mark.kill();
    if status.is_err() {
        // One that cleared its environment has no mark any more.
        let _ = Command::new("kill").args(["-KILL", &id]).stderr(Stdio::null()).status();
    }
    let _ = waiter.join();
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    Ok(match status {
        Ok(Ok(status)) if status.success() => Ok(read(&out)),
        Ok(Ok(status)) => Err(format!("`{}` ended with {status}: {}", shell::line(command), last(&read(&err)))),
        Ok(Err(error)) => Err(format!("`{}`: {error}", shell::line(command))),
        Err(_) => Err(format!("`{}` did not end within {} s", shell::line(command), limit.as_secs())),
    })
}

/// The last lines that say something.
fn last(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join(" | ")
}
