//! The hosts of a job, and the tree of their daemons: the one that mpirun makes.

use orte_core::oob::compact::JOB_MAX;
use orte_core::routed::Tree;

/// The hosts of a job: node 0 is mpirun's, which has no ranks.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Hosts with ranks.
    pub hosts: u32,
    /// Ranks on each.
    pub per_host: u32,
    /// So many hosts each logs in to; 0: mpirun to all.
    pub radix: u32,
}

impl Shape {
    /// Whether such a job can be.
    pub fn check(&self) -> Result<(), String> {
        let ranks = u64::from(self.hosts) * u64::from(self.per_host);
        match self.hosts > 0 && self.per_host > 0 && ranks <= u64::from(JOB_MAX) {
            true => Ok(()),
            false => {
                Err(format!("{} hosts with {} ranks each: a job has 1 to {JOB_MAX} ranks", self.hosts, self.per_host))
            }
        }
    }

    /// All nodes.
    pub fn nodes(&self) -> usize {
        self.hosts as usize + 1
    }

    /// Who starts the daemon of whom, and speaks with it.
    pub fn tree(&self) -> Tree {
        Tree { nodes: self.hosts + 1, radix: self.radix }
    }

    /// The parent of a node, which is not 0.
    pub fn parent(&self, node: usize) -> usize {
        self.tree().parent(node as u32).expect("node 0 has none") as usize
    }

    /// The children of each node.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let of = |node: u32| self.tree().children(node).map(|child| child as usize).collect();
        (0..=self.hosts).map(of).collect()
    }
}
