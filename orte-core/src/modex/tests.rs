//! Trees of random shape whose frames arrive in random order, played in one process; and frames that no node believes.

use super::frame::{self, FORMAT, ModexFrame};
use super::map::MapView;
use super::*;
use crate::gpr::key::{PROC_ADDRESSES, Value};
use crate::gpr::segment::SegmentId;
use crate::gpr::view::View;
use crate::segment::record::ADDRESSES_BYTES;
use alloc::collections::VecDeque;
use std::format;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % end as u64) as usize
    }
}

fn map(nodes: &[u32], node_count: u32) -> JobMap {
    let apps = (0..nodes.len() as u32).map(|rank| rank % 2).collect();
    JobMap { nodes: nodes.into(), node_count, apps, names: (0..node_count).map(|node| format!("n{node}")).collect() }
}

/// What one node of the tree saw.
#[derive(Default)]
struct Seen {
    /// Ranks whose addresses came over an edge to this node, as often as they came.
    arrived: Vec<u32>,
    addresses: Option<Vec<u8>>,
    releases: u32,
}

/// Sender and receiver, and the frames under way.
type Edge = ((u32, u32), VecDeque<Vec<u8>>);

/// A tree whose edges keep the order of frames, and nothing else does.
struct Tree {
    nodes: Vec<Node>,
    parents: Vec<u32>,
    edges: Vec<Edge>,
    seen: Vec<Seen>,
}

impl Tree {
    fn new(map: &JobMap, random: &mut Random) -> Tree {
        let count = map.node_count;
        let parents: Vec<u32> =
            (0..count).map(|node| if node == 0 { 0 } else { random.below(node as usize) as u32 }).collect();
        let children = |parent| (1..count).filter(|node| parents[*node as usize] == parent).collect();
        let nodes = (0..count).map(|node| Node::new(map.clone(), node, children(node)).unwrap()).collect();
        let ways = (1..count).flat_map(|node| [(node, parents[node as usize]), (parents[node as usize], node)]);
        let edges = ways.map(|way| (way, VecDeque::new())).collect();
        Tree { nodes, parents, edges, seen: (0..count).map(|_| Seen::default()).collect() }
    }

    fn carry_out(&mut self, node: u32, actions: Vec<Action>) {
        for action in actions {
            let (to, frame) = match action {
                Action::Up(frame) => (self.parents[node as usize], frame),
                Action::Down(child, frame) => (child, frame),
                Action::Addresses(message) => {
                    let before = self.seen[node as usize].addresses.replace(message);
                    assert!(before.is_none(), "one exchange");
                    continue;
                }
                Action::Release => {
                    self.seen[node as usize].releases += 1;
                    continue;
                }
            };
            self.edges.iter_mut().find(|edge| edge.0 == (node, to)).unwrap().1.push_back(frame);
        }
    }

    /// Delivers the next frame of an edge; false if there is none.
    fn deliver(&mut self, edge: usize) -> bool {
        let ((from, to), frames) = &mut self.edges[edge];
        let (from, to) = (*from, *to);
        let Some(frame) = frames.pop_front() else { return false };
        if let ModexFrame::Addresses(sections) = ModexFrame::new_checked(&frame).unwrap() {
            self.seen[to as usize].arrived.extend(sections.addresses().map(|(rank, _)| rank));
        }
        let node = &mut self.nodes[to as usize];
        let is_up = self.parents[from as usize] == to && from != 0;
        let actions = if is_up { node.from_child(from, &frame) } else { node.from_parent(&frame) };
        self.carry_out(to, actions.unwrap());
        true
    }
}

/// Addresses as ranks publish them: some alike, some of other lengths, some none.
fn addresses(random: &mut Random, rank: u32) -> Vec<u8> {
    let length = [0, 4, 4, 4, 9, ADDRESSES_BYTES][random.below(6)];
    (0..length).map(|at| (rank as usize * 31 + at) as u8).collect()
}

