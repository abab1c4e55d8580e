//! The pattern as an undirected graph.

use alloc::vec;
use alloc::vec::Vec;
use ompi_core::framework::topo::Pattern;
use opal_core::sort;

/// Neighbours and weights of every vertex, both directions added up, without loops.
pub struct Graph {
    edges: Vec<Vec<(usize, u64)>>,
}

impl Graph {
    /// The ranks of the pattern, and as many vertices without edges as are missing to `vertices`.
    pub fn new(pattern: &Pattern, vertices: usize) -> Graph {
        let mut edges: Vec<Vec<(usize, u64)>> = vec![Vec::new(); vertices];
        for (from, all) in pattern.edges.iter().enumerate() {
            for (to, weight) in all.iter().filter(|(to, _)| *to != from) {
                edges[from].push((*to, *weight));
                edges[*to].push((from, *weight));
            }
        }
        for all in &mut edges {
            sort::ascending(all);
            all.dedup_by(|one, kept| {
                let same = one.0 == kept.0;
                kept.1 = if same { kept.1.saturating_add(one.1) } else { kept.1 };
                same
            });
        }
        Graph { edges }
    }

    /// Number of vertices.
    pub fn size(&self) -> usize {
        self.edges.len()
    }

    /// The neighbours of one.
    pub fn of(&self, vertex: usize) -> &[(usize, u64)] {
        &self.edges[vertex]
    }
}
