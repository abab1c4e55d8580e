//! Algorithms of a function against each other, over ranks and sizes.

use crate::algorithms::{ALGORITHMS, Algorithm};
use crate::case::Case;
use crate::engine::{self, Outcome};
use crate::machine::Machine;
use coll_han::layout::Layout;
use serde::Serialize;

/// One algorithm at one size among so many ranks.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// As the standard has it, without `MPI_`.
    pub function: &'static str,
    /// Its name.
    pub algorithm: &'static str,
    /// How many.
    pub ranks: usize,
    /// Of the data, or of one rank's block.
    pub bytes: u64,
    /// Microseconds.
    pub us: f64,
    /// Of all ranks.
    pub messages: u64,
    /// In them.
    pub sent: u64,
    /// Messages from node to node.
    pub messages_between: u64,
    /// In those.
    pub sent_between: u64,
}

/// What is simulated.
pub struct Study<'a> {
    /// How many, each number in turn.
    pub ranks: &'a [usize],
    /// Bytes, each number in turn.
    pub sizes: &'a [u64],
    /// Functions; empty for all.
    pub functions: &'a [String],
    /// Steps of all ranks together that are not exceeded.
    pub limit: usize,
}

/// Plays every algorithm that fits; `seen` hears of each. What would exceed the limit is left out.
pub fn study(machine: &Machine, study: &Study<'_>, mut seen: impl FnMut(&Point)) -> Result<Vec<Point>, String> {
    ompi_core::datatype::open();
    let mut points = Vec::new();
    for &ranks in study.ranks {
        let layout = layout(machine, ranks);
        for algorithm in ALGORITHMS.iter().filter(|one| study.wants(one) && (one.fits)(ranks)) {
            let sizes = if algorithm.function == "barrier" { &[0][..] } else { study.sizes };
            for &bytes in sizes {
                let case = Case { bytes, layout: &layout };
                if algorithm.total(&case) > study.limit {
                    continue;
                }
                let outcome = play(machine, algorithm, &case)?;
                let point = point(algorithm, ranks, bytes, &outcome);
                seen(&point);
                points.push(point);
            }
        }
    }
    Ok(points)
}

impl Study<'_> {
    fn wants(&self, algorithm: &Algorithm) -> bool {
        self.functions.is_empty() || self.functions.iter().any(|name| name == algorithm.function)
    }
}

/// The ranks of a machine, node after node.
pub fn layout(machine: &Machine, ranks: usize) -> Layout {
    Layout::new((0..ranks).map(|rank| machine.node(rank as u32)))
}

/// One operation.
pub fn play(machine: &Machine, algorithm: &Algorithm, case: &Case<'_>) -> Result<Outcome, String> {
    let ranks = case.layout.size();
    let programs: Vec<_> = (0..ranks).map(|rank| algorithm.steps(rank, case)).collect();
    engine::run(machine, &programs)
        .map_err(|why| format!("{} by {} among {ranks} ranks: {why}", algorithm.function, algorithm.name))
}

fn point(algorithm: &Algorithm, ranks: usize, bytes: u64, outcome: &Outcome) -> Point {
    Point {
        function: algorithm.function,
        algorithm: algorithm.name,
        ranks,
        bytes,
        us: outcome.time as f64 / 1e6,
        messages: outcome.messages,
        sent: outcome.bytes,
        messages_between: outcome.messages_between,
        sent_between: outcome.bytes_between,
    }
}