#[test]
fn every_node_learns_what_it_lacks_and_nothing_twice() {
    for seed in 1..=600 {
        let mut random = Random(seed * 0x9e37_79b9);
        let node_count = 1 + random.below(9) as u32;
        let ranks = 1 + random.below(12);
        let nodes: Vec<u32> = (0..ranks).map(|_| random.below(node_count as usize) as u32).collect();
        let map = map(&nodes, node_count);
        let mut tree = Tree::new(&map, &mut random);
        // Some ranks die before they say anything.
        let all: Vec<Option<Vec<u8>>> =
            (0..ranks as u32).map(|rank| (random.below(8) > 0).then(|| addresses(&mut random, rank))).collect();
        let mut silent: Vec<u32> = (0..node_count).collect();
        // A node is in a barrier as often as it was released, plus one.
        let mut in_barrier = vec![0; node_count as usize];
        const BARRIERS: u32 = 3;
        loop {
            let edge = random.below(tree.edges.len() + 2);
            let node = random.below(node_count as usize) as u32;
            let has_ranks = nodes.contains(&node);
            if edge < tree.edges.len() {
                tree.deliver(edge);
            } else if let Some(at) = silent.iter().position(|silent| *silent == node) {
                silent.swap_remove(at);
                let own = map.ranks_of(node).filter_map(|rank| Some((rank, all[rank as usize].clone()?))).collect();
                let actions = tree.nodes[node as usize].addresses_complete(own).unwrap();
                tree.carry_out(node, actions);
            } else if has_ranks && in_barrier[node as usize] < BARRIERS {
                let (reached, released) = (&mut in_barrier[node as usize], tree.seen[node as usize].releases);
                if *reached == released {
                    *reached += 1;
                    let actions = tree.nodes[node as usize].barrier_reached();
                    tree.carry_out(node, actions);
                }
            }
            let with_ranks = || (0..node_count).filter(|node| nodes.contains(node));
            let slowest = with_ranks().map(|node| in_barrier[node as usize]).min().unwrap();
            assert!(
                tree.seen.iter().all(|seen| seen.releases <= slowest),
                "seed {seed}: released before all were there"
            );
            let is_quiet = tree.edges.iter().all(|edge| edge.1.is_empty()) && silent.is_empty();
            if is_quiet && with_ranks().all(|node| tree.seen[node as usize].releases == BARRIERS) {
                break;
            }
        }
        for node in 0..node_count {
            let seen = &tree.seen[node as usize];
            let mut arrived = seen.arrived.clone();
            arrived.sort_unstable();
            let lacked = |rank: &u32| nodes[*rank as usize] != node && all[*rank as usize].is_some();
            let right: Vec<u32> = (0..ranks as u32).filter(lacked).collect();
            assert_eq!(arrived, right, "seed {seed}, node {node}: each once, and none of its own");
            let Some(message) = &seen.addresses else {
                assert!(!nodes.contains(&node), "seed {seed}, node {node}");
                continue;
            };
            let view = View::new_checked(message).unwrap();
            for rank in 0..ranks as u32 {
                let known = view.get(SegmentId::Job(0), rank, PROC_ADDRESSES);
                let right = all[rank as usize].as_deref().filter(|_| nodes[rank as usize] != node).map(Value::Bytes);
                assert_eq!(known, right, "seed {seed}, node {node}, rank {rank}");
            }
        }
    }
}

