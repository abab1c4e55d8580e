//! Circles in a graph: its strongly connected components of more than one node.

use std::collections::{BTreeMap, BTreeSet};

/// The circles that these edges make.
pub fn find<'a>(edges: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Vec<&'a str>> {
    let mut search = Search::default();
    for (from, to) in edges {
        search.edges.entry(from).or_default().insert(to);
    }
    let nodes: Vec<&str> = search.edges.keys().copied().collect();
    for node in nodes {
        if !search.visits.contains_key(node) {
            search.visit(node);
        }
    }
    search.circles
}

/// Tarjan's algorithm (doi:10.1137/0201010).
#[derive(Default)]
struct Search<'a> {
    edges: BTreeMap<&'a str, BTreeSet<&'a str>>,
    visits: BTreeMap<&'a str, Visit>,
    stack: Vec<&'a str>,
    circles: Vec<Vec<&'a str>>,
}

#[derive(Clone, Copy)]
struct Visit {
    order: usize,
    is_on_stack: bool,
}

impl<'a> Search<'a> {
    /// Returns the least order that this node reaches.
    fn visit(&mut self, node: &'a str) -> usize {
        let order = self.visits.len();
        let mut lowest = order;
        self.visits.insert(node, Visit { order, is_on_stack: true });
        self.stack.push(node);
        for next in self.edges.get(node).cloned().unwrap_or_default() {
            lowest = match self.visits.get(next) {
                None => lowest.min(self.visit(next)),
                Some(visit) if visit.is_on_stack => lowest.min(visit.order),
                Some(_) => lowest,
            };
        }
        if lowest == order {
            let start = self.stack.iter().position(|one| *one == node).unwrap_or(0);
            let circle = self.stack.split_off(start);
            for one in &circle {
                self.visits.entry(one).and_modify(|visit| visit.is_on_stack = false);
            }
            if circle.len() > 1 {
                self.circles.push(circle);
            }
        }
        lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_circles() {
        let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("f", "g"), ("g", "f"), ("f", "a")];
        let mut found = find(edges.into_iter());
        found.iter_mut().for_each(|circle| circle.sort_unstable());
        assert_eq!(found, [vec!["a", "b", "c"], vec!["f", "g"]]);
    }
}