/// The fastest of a function at each size, as runs of sizes: where one algorithm takes over from another.
pub fn crossovers(points: &[Point], function: &str, ranks: usize) -> Vec<(&'static str, u64, u64)> {
    let of: Vec<&Point> = points.iter().filter(|point| point.function == function && point.ranks == ranks).collect();
    let mut sizes: Vec<u64> = of.iter().map(|point| point.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut runs: Vec<(&'static str, u64, u64)> = Vec::new();
    for size in sizes {
        let fastest = of.iter().filter(|point| point.bytes == size).min_by(|a, b| a.us.total_cmp(&b.us));
        let Some(fastest) = fastest else { continue };
        match runs.last_mut() {
            Some((name, _, last)) if *name == fastest.algorithm => *last = size,
            _ => runs.push((fastest.algorithm, size, size)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ranks: &[usize], sizes: &[u64]) -> Vec<Point> {
        let plan = Study { ranks, sizes, functions: &[], limit: 1_000_000 };
        study(&Machine::usual(4), &plan, |_| ()).unwrap()
    }

    #[test]
    fn every_algorithm_ends_among_any_number_of_ranks() {
        let ranks: Vec<usize> = (1..18).chain([32, 33, 64]).collect();
        let points = all(&ranks, &[0, 8, 4096, 1 << 20]);
        for algorithm in ALGORITHMS {
            let seen =
                points.iter().filter(|one| one.function == algorithm.function && one.algorithm == algorithm.name);
            assert!(seen.count() >= 5, "{} by {}", algorithm.function, algorithm.name);
        }
    }

    #[test]
    fn bytes_are_those_of_the_books() {
        let bytes = 1 << 20;
        let points = all(&[16], &[bytes]);
        let sent = |function: &str, name: &str| {
            let found = points.iter().find(|one| one.function == function && one.algorithm == name);
            found.unwrap().sent
        };
        // A tree sends all of it to everybody; a ring twice 15/16 of it from everybody; doubling all of it four times.
        assert_eq!(sent("bcast", "binomial"), 15 * bytes);
        assert_eq!(sent("bcast", "chain"), 15 * bytes);
        assert_eq!(sent("allreduce", "ring"), 16 * 2 * 15 * (bytes / 16));
        assert_eq!(sent("allreduce", "halving"), 16 * 2 * 15 * (bytes / 16));
        assert_eq!(sent("allreduce", "doubling"), 16 * 4 * bytes);
        assert_eq!(sent("alltoall", "pairwise"), 16 * 15 * bytes);
        assert_eq!(sent("alltoall", "bruck"), 16 * 4 * 8 * bytes);
        assert_eq!(sent("allgather", "ring"), 16 * 15 * bytes);
        assert_eq!(sent("allgather", "doubling"), 16 * 15 * bytes);
    }

    #[test]
    fn rounds_are_those_of_the_books() {
        let machine = Machine::usual(1 << 20);
        let barrier = ALGORITHMS.iter().find(|one| one.function == "barrier").unwrap();
        ompi_core::datatype::open();
        for (ranks, rounds) in [(2, 1), (3, 2), (16, 4), (17, 5), (1000, 10)] {
            let round = 2 * machine.within.overhead + machine.within.latency;
            assert_eq!(
                play(&machine, barrier, &Case { bytes: 0, layout: &layout(&machine, ranks) }).unwrap().time,
                rounds * round,
                "{ranks} ranks"
            );
        }
    }

    #[test]
    fn in_two_levels_only_leaders_talk_between_nodes() {
        let points = all(&[16], &[64]);
        let between = |function: &str| {
            let found = points.iter().find(|one| one.function == function && one.algorithm == "leaders").unwrap();
            (found.messages_between, found.sent_between)
        };
        // Four nodes of four: a tree has three edges, two rounds of doubling four messages each.
        assert_eq!(between("barrier").0, 8);
        assert_eq!(between("bcast"), (3, 3 * 64));
        assert_eq!(between("reduce"), (3, 3 * 64));
        assert_eq!(between("allreduce"), (8, 8 * 64));
        assert_eq!(between("allgather"), (8, 4 * 12 * 64));
        assert_eq!(between("gather"), (3, 12 * 64));
        assert_eq!(between("scatter"), (3, 12 * 64));
    }

    #[test]
    fn crossovers_are_runs_of_sizes() {
        let point = |algorithm, bytes, us| Point {
            function: "bcast",
            algorithm,
            ranks: 4,
            bytes,
            us,
            messages: 0,
            sent: 0,
            messages_between: 0,
            sent_between: 0,
        };
        let points = [
            point("tree", 8, 1.0),
            point("ring", 8, 2.0),
            point("tree", 64, 2.0),
            point("ring", 64, 3.0),
            point("ring", 512, 4.0),
            point("tree", 512, 5.0),
        ];
        assert_eq!(crossovers(&points, "bcast", 4), [("tree", 8, 64), ("ring", 512, 512)]);
        assert!(crossovers(&points, "bcast", 5).is_empty());
    }
}
