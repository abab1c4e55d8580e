//! Dividing the pattern along the tree of places, level by level.

use crate::graph::Graph;
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use ompi_core::framework::topo::{LEVELS, Place};
use opal_core::sort;

/// For each vertex an index into `places`: at every level, each part of the machine is filled with vertices that hang
/// together, and the parts of that part likewise.
pub fn along(graph: &Graph, places: &[Place]) -> Vec<usize> {
    let mut order = vec![0; graph.size()];
    let all: Vec<usize> = (0..graph.size()).collect();
    descend(graph, places, 0, all.clone(), all, &mut order);
    order
}

/// Gives `vertices` the places `here`, which are as many and equal at all levels before this one.
fn descend(graph: &Graph, places: &[Place], level: usize, vertices: Vec<usize>, here: Vec<usize>, order: &mut [usize]) {
    if level == LEVELS || here.len() < 2 {
        vertices.iter().zip(&here).for_each(|(vertex, place)| order[*vertex] = *place);
        return;
    }
    let mut parts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    here.iter().for_each(|place| parts.entry(places[*place][level]).or_default().push(*place));
    let mut left = Region::new(graph, &vertices);
    for part in parts.into_values() {
        let inside = left.take(part.len());
        descend(graph, places, level + 1, inside, part, order);
    }
}

/// Vertices that have no place yet.
struct Region<'a> {
    graph: &'a Graph,
    free: Vec<bool>,
    // In their own order.
    vertices: Vec<usize>,
}

impl<'a> Region<'a> {
    fn new(graph: &'a Graph, vertices: &[usize]) -> Region<'a> {
        let mut free = vec![false; graph.size()];
        vertices.iter().for_each(|vertex| free[*vertex] = true);
        Region { graph, free, vertices: vertices.to_vec() }
    }

    /// Takes `count` vertices out: from a corner on, always the one that is tied most to those taken and, among equals,
    /// least to those left.
    fn take(&mut self, count: usize) -> Vec<usize> {
        let mut taken = Vec::with_capacity(count);
        let mut ties: BTreeMap<usize, u64> = BTreeMap::new();
        let mut next: BinaryHeap<(u64, Reverse<u64>, Reverse<usize>)> = BinaryHeap::new();
        while taken.len() < count {
            let Some(vertex) = self.pop(&ties, &mut next).or_else(|| self.corner()) else { break };
            self.free[vertex] = false;
            taken.push(vertex);
            for (other, weight) in self.graph.of(vertex).iter().filter(|(other, _)| self.free[*other]) {
                let tie = ties.entry(*other).or_default();
                *tie += weight;
                next.push((*tie, Reverse(self.left(*other)), Reverse(*other)));
            }
        }
        self.vertices.retain(|vertex| self.free[*vertex]);
        sort::ascending(&mut taken);
        taken
    }

    /// The heap has an entry per change of a tie; the newest one counts.
    fn pop(
        &self,
        ties: &BTreeMap<usize, u64>,
        next: &mut BinaryHeap<(u64, Reverse<u64>, Reverse<usize>)>,
    ) -> Option<usize> {
        loop {
            let (tie, _, Reverse(vertex)) = next.pop()?;
            if self.free[vertex] && ties.get(&vertex) == Some(&tie) {
                return Some(vertex);
            }
        }
    }

    /// The one with the least weight to others that are left, vertices that talk to nobody last.
    fn corner(&self) -> Option<usize> {
        let free = self.vertices.iter().copied().filter(|vertex| self.free[*vertex]);
        free.min_by_key(|vertex| (self.graph.of(*vertex).is_empty(), self.left(*vertex), *vertex))
    }

    fn left(&self, vertex: usize) -> u64 {
        self.graph.of(vertex).iter().filter(|(other, _)| self.free[*other]).map(|(_, weight)| weight).sum()
    }
}
