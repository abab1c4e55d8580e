//! Which ranks are on which node.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The nodes of a communicator, numbered in the order of their first ranks.
pub struct Layout {
    /// By node: its ranks, ascending. The first one leads.
    members: Vec<Vec<usize>>,
    /// By node: the first rank.
    leaders: Vec<usize>,
    /// By node: how many ranks those before it have.
    begins: Vec<usize>,
    /// By rank.
    nodes: Vec<u32>,
}

impl Layout {
    /// From a number for the node of each rank, whatever the numbers are.
    pub fn new(numbers: impl Iterator<Item = u32>) -> Layout {
        let mut known = BTreeMap::new();
        let mut layout = Layout { members: Vec::new(), leaders: Vec::new(), begins: Vec::new(), nodes: Vec::new() };
        for (rank, number) in numbers.enumerate() {
            let node = *known.entry(number).or_insert(layout.members.len());
            if node == layout.members.len() {
                layout.members.push(Vec::new());
                layout.leaders.push(rank);
            }
            layout.members[node].push(rank);
            layout.nodes.push(node as u32);
        }
        let mut begin = 0;
        for members in &layout.members {
            layout.begins.push(begin);
            begin += members.len();
        }
        layout
    }

    /// How many ranks.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// By node: its ranks, ascending.
    pub fn members(&self) -> &[Vec<usize>] {
        &self.members
    }

    /// By node: its leader.
    pub fn leaders(&self) -> &[usize] {
        &self.leaders
    }

    /// By node: how many ranks those before it have.
    pub fn begin(&self, node: usize) -> usize {
        self.begins[node]
    }

    /// A rank's node, and its place among the ranks there.
    pub fn place(&self, rank: usize) -> (usize, usize) {
        let node = self.nodes[rank] as usize;
        (node, self.members[node].partition_point(|member| *member < rank))
    }

    /// Whether the ranks of each node follow each other.
    pub fn is_in_order(&self) -> bool {
        self.nodes.is_sorted()
    }

    /// Whether there is anything to do on both levels.
    pub fn has_levels(&self) -> bool {
        (2..self.size()).contains(&self.members.len())
    }

    /// The same for the same layout only, as far as 64 bits go (FNV-1a).
    pub fn fingerprint(&self) -> u64 {
        self.nodes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, node| {
            (hash ^ u64::from(*node)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}
