//! Which queues are looked at, and in which order.

use super::*;
use crate::peers::endpoint::Connected;
use crate::test_image::{Calls, Transport, fifo_pair};
use crate::wire;
use std::boxed::Box;
use std::vec::Vec;

struct Silent;

impl Calls for Silent {}

static TRANSPORT: Transport<Silent> = Transport(Silent);

fn connected(gives_queues: bool) -> &'static Connected {
    Box::leak(Box::new(Connected::of(Endpoint::of_test(&TRANSPORT, gives_queues.then(|| fifo_pair().0)))))
}

fn peers(gives_queues: impl IntoIterator<Item = bool>) -> Vec<&'static Connected> {
    gives_queues.into_iter().map(connected).collect()
}

fn any_source(peers: &[&'static Connected], own: Option<u32>) -> AnySource {
    let queued = (0..).zip(peers).filter_map(|(rank, connected)| Some((rank, connected.queued()?)));
    AnySource::new(queued, own, peers.len() - usize::from(own.is_some()))
}

/// What is sent comes back as from this rank.
fn send(peers: &[&Connected], rank: usize, immediate: u64) {
    let mut producer = peers[rank].queued().unwrap().fifo_pair.producer();
    assert!(producer.push(wire::EAGER, immediate, 0, None, false, |_| {}).is_ok());
}

fn take(any: &AnySource) -> Option<(u32, u64)> {
    let mut found = any.find()?;
    found.consumer.advance();
    Some((found.queue.rank, found.peeked.immediate))
}

#[test]
fn senders_take_turns() {
    let peers = peers([true; 3]);
    let any = any_source(&peers, None);
    for immediate in 1..4 {
        (0..3).for_each(|rank| send(&peers, rank, immediate));
    }
    let got: Vec<_> = core::iter::from_fn(|| take(&any)).collect();
    assert_eq!(got, [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3)]);
    send(&peers, 1, 4);
    send(&peers, 1, 5);
    assert_eq!(take(&any), Some((1, 4)));
    send(&peers, 0, 6);
    assert_eq!([take(&any), take(&any), take(&any)], [Some((0, 6)), Some((1, 5)), None]);
}

#[test]
fn who_gives_no_queues_away_is_left_to_progress() {
    let peers = peers([true, false, true, true]);
    let any = any_source(&peers, Some(2));
    assert!(any.has_queues() && !any.alone, "rank 1 sends in another way");
    let ranks: Vec<u32> = any.sources().collect();
    assert_eq!(ranks, [0, 3]);
    assert!(any_source(&peers, Some(1)).alone, "this process does not send while it waits");
    let many = |count| peers_of(count, count);
    assert!(any_source(&many(MOST_QUEUES), None).has_queues());
    assert!(!any_source(&many(MOST_QUEUES + 1), None).has_queues());
    assert!(any_source(&many(MOST_QUEUES + 1), Some(0)).has_queues());
    assert!(any_source(&peers_of(0, 3), None).find().is_none());
}

fn peers_of(queues: usize, all: usize) -> Vec<&'static Connected> {
    peers((0..all).map(|rank| rank < queues))
}

#[test]
fn a_busy_sender_leaves_room_for_passes() {
    let peers = peers([true; 2]);
    let any = any_source(&peers, None);
    for _ in 0..3 {
        for _ in 0..FOUND_PER_PASS {
            send(&peers, 0, 1);
            assert!(take(&any).is_some());
        }
        send(&peers, 0, 1);
        assert!(take(&any).is_none() && take(&any).is_none(), "until a pass of progress is asked for");
        assert!(any.peek().is_none() && any.peek().is_some(), "once");
        assert!(take(&any).is_some());
        assert!(any.peek().is_none(), "nothing is there");
    }
}
