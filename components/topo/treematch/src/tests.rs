//! The model's cost before and after, for patterns and machines as users have them.

use crate::order;
use alloc::vec;
use alloc::vec::Vec;
use ompi_core::framework::topo::{ANYWHERE, Pattern, Place, cost};
use ompi_core::topo::{Cart, Graph};

/// Nodes, packages of a node, cores of a package; a process on each core.
fn machine(nodes: u64, packages: u64, cores: u64) -> Vec<Place> {
    let place = |at: u64| [at / cores / packages, at / cores % packages, at / cores % packages, at % cores, at % cores];
    (0..nodes * packages * cores).map(place).collect()
}

fn stencil(dims: &[i32], periodic: bool) -> Pattern {
    let size = dims.iter().product::<i32>() as usize;
    Cart::new(dims, &vec![periodic; dims.len()], size).unwrap().pattern()
}

/// A permutation drawn from a seed (xorshift, Marsaglia 2003, doi:10.18637/jss.v008.i14).
fn drawn(size: usize, mut seed: u64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..size).collect();
    for last in (1..size).rev() {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        all.swap(last, (seed % (last as u64 + 1)) as usize);
    }
    all
}

/// The same pattern with its ranks renamed.
fn scrambled(pattern: &Pattern, names: &[usize]) -> Pattern {
    let mut edges = vec![Vec::new(); names.len()];
    for (from, all) in pattern.edges.iter().enumerate() {
        edges[names[from]] = all.iter().map(|(to, weight)| (names[*to], *weight)).collect();
    }
    Pattern { edges }
}

/// Cost as it is and after reordering, having checked that the result is an order.
fn costs(pattern: &Pattern, places: &[Place]) -> (u64, u64) {
    let found = order(pattern, places);
    let mut sorted = found.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!((found.len(), sorted.len()), (pattern.edges.len(), pattern.edges.len()));
    assert!(sorted.last().is_none_or(|last| *last < places.len()));
    assert_eq!(order(pattern, places), found, "the same question, another answer");
    let as_it_is: Vec<usize> = (0..pattern.edges.len()).collect();
    (cost(pattern, places, &as_it_is), cost(pattern, places, &found))
}

#[test]
fn scrambled_stencils_become_cheaper_on_every_machine() {
    let machines = [(&[4, 2][..], machine(2, 1, 4)), (&[4, 4], machine(2, 2, 4)), (&[4, 4, 2], machine(4, 2, 4))];
    for (dims, places) in machines {
        for periodic in [false, true] {
            let plain = stencil(dims, periodic);
            for seed in 1..=20u64 {
                let pattern = scrambled(&plain, &drawn(places.len(), seed * 0x9e37_79b9));
                let (before, after) = costs(&pattern, &places);
                assert!(after < before, "{dims:?} {periodic} {seed}: {after} after {before}");
            }
        }
    }
}

#[test]
fn a_line_on_two_nodes_is_cut_once() {
    let places = machine(2, 1, 4);
    let line = stencil(&[8], false);
    for seed in 1..=20u64 {
        let pattern = scrambled(&line, &drawn(8, seed * 77));
        // Seven edges, both ways: one between the nodes, the others between cores.
        assert_eq!(costs(&pattern, &places).1, 2 * (64 + 6 * 4), "{seed}");
    }
}

#[test]
fn a_round_robin_of_ranks_is_undone() {
    // mpirun by node: rank r on node r % 2.
    let places: Vec<Place> = (0..8).map(|rank| [rank % 2, 0, 0, rank / 2, rank / 2]).collect();
    let (before, after) = costs(&stencil(&[4, 2], false), &places);
    // The best cut of a 4 x 2 grid crosses two edges.
    assert_eq!(after, 2 * (2 * 64 + 8 * 4));
    assert!(after < before);
}

#[test]
fn weights_decide() {
    // A square whose light edges lie inside the nodes.
    let heavy = |to, light| vec![(to, 100), (light, 1)];
    let pattern = Pattern { edges: vec![heavy(2, 1), heavy(3, 0), heavy(0, 3), heavy(1, 2)] };
    let places = machine(2, 1, 2);
    let (before, after) = costs(&pattern, &places);
    assert_eq!((before, after), (4 * (100 * 64 + 4), 4 * (100 * 4 + 64)));
}

#[test]
fn nothing_becomes_dearer() {
    for seed in 1..=60u64 {
        let size = 1 + (seed * 7 % 30) as usize;
        let (targets, weights) = (drawn(size * 3, seed), drawn(size * 3, seed + 1000));
        let edge = |at: usize| (targets[at] % size, weights[at] as u64);
        let edges = (0..size).map(|rank| (0..3).map(|of| edge(3 * rank + of)).collect()).collect();
        let places: Vec<Place> = drawn(size + (seed % 5) as usize, seed + 2000)
            .into_iter()
            .map(|at| {
                [at as u64 % 3, at as u64 % 5 % 2, 0, at as u64, if seed % 2 == 0 { at as u64 } else { ANYWHERE }]
            })
            .collect();
        let (before, after) = costs(&Pattern { edges }, &places);
        assert!(after <= before, "{seed}: {after} after {before}");
    }
}

#[test]
fn what_cannot_be_better_stays() {
    assert_eq!(order(&stencil(&[4, 2], false), &machine(2, 1, 4)), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(order(&stencil(&[6], true), &[[0, ANYWHERE, ANYWHERE, ANYWHERE, ANYWHERE]; 6]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(order(&Pattern::default(), &machine(1, 1, 2)), []);
    let alone = Graph::new(&[1], &[0]).unwrap().pattern();
    assert_eq!(order(&alone, &machine(2, 1, 1)), [0]);
}

#[test]
fn a_small_pattern_takes_places_on_one_node() {
    let places: Vec<Place> = (0..8).map(|rank| [rank % 2, 0, 0, rank / 2, rank / 2]).collect();
    assert_eq!(costs(&stencil(&[4], true), &places).1, 2 * 4 * 4);
}

#[test]
fn large_patterns_are_improved_in_steps() {
    let places = machine(8, 2, 32);
    let pattern = scrambled(&stencil(&[32, 16], false), &drawn(512, 99));
    let (before, after) = costs(&pattern, &places);
    assert!(after * 2 < before, "{after} after {before}");
}
