//! The trees: who starts a daemon, and along which edges frames go.

use orte_core::oob::compact::JOB_MAX;

/// Along which edges frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Route {
    /// Every daemon talks with mpirun.
    Star,
    /// Every daemon talks with the one that started it.
    Tree,
}

/// The hosts of a job: node 0 is mpirun's, which has no ranks.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Hosts with ranks.
    pub hosts: u32,
    /// Ranks on each.
    pub per_host: u32,
    /// So many hosts each logs in to; 0: mpirun to all.
    pub radix: u32,
    /// Along which edges frames go.
    pub route: Route,
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

    /// Who logs in to the host of a node, which is not 0; as `plm_ssh_tree_radix` says it.
    pub fn starter(&self, node: usize) -> usize {
        ((node as u32 - 1).checked_div(self.radix).unwrap_or(0)) as usize
    }

    /// With whom the daemon of a node talks.
    pub fn parent(&self, node: usize) -> usize {
        if self.route == Route::Star { 0 } else { self.starter(node) }
    }

    /// Of each node, those that it has by `parent`.
    pub fn children(&self, parent: impl Fn(&Shape, usize) -> usize) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.nodes()];
        (1..self.nodes()).for_each(|node| children[parent(self, node)].push(node));
        children
    }
}
