//! Which jobs are connected: those that have met and not parted, and those connected to them (MPI 5.0 §11.10.4).

use std::collections::BTreeSet;

/// Pairs of jobs.
#[derive(Debug, Default)]
pub struct Connections(BTreeSet<(u64, u64)>);

impl Connections {
    /// Two jobs have met.
    pub fn add(&mut self, one: u64, other: u64) {
        self.0.insert(pair(one, other));
    }

    /// Two jobs have parted.
    pub fn remove(&mut self, one: u64, other: u64) {
        self.0.remove(&pair(one, other));
    }

    /// The jobs that a job is connected to, and itself.
    pub fn of(&self, job: u64) -> BTreeSet<u64> {
        let mut found = BTreeSet::from([job]);
        loop {
            let before = found.len();
            for (one, other) in &self.0 {
                if found.contains(one) || found.contains(other) {
                    found.extend([*one, *other]);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }
}

fn pair(one: u64, other: u64) -> (u64, u64) {
    (one.min(other), one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_connected_through_others_until_they_part() {
        let mut connections = Connections::default();
        [(1, 2), (3, 2), (5, 4)].into_iter().for_each(|(one, other)| connections.add(one, other));
        assert_eq!(connections.of(1), BTreeSet::from([1, 2, 3]));
        assert_eq!(connections.of(4), BTreeSet::from([4, 5]));
        connections.remove(2, 1);
        assert_eq!(connections.of(1), BTreeSet::from([1]));
        assert_eq!(connections.of(3), BTreeSet::from([2, 3]));
        connections.remove(7, 8);
    }
}
