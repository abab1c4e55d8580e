//! `ompi_display_comm`: the path between every pair of ranks.

use super::params::DISPLAY_COMM;
use super::{gather, table};
use crate::comm;
use crate::error::Result;
use crate::framework::pml::{self, PathInfo};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use opal_core::message;
use opal_core::sort;
use opal_core::sync::threads_possible;

/// When MPI starts.
pub fn at_init() -> Result<()> {
    if matches!(DISPLAY_COMM.text(), "1" | "mpi_init") { show() } else { Ok(()) }
}

/// When it ends.
pub fn at_finalize() -> Result<()> {
    if DISPLAY_COMM.text() == "mpi_finalize" { show() } else { Ok(()) }
}

/// Says it on standard error of rank 0. All ranks call it.
fn show() -> Result<()> {
    let world = comm::world();
    let mine = own_rows(world.size() as u32);
    let Some(all) = gather::at_first(world, mine.as_bytes())? else { return Ok(()) };
    let all: Vec<String> = all.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    message!("paths between {} ranks (ompi_display_comm):\n{}", world.size(), fold(&all));
    Ok(())
}

/// A line for each run of ranks that this one reaches in the same manner: how many they are, then the cells of the row.
fn own_rows(ranks: u32) -> String {
    let path = |rank| {
        // One that was not spoken to is connected for this; one that cannot be is shown as not connected.
        _ = pml::selected().reach(rank);
        pml::selected().path_info(rank)
    };
    let cells: Vec<String> = (0..ranks).map(|rank| cells(path(rank))).collect();
    cells.chunk_by(|one, next| one == next).map(|run| format!("{}\t{}\n", run.len(), run[0])).collect()
}

fn cells(path: Option<PathInfo>) -> String {
    let locks = if threads_possible() { "taken" } else { "none" };
    match path {
        Some(path) => {
            let [short, eager] = [path.slot_bytes, path.eager_bytes].map(bytes);
            format!("{}\t{locks}\t{short}\t{eager}\t{}", path.transport, path.long)
        }
        None => format!("not connected\t{locks}"),
    }
}

/// The table of what all ranks say, by rank.
fn fold(all: &[String]) -> String {
    let mut kinds: BTreeMap<&str, BTreeMap<u32, BTreeSet<u32>>> = BTreeMap::new();
    for (from, text) in (0..).zip(all) {
        let mut to = 0;
        for line in text.lines() {
            let Some((length, cells)) = line.split_once('\t') else { continue };
            let length: u32 = length.parse().unwrap_or(0);
            kinds.entry(cells).or_default().entry(from).or_default().extend(to..to + length);
            to += length;
        }
    }
    let mut rows = Vec::new();
    for (cells, peers) in kinds {
        for (from, to) in pairs(&peers) {
            let mut row = vec![table::ranges(&from), to];
            row.extend(cells.split('\t').map(str::to_string));
            rows.push((from.first().copied(), row));
        }
    }
    sort::ascending(&mut rows);
    let head =
        ["from", "to", "transport", "locks", "in a slot", "eager", "longer messages"].map(str::to_string).to_vec();
    let rows: Vec<Vec<String>> = [head].into_iter().chain(rows.into_iter().map(|(_, row)| row)).collect();
    table::lines(&rows)
}

/// Senders and receivers of a kind of path, as few rows as there can be: itself, each other, or these and those.
fn pairs(peers: &BTreeMap<u32, BTreeSet<u32>>) -> Vec<(Vec<u32>, String)> {
    let (mut selves, mut groups, mut others) = (Vec::new(), BTreeMap::<Vec<u32>, Vec<u32>>::new(), BTreeMap::new());
    for (from, to) in peers {
        let mut to = to.clone();
        if to.remove(from) {
            selves.push(*from);
        }
        if to.is_empty() {
            continue;
        }
        let others_too: Vec<u32> = to.iter().chain([from]).copied().collect::<BTreeSet<u32>>().into_iter().collect();
        groups.entry(others_too).or_default().push(*from);
        others.insert(*from, to);
    }
    let mut rows = Vec::new();
    if !selves.is_empty() {
        rows.push((selves, "itself".to_string()));
    }
    groups.retain(|members, senders| {
        let is_closed = members == senders;
        if is_closed {
            senders.iter().for_each(|from| drop(others.remove(from)));
        }
        is_closed
    });
    rows.extend(groups.into_keys().map(|members| (members, "each other".to_string())));
    let mut apart: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for (from, to) in others {
        apart.entry(to.into_iter().collect()).or_default().push(from);
    }
    while let Some((to, from)) = apart.pop_first() {
        let is_mutual = apart.get(&from) == Some(&to);
        if is_mutual {
            apart.remove(&from);
        }
        let (first, second) = if is_mutual && to < from { (to, from) } else { (from, to) };
        rows.push((first, table::ranges(&second) + if is_mutual { " and back" } else { "" }));
    }
    rows
}

/// `64 KiB`.
pub fn bytes(bytes: usize) -> String {
    match bytes {
        0 => "none".to_string(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_folded() {
        let rows = |lines: &[&str]| lines.iter().map(|line| (*line).replace(' ', "\t") + "\n").collect::<String>();
        let one_node = [rows(&["1 self", "2 sm"]), rows(&["1 sm", "1 self", "1 sm"]), rows(&["2 sm", "1 self"])];
        assert_eq!(
            fold(&one_node).lines().skip(1).collect::<Vec<_>>(),
            ["  0-2   each other  sm", "  0-2   itself      self"]
        );
        let two_nodes = [
            rows(&["1 self", "1 sm", "2 tcp"]),
            rows(&["1 sm", "1 self", "2 tcp"]),
            rows(&["2 tcp", "1 self", "1 sm"]),
            rows(&["2 tcp", "1 sm", "1 self"]),
        ];
        let table = fold(&two_nodes);
        let squeezed: Vec<String> =
            table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(squeezed, ["0-1 2-3 and back tcp", "0-1 each other sm", "0-3 itself self", "2-3 each other sm"]);
        // What only one side says is told as it is.
        let one_way = [rows(&["1 self", "1 a"]), rows(&["1 b", "1 self"])];
        assert_eq!(fold(&one_way).lines().filter(|line| line.contains("and back")).count(), 0);
        assert_eq!(fold(&one_way).lines().count(), 4);
    }

    #[test]
    fn sizes() {
        assert_eq!([0, 56, 4096, 3 << 20].map(bytes), ["none", "56 B", "4 KiB", "3 MiB"]);
    }
}
