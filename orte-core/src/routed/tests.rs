use super::*;
use crate::oob::{Frame, OobFlaw};
use alloc::vec;
use alloc::vec::Vec;

const TREES: [Tree; 6] = [
    Tree { nodes: 2, radix: 64 },
    Tree { nodes: 9, radix: 2 },
    Tree { nodes: 9, radix: 1 },
    Tree { nodes: 9, radix: 0 },
    Tree { nodes: 40, radix: 3 },
    Tree { nodes: u32::MAX, radix: u32::MAX },
];

#[test]
fn parents_and_children_agree() {
    let parents = |radix| (1..9).map(|node| Tree { nodes: 9, radix }.parent(node).unwrap()).collect::<Vec<u32>>();
    assert_eq!(parents(2), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(parents(1), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((parents(0), parents(64)), (vec![0; 8], vec![0; 8]));
    for tree in TREES {
        assert_eq!(tree.parent(0), None);
        for node in 0..tree.nodes.min(40) {
            for child in tree.children(node).take(50) {
                assert_eq!(tree.parent(child), Some(node), "{tree:?}");
                assert!(child > node && tree.holds(node, child) && !tree.holds(child, node));
            }
        }
    }
    assert_eq!(Tree { nodes: 9, radix: 2 }.below(1).collect::<Vec<u32>>(), [3, 4, 7, 8]);
}

/// From node to node until it is there, or everywhere: who got it.
fn arrives(tree: Tree, bytes: &[u8]) -> Vec<u32> {
    let mut at: Vec<u32> = match envelope::open(bytes).unwrap().0 {
        Way::To(node) => match tree.hop(0, node) {
            Hop::Down(child) => vec![child],
            _ => Vec::new(),
        },
        _ => tree.children(0).collect(),
    };
    let mut got = Vec::new();
    while let Some(node) = at.pop() {
        let routed = Router { tree, node }.from_parent(bytes).unwrap();
        assert!(!routed.up);
        got.extend(routed.here.map(|(from, frame)| {
            assert_eq!((Some(from), frame), (tree.parent(node), Frame::Signal(15, true)));
            node
        }));
        at.extend(routed.down);
    }
    got.sort_unstable();
    got
}

#[test]
fn what_mpirun_sends_arrives_once() {
    for tree in &TREES[..5] {
        let frame = Frame::Signal(15, true);
        assert_eq!(arrives(*tree, &envelope::encode(Way::All, &frame)), (1..tree.nodes).collect::<Vec<u32>>());
        for node in 1..tree.nodes {
            assert_eq!(arrives(*tree, &envelope::encode(Way::To(node), &frame)), [node], "{tree:?}");
        }
    }
}

#[test]
fn what_daemons_send_comes_to_mpirun_with_their_number() {
    for tree in &TREES[..5] {
        for node in 1..tree.nodes {
            let bytes = envelope::encode(Way::From(node), &Frame::Gone);
            let mut at = node;
            loop {
                let parent = tree.parent(at).unwrap();
                let routed = Router { tree: *tree, node: parent }.from_child(at, &bytes).unwrap();
                assert_eq!(routed.is_last, at == node, "only its own end ends a connection");
                assert_eq!((routed.up, routed.down), (parent != 0, 0..0));
                at = parent;
                if at == 0 {
                    assert_eq!(routed.here, Some((node, Frame::Gone)));
                    break;
                }
                assert_eq!(routed.here, None);
            }
        }
    }
}

#[test]
fn nobody_speaks_for_others() {
    let tree = Tree { nodes: 9, radix: 2 };
    let (inner, root) = (Router { tree, node: 1 }, Router { tree, node: 0 });
    let of = |way| envelope::encode(way, &Frame::Beat);
    for way in [Way::From(2), Way::From(4), Way::From(1), Way::From(0), Way::From(9)] {
        assert_eq!(inner.from_child(3, &of(way)), Err(OobFlaw::Field("node")), "{way:?}");
    }
    for way in [Way::To(3), Way::All] {
        assert_eq!(inner.from_child(3, &of(way)), Err(OobFlaw::Field("way")), "{way:?}");
    }
    for way in [Way::To(2), Way::To(0), Way::To(9), Way::To(u32::MAX)] {
        assert_eq!(inner.from_parent(&of(way)), Err(OobFlaw::Field("node")), "{way:?}");
    }
    assert_eq!(inner.from_parent(&of(Way::From(3))), Err(OobFlaw::Field("way")));
    assert_eq!(root.from_parent(&of(Way::All)), Err(OobFlaw::Field("way")), "nobody is above mpirun");
    for bytes in [&[][..], &[1, 0, 0, 0], &[1, 1, 0, 0, 0, 20], &[3, 0, 0, 1, 0, 20], &[0; 6], &[5; 6]] {
        assert!(inner.from_parent(bytes).is_err() && inner.from_child(3, bytes).is_err(), "{bytes:?}");
    }
    // What passes through is not looked at; what arrives is.
    let mut garbage = of(Way::From(7));
    garbage.truncate(envelope::BYTES);
    assert!(inner.from_child(3, &garbage).unwrap().up && root.from_child(1, &garbage).is_err());
}
