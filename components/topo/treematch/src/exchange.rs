//! Improving an order: exchanges pairs of ranks as long as that lowers the cost.

use crate::graph::Graph;
use alloc::vec;
use alloc::vec::Vec;
use ompi_core::framework::topo::{Place, distance};
use opal_core::sort;

/// Up to this many vertices every pair is tried.
const ALL_PAIRS: usize = 128;
/// Beyond, a vertex is tried with those that sit at most this far from one of its neighbours, in the order of places.
const NEAR: usize = 8;
/// Rounds over all vertices; they mostly end by themselves before.
const ROUNDS: usize = 12;

/// Improves `order`, a permutation of the places.
pub fn improve(graph: &Graph, places: &[Place], order: &mut [usize]) {
    let mut by_place: Vec<usize> = (0..places.len()).collect();
    sort::by_key(&mut by_place, |place| (places[*place], *place));
    let mut position = vec![0; places.len()];
    by_place.iter().enumerate().for_each(|(at, place)| position[*place] = at);
    let mut holder = vec![0; places.len()];
    order.iter().enumerate().for_each(|(vertex, place)| holder[*place] = vertex);
    for _ in 0..ROUNDS {
        let mut improved = false;
        for vertex in 0..graph.size() {
            let others: Vec<usize> = match graph.size() <= ALL_PAIRS {
                true => (vertex + 1..graph.size()).collect(),
                false => {
                    let near = |(to, _): &(usize, u64)| {
                        let at = position[order[*to]];
                        at.saturating_sub(NEAR)..(at + NEAR + 1).min(places.len())
                    };
                    graph.of(vertex).iter().flat_map(near).map(|at| holder[by_place[at]]).collect()
                }
            };
            for other in others.into_iter().filter(|other| *other != vertex) {
                let before = share(graph, places, order, vertex, other);
                order.swap(vertex, other);
                if share(graph, places, order, vertex, other) < before {
                    holder.swap(order[vertex], order[other]);
                    improved = true;
                } else {
                    order.swap(vertex, other);
                }
            }
        }
        if !improved {
            return;
        }
    }
}

/// What the edges of two vertices cost; the edge between them, which an exchange leaves as it is, counts twice.
fn share(graph: &Graph, places: &[Place], order: &[usize], one: usize, two: usize) -> u64 {
    let of = |from: usize| {
        let edge =
            |(to, weight): &(usize, u64)| weight.saturating_mul(distance(&places[order[from]], &places[order[*to]]));
        graph.of(from).iter().map(edge).sum::<u64>()
    };
    of(one) + of(two)
}
