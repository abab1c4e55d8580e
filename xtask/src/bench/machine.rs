//! The machine on which figures depend, without names of hosts or people.

use super::result::Machine;
use crate::build::compile;
use crate::shell;
use std::process::Command;

/// Looks around.
pub fn look() -> Machine {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':')).map_or(String::new(), |(_, value)| value.trim().to_owned())
    };
    let kib: f64 =
        field(&read("/proc/meminfo"), "MemTotal").split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
    let first = |mut command: Command| {
        let text = shell::output(&mut command).unwrap_or_default();
        text.lines().next().unwrap_or_default().to_owned()
    };
    let mut cc = Command::new("cc");
    cc.arg("--version");
    let mut rustc = compile::rustc();
    rustc.arg("--version");
    let mut date = Command::new("date");
    date.arg("+%Y-%m-%d");
    Machine {
        processor: field(&read("/proc/cpuinfo"), "model name"),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_gib: (kib / 1024.0 / 1024.0 * 10.0).round() / 10.0,
        // What builders append to the version tells whose machine it is.
        kernel: read("/proc/sys/kernel/osrelease").trim().split('-').next().unwrap_or_default().to_owned(),
        compiler: first(cc),
        rustc: first(rustc),
        date: first(date),
        load: read("/proc/loadavg").split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0),
    }
}
