//! The registry against a naive model, its messages byte by byte, and what it refuses.

use super::flaw::Fault;
use super::key::*;
use super::names::NoKey;
use super::refusal::Refusal;
use super::registry::Registry;
use super::segment::{CONTAINERS_MAX, SegmentId};
use super::subscription::{Subscription, Trigger};
use super::view::View;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

const JOB: SegmentId = SegmentId::Job(0);

fn registry(nodes: u32, ranks: u32) -> Registry {
    let mut registry = Registry::default();
    registry.add_segment(SegmentId::Nodes, nodes).unwrap();
    registry.add_segment(JOB, ranks).unwrap();
    registry
}

fn wants(node: u32, keys: &[Key], trigger: Trigger) -> Subscription {
    Subscription { node, segment: JOB, keys: keys.into(), trigger }
}

fn numbers(registry: &mut Registry, key: Key, numbers: impl IntoIterator<Item = u64>) {
    for (rank, number) in (0..).zip(numbers) {
        registry.put(JOB, rank, key, Value::Number(number)).unwrap();
    }
}

/// The only message of the only section of a job: what follows its head.
fn column(key: Key, values: &[Value<'_>]) -> Vec<u8> {
    let mut registry = registry(1, values.len() as u32);
    for (rank, value) in (0..).zip(values) {
        registry.put(JOB, rank, key, *value).unwrap();
    }
    let image = registry.image();
    let view = View::new_checked(&image).unwrap();
    for (rank, value) in (0..).zip(values) {
        assert_eq!(view.get(JOB, rank, key), Some(*value));
    }
    assert_eq!(view.get(JOB, values.len() as u32, key), None);
    assert_eq!(image[..6], [1, 2, 0, 0, values.len() as u8, 1]);
    image[6..].to_vec()
}

#[test]
fn columns_have_the_shortest_form() {
    let of =
        |numbers: &[u64]| column(PROC_NODE, &numbers.iter().map(|number| Value::Number(*number)).collect::<Vec<_>>());
    assert_eq!(of(&[7, 7, 7]), [16, 0, 7]);
    assert_eq!(of(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2]), [16, 1, 0, 1, 4, 3], "by slot");
    assert_eq!(of(&[0, 1, 2, 0, 1, 2, 0, 1]), [16, 1, 0, 1, 1, 3], "by node");
    assert_eq!(of(&[5, 300, 595, 890]), [16, 1, 5, 0xa7, 2, 1, 4], "steps of 295");
    assert_eq!(of(&[3, 1, 2, 9]), [16, 2, 1, 3, 1, 2, 9]);
    assert_eq!(of(&[3, 1, 256]), [16, 2, 2, 3, 0, 1, 0, 0, 1]);
    assert_eq!(of(&[0, u64::MAX, 1])[..4], [16, 2, 8, 0]);
    let bytes =
        |values: &[&'static [u8]]| column(PROC_ADDRESSES, &values.iter().map(|v| Value::Bytes(v)).collect::<Vec<_>>());
    assert_eq!(bytes(&[b"ab", b"cd"]), [22, 3, 2, b'a', b'b', b'c', b'd']);
    assert_eq!(bytes(&[b"a", b"", b"bcd"]), [22, 4, 1, 1, 1, 4, b'a', b'b', b'c', b'd']);
    assert_eq!(bytes(&[b"", b""]), [22, 3, 0]);
}

#[test]
fn texts_are_texts() {
    let mut registry = registry(3, 1);
    for (node, name) in (0..).zip(["näh", "o", "kvæg"]) {
        registry.put(SegmentId::Nodes, node, NODE_NAME, Value::Text(name)).unwrap();
    }
    let image = registry.image();
    assert_eq!(View::new_checked(&image).unwrap().get(SegmentId::Nodes, 2, NODE_NAME), Some(Value::Text("kvæg")));
    let at = image.iter().position(|byte| *byte == 4).unwrap();
    let mut broken = image.clone();
    broken[at] = 2; // the first name ends inside its ä
    assert_eq!(View::new_checked(&broken).unwrap_err().fault, Fault::Text);
}

#[test]
fn a_number_of_a_name_is_given_once_and_travels() {
    let mut root = registry(1, 2);
    let key = root.key("site-power", Kind::Number).unwrap();
    assert_eq!(root.key("site-power", Kind::Number), Ok(key));
    assert_eq!(root.key("site-power", Kind::Bytes), Err(NoKey::Kind(Kind::Number)));
    assert_eq!(key.number(), DYNAMIC);
    root.subscribe(wants(0, &[key], Trigger::Now)).unwrap();
    root.put(JOB, 1, key, Value::Number(500)).unwrap();
    let message = root.notifications().pop().unwrap().bytes;
    let mut node = registry(1, 2);
    node.apply(&View::new_checked(&message).unwrap()).unwrap();
    assert_eq!(node.key_name(key), Some("site-power"));
    assert_eq!(node.get(JOB, 1, key), Some(Value::Number(500)));
    root.put(JOB, 0, key, Value::Number(2)).unwrap();
    let again = root.notifications().pop().unwrap().bytes;
    assert!(message.windows(10).any(|bytes| bytes == b"site-power"));
    assert!(!again.windows(10).any(|bytes| bytes == b"site-power"), "the name travels once");
    let mut other = registry(1, 2);
    other.key("another", Kind::Number).unwrap();
    assert_eq!(other.apply(&View::new_checked(&message).unwrap()), Err(Refusal::Key(Key(DYNAMIC + 1))));
}

#[test]
fn a_node_is_sent_what_it_lacks_and_nothing_twice() {
    let mut root = registry(3, 4);
    for node in [2, 0, 1] {
        root.subscribe(wants(node, &[PROC_ADDRESSES], Trigger::All(PROC_ADDRESSES))).unwrap();
    }
    root.subscribe(wants(1, &[PROC_ADDRESSES, PROC_STATE], Trigger::Count(PROC_ADDRESSES, 2))).unwrap();
    let address = |rank: u32| [rank as u8, 9];
    root.put(JOB, 0, PROC_ADDRESSES, Value::Bytes(&address(0))).unwrap();
    assert_eq!(root.notifications(), vec![], "one of four");
    root.put(JOB, 3, PROC_ADDRESSES, Value::Bytes(&address(3))).unwrap();
    let early = root.notifications();
    assert_eq!((early.len(), &early[0].nodes), (1, &vec![1]));
    assert_eq!(early[0].bytes, [1, 2, 1, 2, 0, 3, 1, 22, 3, 2, 0, 9, 3, 9], "containers 0 and 3 as a list");
    for rank in [1, 2] {
        root.put(JOB, rank, PROC_ADDRESSES, Value::Bytes(&address(rank))).unwrap();
    }
    let all = root.notifications();
    assert_eq!(all.iter().map(|message| message.nodes.clone()).collect::<Vec<_>>(), [vec![0, 2], vec![1]]);
    assert_eq!(all[1].bytes, [1, 2, 0, 1, 2, 1, 22, 3, 2, 1, 9, 2, 9], "only what node 1 lacks");
    assert_eq!(root.notifications(), vec![]);
    root.put(JOB, 1, PROC_ADDRESSES, Value::Bytes(&address(1))).unwrap();
    assert_eq!(root.notifications(), vec![], "the same value is no change");
    root.put(JOB, 1, PROC_ADDRESSES, Value::Bytes(&[7, 7])).unwrap();
    assert_eq!(root.notifications()[0].nodes, [0, 1, 2]);
    root.forget(1);
    root.put(JOB, 1, PROC_ADDRESSES, Value::Bytes(&[8, 8, 8])).unwrap();
    assert_eq!(root.notifications()[0].nodes, [0, 2]);
}

#[test]
fn what_cannot_be_is_refused() {
    let mut root = registry(2, 4);
    let one = Value::Number(1);
    assert_eq!(root.add_segment(JOB, 4), Err(Refusal::SegmentTwice(JOB)));
    assert_eq!(root.add_segment(SegmentId::Names, 4), Err(Refusal::SegmentTwice(SegmentId::Names)));
    assert_eq!(root.add_segment(SegmentId::Job(1), 0), Err(Refusal::Containers(0)));
    assert_eq!(root.add_segment(SegmentId::Job(1), CONTAINERS_MAX + 1), Err(Refusal::Containers(CONTAINERS_MAX + 1)));
    assert_eq!(root.put(SegmentId::Job(1), 0, PROC_NODE, one), Err(Refusal::Segment(SegmentId::Job(1))));
    assert_eq!(root.put(JOB, 4, PROC_NODE, one), Err(Refusal::Container { segment: JOB, container: 4, containers: 4 }));
    assert_eq!(root.put(JOB, 0, Key(DYNAMIC), one), Err(Refusal::Key(Key(DYNAMIC))));
    assert_eq!(
        root.put(JOB, 0, PROC_NODE, Value::Text("x")),
        Err(Refusal::Kind { key: PROC_NODE, wanted: Kind::Number })
    );
    assert_eq!(root.subscribe(wants(0, &[Key(DYNAMIC)], Trigger::Now)), Err(Refusal::Key(Key(DYNAMIC))));
    assert!(matches!(root.subscribe(wants(0, &[], Trigger::Count(PROC_NODE, 5))), Err(Refusal::Container { .. })));
    let (mut many, mut few) = (registry(1, 5), registry(1, 4));
    numbers(&mut many, PROC_NODE, 0..5);
    let image = many.image();
    assert!(matches!(few.apply(&View::new_checked(&image).unwrap()), Err(Refusal::Container { .. })));
    assert_eq!(few.get(JOB, 0, PROC_NODE), None, "nothing of that section was taken over");
}

#[test]
fn flaws_are_found_where_they_are() {
    let fault = |bytes: &[u8]| View::new_checked(bytes).map(|_| ()).map_err(|flaw| (flaw.at, flaw.fault));
    assert_eq!(fault(&[]), Err((0, Fault::Short)));
    assert_eq!(fault(&[9]), Err((0, Fault::Version(9))));
    assert_eq!(fault(&[1]), Ok(()));
    assert_eq!(fault(&[1, 0xff, 0xff, 0xff, 0x7f]), Err((1, Fault::Segment(0x0fff_ffff))));
    assert_eq!(fault(&[1, 2, 0, 0, 0]), Err((2, Fault::Containers)), "no container");
    assert_eq!(fault(&[1, 2, 0, 1, 0x80, 0x80, 0x80, 8]), Err((2, Fault::Containers)), "too many");
    assert_eq!(fault(&[1, 2, 1, 2, 3, 3, 0]), Err((2, Fault::Containers)), "not ascending");
    assert_eq!(fault(&[1, 2, 3]), Err((2, Fault::Containers)), "no width");
    assert_eq!(fault(&[1, 2, 0, 0, 1, 1, 60]), Err((6, Fault::Key(60))));
    assert_eq!(fault(&[1, 2, 0, 0, 1, 2, 16, 0, 1, 16, 0, 1]), Err((9, Fault::Order)));
    assert_eq!(fault(&[1, 2, 0, 0, 1, 1, 16, 3, 1, 1]), Err((7, Fault::Form)), "bytes for a number");
    assert_eq!(fault(&[1, 2, 0, 0, 1, 1, 16, 7]), Err((7, Fault::Form)));
    assert_eq!(fault(&[1, 2, 0, 0, 2, 1, 22, 4, 1, 2, 1, 0, 0]), Err((7, Fault::Ends)));
    assert_eq!(fault(&[1, 2, 0, 0, 1, 1, 16, 1, 1, 1, 0, 1]), Err((7, Fault::Number)), "a block of 0");
    assert_eq!(fault(&[1, 0x82, 0]), Err((1, Fault::Number)), "longer than it need be");
    let overflow = [1, 2, 0, 0, 1, 1, 16, 1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1, 3];
    assert_eq!(fault(&overflow), Err((7, Fault::Number)));
    // A few bytes that claim millions of values, and megabytes.
    assert_eq!(fault(&[1, 2, 0, 0, 0x80, 0x80, 0x80, 8, 1, 22, 3, 0xff, 0xff, 0xff, 0x7f]), Err((15, Fault::Short)));
    assert_eq!(fault(&[1, 1, 0, 0, 0x80, 0x80, 0x80, 8, 1, 2, 5, 0]), Ok(()), "so many empty names");
}

/// Random puts, subscriptions and messages: what a node has is what the root has, key by key.
#[test]
fn nodes_follow_the_root() {
    const KEYS: [Key; 4] = [PROC_NODE, PROC_STATE, PROC_ADDRESSES, PROC_CONTACT];
    for seed in 1..200u64 {
        let mut state = seed;
        let mut draw = |end: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % u64::from(end)) as u32
        };
        let ranks = 1 + draw(300);
        let mut root = registry(4, ranks);
        let mut nodes: Vec<Registry> = (0..4).map(|_| registry(4, ranks)).collect();
        let mut model: BTreeMap<(Key, u32), Vec<u8>> = BTreeMap::new();
        let subscribed: Vec<Vec<Key>> =
            (0..4).map(|_| KEYS.iter().copied().filter(|_| draw(2) == 0).collect()).collect();
        for (node, keys) in (0..).zip(&subscribed) {
            root.subscribe(wants(node, keys, Trigger::Now)).unwrap();
        }
        for _ in 0..5 {
            for _ in 0..draw(2 * ranks) {
                let (key, rank) = (KEYS[draw(4) as usize], draw(ranks));
                let value: Vec<u8> = match key.info().unwrap().kind {
                    Kind::Number => {
                        let bits = 1 + draw(20);
                        u64::from(draw(1 << bits)).to_le_bytes().into()
                    }
                    _ => (0..draw(9)).map(|_| draw(256) as u8).collect(),
                };
                root.put(JOB, rank, key, decoded(key, &value)).unwrap();
                model.insert((key, rank), value);
            }
            for message in root.notifications() {
                let view = View::new_checked(&message.bytes).unwrap();
                message.nodes.iter().for_each(|node| nodes[*node as usize].apply(&view).unwrap());
            }
            let image = root.image();
            let image = View::new_checked(&image).unwrap();
            for key in KEYS {
                for rank in 0..ranks {
                    let right = model.get(&(key, rank)).map(|value| decoded(key, value));
                    assert_eq!(root.get(JOB, rank, key), right, "seed {seed}");
                    assert_eq!(image.get(JOB, rank, key), right, "seed {seed}");
                    for (node, keys) in nodes.iter().zip(&subscribed) {
                        assert_eq!(node.get(JOB, rank, key), right.filter(|_| keys.contains(&key)), "seed {seed}");
                    }
                }
            }
        }
    }
}

fn decoded(key: Key, value: &[u8]) -> Value<'_> {
    match key.info().unwrap().kind {
        Kind::Number => Value::Number(u64::from_le_bytes(value.try_into().unwrap())),
        _ => Value::Bytes(value),
    }
}

#[test]
fn the_schema_is_in_order_and_names_are_unique() {
    assert!(SCHEMA.is_sorted_by(|one, next| one.key < next.key));
    let mut names: Vec<String> = SCHEMA.iter().map(|info| info.name.into()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), SCHEMA.len());
    assert!(SCHEMA.iter().all(|info| info.key.number() < DYNAMIC && Key::new(info.key.number()) == Some(info.key)));
    assert_eq!((Key::new(60), Key::new(KEYS_MAX)), (None, None));
}
