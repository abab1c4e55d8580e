//! Finds every process that a test started, whatever its parent is by now: each carries a mark in its environment.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A mark that no other process carries.
#[derive(Clone, Debug)]
pub struct Mark(String);

/// One process.
#[derive(Debug)]
pub struct Process {
    id: u32,
    /// What it was doing, in one line or more.
    pub state: String,
}

impl Mark {
    /// A new one.
    pub fn new() -> Mark {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Relaxed: only the numbers must differ.
        Mark(format!("{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Puts the mark on what `command` will start.
    pub fn put(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Every living process that carries it.
    pub fn processes(&self) -> Vec<Process> {
        let wanted = format!("{VARIABLE}={}", self.0).into_bytes();
        let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
        let ids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        // A process that ends meanwhile has nothing to read any more; a zombie's environment is empty.
        let carries = |id: &u32| {
            let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        };
        ids.filter(carries).map(|id| Process { id, state: state(id) }).collect()
    }

    /// Waits until all have ended by themselves; returns those that did not.
    pub fn outlived(&self, patience: Duration) -> Vec<Process> {
        let end = Instant::now() + patience;
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() >= end {
                return left;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends them all.
    pub fn kill(&self) {
        // Again, because one may have started another in between.
        for _ in 0..50 {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            let ids = left.iter().map(|process| process.id.to_string());
            // One that ended meanwhile makes kill complain; whether all are gone is asked in the next round.
            let _ = Command::new("kill").arg("-KILL").args(ids).stderr(Stdio::null()).status();
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Process {
    /// Processor time that it has used, in seconds; none when it has ended.
    pub fn seconds(&self) -> Option<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id)).ok()?;
        // Behind the name, which may hold anything: utime and stime, in hundredths.
        let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<u32>().ok();
        Some(f64::from(ticks()? + ticks()?) / 100.0)
    }

    /// Ends it at once, as a machine that loses its power.
    pub fn kill(&self) {
        // One that ended meanwhile makes kill complain.
        let _ = Command::new("kill").args(["-KILL", &self.id.to_string()]).stderr(Stdio::null()).status();
    }
}

/// What a process was doing: name, state, where in the kernel it waits, and the rank it was if it was one.
fn state(id: u32) -> String {
    let folder = Path::new("/proc").join(id.to_string());
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let status = read("status");
    let field = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.unwrap_or("?").trim().to_owned()
    };
    let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let rank = environment.split('\0').find_map(|variable| variable.strip_prefix(RANK));
    let rank = rank.map_or(String::new(), |rank| format!(" rank {rank}"));
    let command = read("cmdline").replace('\0', " ");
    let command: String = command.trim().chars().take(160).collect();
    // utime and stime in clock ticks: a process that spins differs from one that sleeps.
    let times: Vec<String> =
        read("stat").rsplit(')').next().unwrap_or("").split_whitespace().map(str::to_owned).collect();
    let ticks = |index: usize| times.get(index).cloned().unwrap_or_default();
    let mut text = format!(
        "pid {id}{rank}: {}, {}, waits in {}, used {}+{} ticks: {command}",
        field("Name"),
        field("State"),
        or_nothing(read("wchan")),
        ticks(11),
        ticks(12),
    );
    for line in read("stack").lines().take(4) {
        text.push_str("\n      ");
        text.push_str(line);
    }
    text
}

fn or_nothing(place: String) -> String {
    if place.is_empty() || place == "0" { "nothing".to_owned() } else { place }
}

const VARIABLE: &str = "OMPI_RS_XTASK_TEST";
/// What mpirun tells a process about itself.
const RANK: &str = "OMPI_COMM_WORLD_RANK=";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_and_ends_orphans() {
        let mark = Mark::new();
        let mut command = Command::new("sh");
        // The shell ends at once; what it started lives on with another parent.
        command.args(["-c", "sleep 100 & exit 0"]);
        mark.put(&mut command);
        assert!(command.status().unwrap().success());
        let left = mark.outlived(Duration::from_millis(100));
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0].state.contains("sleep 100"), "{left:?}");
        mark.kill();
        assert!(mark.processes().is_empty());
        assert!(Mark::new().processes().is_empty());
    }
}
