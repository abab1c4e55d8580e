//! Graphs that every process knows. MPI 5.0 §8.5.3.

use crate::error::{Class, Fault, Result};
use crate::framework::topo::Pattern;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use opal_core::sort;

/// A graph; the same on all its processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    index: Box<[i32]>,
    edges: Box<[i32]>,
    symmetric: bool,
}

impl Graph {
    /// `index[r]` counts the neighbours of ranks 0 to r, `edges` lists them rank by rank.
    pub fn new(index: &[i32], edges: &[i32]) -> Result<Graph> {
        debug_assert_eq!(edges.len(), count(index)?);
        if let Some(wrong) = edges.iter().find(|to| !(0..index.len() as i32).contains(to)) {
            let why = format!("{wrong} is not a node of this graph, which has {} nodes", index.len());
            return Err(Fault::new(Class::Rank).argument("edges").because(why));
        }
        let mut graph = Graph { index: index.into(), edges: edges.into(), symmetric: true };
        let sorted = |turned: bool| {
            let ends = |rank: usize| graph.neighbors(rank).iter().map(move |to| (rank as i32, *to));
            let turn = |(from, to)| if turned { (to, from) } else { (from, to) };
            let mut all: Vec<(i32, i32)> = (0..index.len()).flat_map(ends).map(turn).collect();
            sort::ascending(&mut all);
            all
        };
        graph.symmetric = sorted(false) == sorted(true);
        Ok(graph)
    }

    /// Cumulative numbers of neighbours.
    pub fn index(&self) -> &[i32] {
        &self.index
    }

    /// The neighbours of all ranks.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// Whether there are as many edges from one rank to another as back, for any two.
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Those of one rank.
    pub fn neighbors(&self, rank: usize) -> &[i32] {
        let first = rank.checked_sub(1).map_or(0, |before| self.index[before]);
        &self.edges[first as usize..self.index[rank] as usize]
    }

    /// Everybody talks to his neighbours.
    pub fn pattern(&self) -> Pattern {
        let edges = |rank| self.neighbors(rank).iter().map(|to| (*to as usize, 1)).collect();
        Pattern { edges: (0..self.index.len()).map(edges).collect() }
    }
}

/// Number of edges that an index tells; it must not fall.
pub fn count(index: &[i32]) -> Result<usize> {
    let mut before = 0;
    for (rank, upto) in index.iter().enumerate() {
        if *upto < before {
            let why =
                format!("index[{rank}] is {upto} after {before}; it counts the neighbours of all nodes up to {rank}");
            return Err(Fault::new(Class::Arg).argument("index").because(why));
        }
        before = *upto;
    }
    Ok(before as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_and_symmetry() {
        let graph = Graph::new(&[2, 3, 4, 6], &[1, 3, 0, 3, 0, 2]).unwrap();
        assert_eq!(graph.neighbors(0), [1, 3]);
        assert_eq!(graph.neighbors(3), [0, 2]);
        assert!(graph.is_symmetric());
        assert!(!Graph::new(&[2, 3], &[1, 1, 0]).unwrap().is_symmetric());
        assert!(Graph::new(&[3, 5], &[0, 1, 1, 0, 0]).unwrap().is_symmetric());
    }

    #[test]
    fn graphs_are_checked() {
        assert_eq!(count(&[1, 0]).unwrap_err().get(), Class::Arg as i32);
        assert_eq!(count(&[-1]).unwrap_err().get(), Class::Arg as i32);
        assert_eq!(Graph::new(&[1, 2], &[1, 2]).unwrap_err().get(), Class::Rank as i32);
    }
}
