//! The bytes are those of the real state machines, and a launch goes as one can work out by hand.

use bench_launch::constants::{Constants, GIVEN};
use bench_launch::launch::{Fault, Launched, launch};
use bench_launch::sizes::{Sizes, addresses_of, of_numbers};
use bench_launch::tree::Shape;
use bench_registry::job::Job;
use orte_core::modex::{Action, JobMap, Node};
use orte_core::oob::Frame;
use std::collections::VecDeque;

fn played(shape: &Shape) -> Launched {
    launch(shape, &Sizes::new(shape), &Constants::read(GIVEN).unwrap(), None)
}

/// Plays `orte_core::modex::Node` over the same tree: bytes of the frames that node 0 sends and gets.
fn of_nodes(shape: &Shape) -> (u64, u64) {
    let job = Job::new(shape.hosts * shape.per_host, shape.per_host);
    let map = JobMap {
        nodes: job.processes.iter().map(|process| process.node + 1).collect(),
        node_count: shape.nodes() as u32,
        apps: vec![0; job.processes.len()],
        names: Vec::new(),
    };
    let below = shape.children();
    let children = |node: usize| below[node].iter().map(|child| *child as u32).collect();
    let mut nodes: Vec<Node> =
        (0..shape.nodes()).map(|node| Node::new(map.clone(), node as u32, children(node)).unwrap()).collect();
    let (mut sent, mut received, mut told) = (0, 0, 0);
    let mut queue: VecDeque<(usize, Vec<Action>)> = VecDeque::new();
    for node in 0..shape.nodes() {
        queue.push_back((node, nodes[node].addresses_complete(addresses_of(&job, shape, node)).unwrap()));
    }
    let weight = |bytes: &[u8]| Frame::Modex(bytes.to_vec()).encode().len() as u64 + 5 + 4 + 32;
    while let Some((node, actions)) = queue.pop_front() {
        for action in actions {
            match action {
                // A node without ranks, such as this one, tells of the barrier as well, which is later than a launch.
                Action::Up(frame) if matches!(frame[1], 2) => {}
                Action::Up(frame) => {
                    let parent = shape.parent(node);
                    received += if parent == 0 { weight(&frame) } else { 0 };
                    queue.push_back((parent, nodes[parent].from_child(node as u32, &frame).unwrap()));
                }
                Action::Down(child, frame) => {
                    sent += if node == 0 { weight(&frame) } else { 0 };
                    queue.push_back((child as usize, nodes[child as usize].from_parent(&frame).unwrap()));
                }
                Action::Addresses(_) => told += 1,
                Action::Release => panic!("nobody is in a barrier"),
            }
        }
    }
    assert_eq!(told, shape.hosts, "every node with ranks knows the others' addresses");
    (sent, received)
}

#[test]
fn bytes_are_those_of_the_state_machines() {
    for (hosts, per_host, radix) in [(1, 1, 64), (7, 3, 2), (20, 4, 3), (9, 130, 0), (40, 2, 64)] {
        let shape = Shape { hosts, per_host, radix };
        let sizes = Sizes::new(&shape);
        let launched = played(&shape);
        let (sent, received) = of_nodes(&shape);
        let orders = shape.children()[0].len() as u64 * sizes.orders;
        let states = u64::from(hosts * per_host) * 2 * sizes.rank_state;
        assert_eq!(launched.root_sent, orders + sent, "{shape:?}");
        assert_eq!(launched.root_received, states + received, "{shape:?}");
    }
}

#[test]
fn one_host_takes_a_login_and_its_ranks() {
    let shape = Shape { hosts: 1, per_host: 8, radix: 64 };
    let launched = played(&shape);
    // agent + login + daemon + handshake; then orders and eight ranks, and what they publish.
    assert!((313.0..314.0).contains(&launched.called_ms), "{launched:?}");
    assert!(
        (321.0..322.5).contains(&launched.began_ms) && launched.wired_ms > launched.began_ms + 20.0,
        "{launched:?}"
    );
}

#[test]
fn a_tree_takes_the_load_off_the_root() {
    let shape = |radix| Shape { hosts: 512, per_host: 32, radix };
    let (star, tree) = (played(&shape(0)), played(&shape(16)));
    let wireup = |launched: &Launched| launched.wired_ms - launched.called_ms;
    assert!(tree.root_sent * 20 < star.root_sent && wireup(&tree) * 2.0 < wireup(&star), "{star:?} {tree:?}");
    // Logins go in as many rounds as the tree is deep.
    assert!(star.called_ms > 512.0 && tree.called_ms > 2.0 * 300.0, "{star:?} {tree:?}");
}

#[test]
fn a_host_that_fails_ends_the_job() {
    let constants = Constants::read(GIVEN).unwrap();
    for radix in [0, 8] {
        let shape = Shape { hosts: 200, per_host: 4, radix };
        let sizes = Sizes::new(&shape);
        for node in [1, 9, 100, 200] {
            for at in [1_000, 400_000_000, 1_000_000_000, 1_500_000_000] {
                for silence in [None, Some(2_000_000_000)] {
                    let ended = launch(&shape, &sizes, &constants, Some(Fault { node, at, silence }));
                    let known = ended.known_ms.unwrap();
                    let least = (at + silence.unwrap_or(0)) as f64 / 1e6;
                    assert!(known >= least && known < least + 1.0, "{radix} {node} {at} {silence:?}: {ended:?}");
                    // Nobody has called after a microsecond, and later the last one hears of it within 20 ms.
                    assert!(
                        ended.over_ms.unwrap_or(known) < known + 20.0,
                        "{radix} {node} {at} {silence:?}: {ended:?}"
                    );
                    assert_eq!(ended.over_ms.is_some(), at > 1_000 || silence.is_some(), "{ended:?}");
                }
            }
        }
    }
}

#[test]
fn what_a_daemon_is_told_hardly_grows() {
    let orders = |hosts| Sizes::new(&Shape { hosts, per_host: 128, radix: 64 }).orders;
    assert_eq!(orders(4096), orders(64));
}

#[test]
fn ours_is_an_order_of_magnitude_below_the_baseline() {
    let shape = Shape { hosts: 256, per_host: 128, radix: 64 };
    let sizes = Sizes::new(&shape);
    assert!(sizes.baseline > 10 * of_numbers(&shape), "{} {}", sizes.baseline, of_numbers(&shape));
}
