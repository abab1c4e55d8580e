//! What the values of options mean.

use super::options::Options;
use crate::refusal::Refusal;
use orte_core::segment::layout::RANKS_MAX;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

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

/// What becomes of the ranks' output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Write `[1,rank]<stdout>: ` before each line.
    pub tag: bool,
    /// Write the time before each line.
    pub timestamp: bool,
    /// Below this directory each rank has files of its own.
    pub directory: Option<PathBuf>,
    /// There only.
    pub nocopy: bool,
}

/// What `--map-by` says beyond the order of ranks, which is one on a single machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// Cores (or what `--bind-to` names) of each rank.
    pub processors: usize,
    /// Ranks on each machine.
    pub per_node: Option<u32>,
}

/// A number of ranks.
pub fn ranks(text: &str) -> Result<u32, Refusal> {
    match text.trim().parse::<u32>() {
        Ok(count) if (1..=RANKS_MAX).contains(&count) => Ok(count),
        _ => Err(Refusal::usage(format!("-n {text}: the number of ranks is a whole number from 1 to {RANKS_MAX}"))),
    }
}

/// `None` for a variable that is to be passed on but is not set: that is noted, and no failure.
pub fn export(word: &OsStr, notes: &mut Vec<String>) -> Result<Option<(OsString, OsString)>, Refusal> {
    let bytes = word.as_bytes();
    let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => (OsStr::from_bytes(&bytes[..at]), Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned())),
        None => (word, std::env::var_os(word)),
    };
    if name.is_empty() {
        let typed = word.to_string_lossy();
        return Err(Refusal::usage(format!("-x {typed}: a variable's name is wanted, as in -x OMP_NUM_THREADS=4")));
    }
    if value.is_none() {
        notes.push(format!("-x {}: the variable is not set here, so the ranks do not get it", name.display()));
    }
    Ok(value.map(|value| (name.into(), value)))
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

/// `--tag-output`, `--timestamp-output`, `--output-filename`.
pub fn output(options: &Options) -> Result<Output, Refusal> {
    let mut output =
        Output { tag: options.tag_output, timestamp: options.timestamp_output, directory: None, nocopy: false };
    let Some(typed) = &options.output_filename else { return Ok(output) };
    let bytes = typed.as_bytes();
    let (name, nocopy) = match bytes.strip_suffix(b":nocopy") {
        Some(name) => (name, true),
        None => (bytes, false),
    };
    if name.is_empty() {
        return Err(Refusal::usage("--output-filename: the name of a directory is wanted"));
    }
    output.directory = Some(PathBuf::from(OsString::from_vec(name.to_vec())));
    output.nocopy = nocopy;
    Ok(output)
}

/// `--map-by`.
pub fn map_by(text: Option<&str>) -> Result<Map, Refusal> {
    let mut map = Map { processors: 1, per_node: None };
    let Some(text) = text else { return Ok(map) };
    let wrong = |what: &str| {
        Refusal::usage(format!(
            "--map-by {text}: {what}; core, hwthread, slot, node, none or ppr:N:node is wanted, with :PE=N or :OVERSUBSCRIBE"
        ))
    };
    let mut words = text.split([':', ',']);
    match words.next().unwrap_or_default() {
        "core" | "hwthread" | "slot" | "node" | "none" => {}
        "ppr" => {
            map.per_node = words.next().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
            if map.per_node.is_none() || !matches!(words.next(), Some("node")) {
                return Err(wrong("that is no number of ranks per node"));
            }
        }
        other => return Err(wrong(&format!("`{other}` is not known"))),
    }
    for word in words {
        let upper = word.to_ascii_uppercase();
        match (upper.as_str(), upper.strip_prefix("PE=")) {
            ("OVERSUBSCRIBE" | "SPAN", _) => {}
            (_, Some(count)) => {
                map.processors = count.parse().ok().filter(|count| *count > 0).ok_or_else(|| wrong(word))?;
            }
            _ => return Err(wrong(&format!("`{word}` is not known"))),
        }
    }
    Ok(map)
}

/// `--timeout`.
pub fn timeout(text: &str) -> Result<u64, Refusal> {
    match text.trim().parse() {
        Ok(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(Refusal::usage(format!("--timeout {text}: a whole number of seconds above 0 is wanted"))),
    }
}
