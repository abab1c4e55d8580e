//! The lines of a rankfile as they are written: which rank, which host, which slots.

use crate::refusal::Refusal;
use orte_core::oob::compact::JOB_MAX;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankLine {
    /// The host as it is named there: a name, or `+n1` for the second one of the job's.
    pub host: String,
    /// Cores or processors of it.
    pub slot: String,
    /// Where the line stands.
    pub from: String,
}

/// The line of each rank, in order. `file` names the text.
pub fn parse(text: &str, file: &str) -> Result<Vec<RankLine>, Refusal> {
    let mut lines: Vec<Option<RankLine>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let from = format!("{file}, line {}", index + 1);
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (rank, host, slot) = parts(line).map_err(|why| Refusal::usage(format!("{from}: {why}")))?;
        lines.resize(lines.len().max(rank + 1), None);
        let line = RankLine { host: host.to_owned(), slot: slot.to_owned(), from: from.clone() };
        if lines[rank].replace(line).is_some() {
            return Err(Refusal::usage(format!("{from}: rank {rank} stands twice")));
        }
    }
    let missing = lines.iter().position(Option::is_none);
    match (missing, lines.len()) {
        (Some(rank), _) => Err(Refusal::usage(format!("--rankfile {file}: rank {rank} is missing"))),
        (None, 0) => Err(Refusal::usage(format!("--rankfile {file}: it names no rank"))),
        (None, _) => Ok(lines.into_iter().flatten().collect()),
    }
}

/// Rank, host and slot.
pub fn parts(line: &str) -> Result<(usize, &str, &str), String> {
    let form = "a line is written `rank N=HOST slot=CORES`";
    let (rank, rest) = line.strip_prefix("rank ").and_then(|rest| rest.split_once('=')).ok_or(form)?;
    let (host, slot) = rest.trim().split_once(char::is_whitespace).ok_or(form)?;
    let slot = slot.trim().strip_prefix("slot").map(|rest| rest.strip_prefix('s').unwrap_or(rest).trim_start());
    let slot = slot.and_then(|rest| rest.strip_prefix('=')).ok_or(form)?;
    let rank = rank.trim().parse().ok().filter(|rank| *rank < JOB_MAX as usize).ok_or(form)?;
    Ok((rank, host, slot.trim()))
}