#[test]
fn ranks_read_the_map_that_the_launcher_made() {
    let nodes = [0, 2, 2, 0, 1, 2];
    let map = map(&nodes, 4);
    let image = map.image().unwrap();
    let view = MapView::new_checked(&image, 6).unwrap();
    for (rank, node) in nodes.iter().enumerate() {
        assert_eq!((view.node_of(rank as u32), view.app_of(rank as u32)), (Some(*node), Some(rank as u32 % 2)));
    }
    assert_eq!((view.node_of(6), view.app_of(6)), (None, None));
    assert_eq!((view.name_of(2), view.name_of(4)), (Some("n2"), None));
    assert!(map.ranks_of(2).eq([1, 2, 5]));
    for size in [1, 5, 7] {
        assert_eq!(MapView::new_checked(&image, size).unwrap_err(), ModexFlaw::Map, "a job of {size}");
    }
    for end in 0..image.len() {
        assert!(MapView::new_checked(&image[..end], 6).is_err());
    }
    let nameless = JobMap { names: Vec::new(), ..map.clone() };
    let image = nameless.image().unwrap();
    assert_eq!(MapView::new_checked(&image, 6).unwrap().name_of(2), None);
    for wrong in [
        JobMap { apps: vec![0; 5], ..map.clone() },
        JobMap { node_count: 2, ..map.clone() },
        JobMap { names: vec!["one".into()], ..map.clone() },
        JobMap { nodes: Vec::new(), apps: Vec::new(), ..map.clone() },
    ] {
        assert_eq!(wrong.image(), Err(ModexFlaw::Map));
        assert_eq!(Node::new(wrong, 0, Vec::new()).unwrap_err(), ModexFlaw::Map);
    }
    for children in [vec![0], vec![4], vec![1, 1]] {
        assert_eq!(Node::new(map.clone(), 0, children).unwrap_err(), ModexFlaw::Map);
    }
}

/// The map of a job that was mapped by slot is a rule, however large the job is.
#[test]
fn a_regular_map_takes_a_few_bytes() {
    let nodes: Vec<u32> = (0..65_536).map(|rank| rank / 16).collect();
    let map = JobMap { apps: vec![0; nodes.len()], node_count: 4096, names: Vec::new(), nodes };
    let image = map.image().unwrap();
    assert!(image.len() < 32, "{} bytes", image.len());
    let view = MapView::new_checked(&image, 65_536).unwrap();
    assert_eq!((view.node_of(65_535), view.node_of(31)), (Some(4095), Some(1)));
}

/// What 65,536 ranks published lies once on each node; a rank keeps one section of its own.
#[test]
fn ranks_of_a_large_job_share_what_they_know() {
    const SIZE: u32 = 65_536;
    let own = 32_000..32_016;
    let published: Vec<(u32, Vec<u8>)> =
        (0..SIZE).filter(|rank| !own.contains(rank)).map(|rank| (rank, vec![rank as u8; 200])).collect();
    let message = frame::message(SIZE, published.iter().map(|(rank, bytes)| (*rank, &bytes[..]))).unwrap();
    assert!(message.len() < 205 * SIZE as usize, "{} bytes", message.len());
    let view = View::new_checked(&message).unwrap();
    assert_eq!(view.sections().len(), 1);
    for rank in [0, 31_999, 32_016, SIZE - 1] {
        let known = view.get(SegmentId::Job(0), rank, PROC_ADDRESSES);
        assert_eq!(known, Some(Value::Bytes(&[rank as u8; 200])));
    }
    assert_eq!(view.get(SegmentId::Job(0), own.start, PROC_ADDRESSES), None);
}

fn up(addresses: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let sections = frame::sections(16, addresses).unwrap();
    frame::addresses([&sections[..]].into_iter())
}

/// A root with one rank of its own, and a child with two.
fn root() -> Node {
    Node::new(map(&[0, 1, 1], 2), 0, vec![1]).unwrap()
}

