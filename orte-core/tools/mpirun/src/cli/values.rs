//! Values of options.

use crate::refusal::Refusal;
use orte_core::oob::compact::JOB_MAX;
use std::time::Duration;

/// Who gets standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// This rank reads it itself; the others are at its end from the beginning.
    Rank(u32),
    /// Every rank gets a copy of all of it.
    All,
    /// Nobody.
    None,
}

/// A number of ranks.
pub fn ranks(text: &str) -> Result<u32, Refusal> {
    match text.trim().parse::<u32>() {
        Ok(count) if (1..=JOB_MAX).contains(&count) => Ok(count),
        _ => Err(Refusal::usage(format!("-n {text}: the number of ranks is a whole number from 1 to {JOB_MAX}"))),
    }
}

/// `--stdin`, for a job of so many ranks.
pub fn stdin(text: Option<&str>, ranks: u32) -> Result<Stdin, Refusal> {
    match text {
        None => Ok(Stdin::Rank(0)),
        Some("all") => Ok(Stdin::All),
        Some("none") => Ok(Stdin::None),
        Some(text) => match text.trim().parse() {
            Ok(rank) if rank < ranks => Ok(Stdin::Rank(rank)),
            _ => Err(Refusal::usage(format!("--stdin {text}: a rank from 0 to {}, all or none is wanted", ranks - 1))),
        },
    }
}

/// A time in seconds, which may have a fraction, for an option of this name.
pub fn duration(option: &str, text: &str) -> Result<Duration, Refusal> {
    let seconds = text.trim().parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    // No job runs for longer than the clock can count.
    let duration = seconds.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| {
        Refusal::usage(format!("{option} {text}: a number of seconds above 0 is wanted, such as 90 or 1.5"))
    })
}

/// Seconds, for an option of this name.
pub fn seconds(option: &str, text: &str) -> Result<u64, Refusal> {
    match text.trim().parse() {
        Ok(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(Refusal::usage(format!("{option} {text}: a whole number of seconds above 0 is wanted"))),
    }
}

/// The same, or 0.
pub fn seconds_or_none(option: &str, text: &str) -> Result<u64, Refusal> {
    text.trim().parse().map_err(|_| Refusal::usage(format!("{option} {text}: a whole number of seconds is wanted")))
}

/// How many ranks the job could have: as `--usize` says, or as many as there are slots; never fewer than it has.
pub fn universe(text: Option<&str>, ranks: u32, slots: u32) -> Result<u32, Refusal> {
    let text = text.unwrap_or("SYSTEM");
    match (text.to_ascii_uppercase().as_str(), text.parse::<u32>()) {
        ("SYSTEM", _) => Ok(ranks.max(slots).min(i32::MAX as u32)),
        ("INFINITE", _) => Ok(i32::MAX as u32),
        (_, Ok(count)) if count >= ranks && i32::try_from(count).is_ok() => Ok(count),
        (_, Ok(_)) => Err(Refusal::usage(format!("--usize {text}: the job has {ranks} ranks already"))),
        _ => Err(Refusal::usage(format!("--usize {text}: a number, SYSTEM or INFINITE is wanted"))),
    }
}

/// `--arch`.
pub fn arch(text: &str) -> Result<(), Refusal> {
    let own = rustix::system::uname().machine().to_string_lossy().into_owned();
    let same = |name: &str| name == own || (name == "amd64" && own == "x86_64");
    match same(&text.to_ascii_lowercase()) {
        true => Ok(()),
        false => Err(Refusal::usage(format!("--arch {text}: this machine is {own}, and there is no other"))),
    }
}

/// `--memory-alloc-kinds`: notes those that are not there, as MPI 5.0 §11.4.3 has a program ask which it got.
pub fn memory_kinds(list: &str, notes: &mut Vec<String>) {
    let is_there = |kind: &str| ["mpi", "system", "mpi:alloc_mem"].contains(&kind);
    let missing: Vec<&str> = list.split(',').filter(|kind| !is_there(kind)).collect();
    if !missing.is_empty() {
        notes.push(format!(
            "--memory-alloc-kinds: {} is not there, only mpi and system; the info key mpi_memory_alloc_kinds says so, too",
            missing.join(", ")
        ));
    }
}
