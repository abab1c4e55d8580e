//! Which ranks are on which node.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use ompi_core::sequence::Sequence;

/// The nodes of a communicator, numbered in the order of their first ranks.
pub struct Layout {
    /// By node: its ranks, ascending. The first one leads.
    members: Vec<Sequence>,
    /// By node: the first rank.
    leaders: Vec<usize>,
    /// By node: how many ranks those before it have.
    begins: Vec<usize>,
    /// By rank; empty where the ranks of each node follow each other.
    nodes: Vec<u32>,
    size: usize,
}

impl Layout {
    /// From a number for the node of each rank, whatever the numbers are.
    pub fn new(numbers: impl Iterator<Item = u32>) -> Layout {
        let mut known = BTreeMap::new();
        let (mut members, mut nodes) = (Vec::<Vec<u32>>::new(), Vec::new());
        for (rank, number) in (0..).zip(numbers) {
            let node = *known.entry(number).or_insert(members.len());
            if node == members.len() {
                members.push(Vec::new());
            }
            members[node].push(rank);
            nodes.push(node as u32);
        }
        let (mut begin, size) = (0, nodes.len());
        let (mut leaders, mut begins) = (Vec::new(), Vec::new());
        for ranks in &members {
            leaders.push(ranks[0] as usize);
            begins.push(begin);
            begin += ranks.len();
        }
        if nodes.is_sorted() {
            nodes = Vec::new();
        }
        let members = members.into_iter().map(|ranks| Sequence::of(ranks.into())).collect();
        Layout { members, leaders, begins, nodes, size }
    }

    /// How many ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// By node: its ranks, ascending.
    pub fn members(&self) -> &[Sequence] {
        &self.members
    }

    /// The ranks of a node, ascending.
    pub fn ranks(&self, node: usize) -> Vec<usize> {
        self.members[node].iter().map(|rank| rank as usize).collect()
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
        if self.is_in_order() {
            let node = self.begins.partition_point(|begin| *begin <= rank) - 1;
            return (node, rank - self.begins[node]);
        }
        let node = self.nodes[rank] as usize;
        let place = self.members[node].position(rank as u32);
        (node, place.expect("a rank is among those of its node"))
    }

    /// Whether the ranks of each node follow each other.
    pub fn is_in_order(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether there is anything to do on both levels.
    pub fn has_levels(&self) -> bool {
        (2..self.size()).contains(&self.members.len())
    }

    /// The same for the same layout only, as far as 64 bits go (FNV-1a).
    pub fn fingerprint(&self) -> u64 {
        (0..self.size).fold(0xcbf2_9ce4_8422_2325, |hash: u64, rank| {
            (hash ^ self.place(rank).0 as u64).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}