#[test]
fn no_flaw_is_believed_and_none_does_harm() {
    let mut root = root();
    let long = vec![7; ADDRESSES_BYTES + 1];
    let twice = [up(&[(1, vec![1])]), up(&[(1, vec![2])])[2..].to_vec()].concat();
    for (bytes, flaw) in [
        (vec![], ModexFlaw::Length(0)),
        (vec![FORMAT], ModexFlaw::Length(1)),
        (vec![FORMAT + 1, 1], ModexFlaw::Format(FORMAT + 1)),
        (vec![FORMAT, 9], ModexFlaw::Kind(9)),
        (vec![FORMAT, 2, 0, 0, 0], ModexFlaw::Length(5)),
        (vec![FORMAT, 3, 0, 0, 0, 0], ModexFlaw::Order),
        (frame::reached(1), ModexFlaw::Barrier { named: 1, due: 0 }),
        (up(&[(3, vec![1])]), ModexFlaw::Rank(3)),
        (up(&[(0, vec![1])]), ModexFlaw::Twice(0)),
        (up(&[(1, long)]), ModexFlaw::Long(1)),
        (twice, ModexFlaw::Twice(1)),
        // The map instead of addresses.
        ([&[FORMAT, 1][..], &map(&[0, 1, 1], 2).image().unwrap()[1..]].concat(), ModexFlaw::Subject),
    ] {
        assert_eq!(root.from_child(1, &bytes).unwrap_err(), flaw, "{bytes:?}");
        assert!(!flaw.to_string().is_empty());
    }
    assert_eq!(root.from_child(0, &frame::reached(0)).unwrap_err(), ModexFlaw::Child(0));
    assert_eq!(root.from_parent(&frame::release(0)).unwrap_err(), ModexFlaw::Parent);
    // After all of it the right frames are believed, once.
    assert_eq!(root.from_child(1, &up(&[(1, vec![1]), (2, vec![2])])).unwrap(), vec![]);
    assert_eq!(root.from_child(1, &up(&[])).unwrap_err(), ModexFlaw::Order);
    assert_eq!(root.from_child(1, &frame::reached(0)).unwrap(), vec![]);
    assert_eq!(root.from_child(1, &frame::reached(0)).unwrap_err(), ModexFlaw::Order);
    assert_eq!(root.barrier_reached(), vec![Action::Down(1, frame::release(0)), Action::Release]);
    let actions = root.addresses_complete(vec![(0, vec![9])]).unwrap();
    assert!(matches!(&actions[..], [Action::Down(1, frame), Action::Addresses(_)] if *frame == up(&[(0, vec![9])])));
}

#[test]
fn a_parent_is_not_believed_out_of_turn() {
    let mut leaf = Node::new(map(&[0, 1, 1], 2), 1, Vec::new()).unwrap();
    assert_eq!(leaf.from_parent(&up(&[(0, vec![9])])).unwrap_err(), ModexFlaw::Order, "before this node has spoken");
    assert_eq!(leaf.from_parent(&frame::release(0)).unwrap_err(), ModexFlaw::Order);
    leaf.addresses_complete(vec![(1, vec![1]), (2, vec![2])]).unwrap();
    assert_eq!(leaf.from_parent(&frame::reached(0)).unwrap_err(), ModexFlaw::Order);
    assert_eq!(leaf.from_parent(&up(&[(1, vec![1])])).unwrap_err(), ModexFlaw::Twice(1));
    assert_eq!(leaf.from_parent(&up(&[(0, vec![9])])).unwrap().len(), 1);
    assert_eq!(leaf.from_parent(&up(&[])).unwrap_err(), ModexFlaw::Order);
    assert_eq!(leaf.barrier_reached(), vec![Action::Up(frame::reached(0))]);
    assert_eq!(leaf.from_parent(&frame::release(0)).unwrap(), vec![Action::Release]);
    assert_eq!(leaf.from_parent(&frame::release(1)).unwrap_err(), ModexFlaw::Order, "nobody is in barrier 1");
}

/// Twenty bytes that claim 2⁴⁰ ranks, or millions of ranks without any value, cost nothing.
#[test]
fn giant_claims_are_refused_at_once() {
    let head = [FORMAT, 1, 2];
    let claims: [&[u8]; 3] = [
        // Containers 0 and 2⁴⁰, one column: addresses, fixed, of 2⁴⁰ bytes.
        &[0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 1, 22, 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20],
        // 2²⁴ containers of no bytes each.
        &[0, 0, 0x80, 0x80, 0x80, 8, 1, 22, 3, 0],
        // Three containers, each of 2³¹ bytes.
        &[0, 0, 3, 1, 22, 3, 0x80, 0x80, 0x80, 0x80, 8],
    ];
    for claim in claims {
        let frame = [&head[..], claim].concat();
        assert!(frame.len() <= 20);
        let start = std::time::Instant::now();
        let flaw = root().from_child(1, &frame).unwrap_err();
        assert!(matches!(flaw, ModexFlaw::Message(_) | ModexFlaw::Rank(_)), "{flaw}");
        assert!(start.elapsed().as_millis() < 1000, "{flaw}");
    }
}
