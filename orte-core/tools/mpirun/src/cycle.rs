//! Who waits for whom: the cycles, of ranks of one job or of several.

use opal_core::framework::btl::ProcessName;
use orte_core::job::number_of;
use std::collections::{BTreeMap, BTreeSet};

/// The processes of each cycle, each of which waits for the next one and the last for the first. Of each process that waits the one
/// without which its wait does not end is given, if there is one.
pub fn find(waits: &[(ProcessName, ProcessName)]) -> Vec<Vec<ProcessName>> {
    let next: BTreeMap<ProcessName, ProcessName> = waits.iter().copied().collect();
    let (mut cycles, mut seen) = (Vec::new(), BTreeSet::new());
    for first in next.keys() {
        let (mut path, mut here) = (Vec::new(), *first);
        while seen.insert(here) {
            path.push(here);
            match next.get(&here) {
                Some(awaited) => here = *awaited,
                None => break,
            }
        }
        // One that was met from an earlier first process is no new one.
        let start = path.iter().position(|process| *process == here && next.contains_key(&here));
        cycles.extend(start.map(|start| from_first(path.split_off(start))));
    }
    cycles
}

/// As people count.
fn from_first(mut cycle: Vec<ProcessName>) -> Vec<ProcessName> {
    let first = (0..cycle.len()).min_by_key(|at| (number_of(cycle[*at].job), cycle[*at].rank)).unwrap_or_default();
    cycle.rotate_left(first);
    cycle
}

/// `rank 0 waits for rank 1, which waits for rank 0`; with their jobs unless all are of this one.
pub fn words(cycle: &[ProcessName], own: u64) -> String {
    let is_own = cycle.iter().all(|process| process.job == own);
    let name = |process: &ProcessName| match is_own {
        true => format!("rank {}", process.rank),
        false => format!("rank {} of job {}", process.rank, number_of(process.job)),
    };
    let (Some(first), [_, others @ ..]) = (cycle.first(), cycle) else { return String::new() };
    if others.is_empty() {
        return format!("{} waits for itself", name(first));
    }
    let others: String = others.iter().map(|process| format!(" waits for {}, which", name(process))).collect();
    format!("{}{others} waits for {}", name(first), name(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(job: u64, rank: u32) -> ProcessName {
        ProcessName { job, rank }
    }

    fn found(waits: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let waits: Vec<_> = waits.iter().map(|(rank, awaited)| (of(1, *rank), of(1, *awaited))).collect();
        let ranks = |cycle: Vec<ProcessName>| cycle.iter().map(|process| process.rank).collect();
        find(&waits).into_iter().map(ranks).collect()
    }

    #[test]
    fn cycles() {
        assert_eq!(found(&[(0, 1), (1, 0)]), [[0, 1]]);
        assert!(found(&[(0, 1), (1, 2)]).is_empty());
        // Rank 0 only waits for those in the cycle.
        assert_eq!(found(&[(0, 2), (1, 3), (2, 3), (3, 1)]), [[1, 3]]);
        assert_eq!(found(&[(4, 4)]), [[4]]);
        assert_eq!(found(&[(0, 1), (1, 0), (2, 1), (3, 3)]), [vec![0, 1], vec![3]]);
        assert!(found(&[(0, 9)]).is_empty());
    }

    #[test]
    fn words_for_people() {
        let cycle = [0, 1, 3].map(|rank| of(1, rank));
        assert_eq!(words(&cycle, 1), "rank 0 waits for rank 1, which waits for rank 3, which waits for rank 0");
        assert_eq!(words(&cycle[..1], 1), "rank 0 waits for itself");
        let both = find(&[(of(1, 0), of(2, 1)), (of(2, 1), of(1, 0)), (of(2, 0), of(2, 1))]);
        assert_eq!(words(&both[0], 1), "rank 0 of job 1 waits for rank 1 of job 2, which waits for rank 0 of job 1");
    }
}
