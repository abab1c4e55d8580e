//! Every order of accesses in which senders fill a receive segment, set their bit in its bitmap and wake its owner.
#![allow(unsafe_code)]

extern crate std;

use crate::endpoint::PeerEndpoint;
use crate::raw::Shared;
use crate::rx_segment::RxSegment;
use crate::wire;
use opal_core::framework::shmem::Segment;
use opal_core::queue::fifo::Consumer;
use opal_core::sync::Ordering;
use opal_core::sync::model::{check, spawn, yield_now};
use opal_core::wait;
use std::alloc::{Layout, alloc_zeroed};
use std::boxed::Box;
use std::vec::Vec;

/// Memory for the segments of so many ranks. A model's words stay as they are, so that it serves for every order.
fn segments(ranks: u32) -> Vec<Segment> {
    let bytes = wire::segment_bytes(ranks);
    let layout = Layout::from_size_align(bytes, 4096).unwrap();
    // SAFETY: not of size 0.
    let new = || Segment { base: unsafe { alloc_zeroed(layout) }, bytes };
    (0..ranks).map(|_| new()).collect()
}

fn rx_segment(segment: &Segment, ranks: u32) -> RxSegment {
    let shared = Shared::of(Segment { base: segment.base, bytes: segment.bytes });
    RxSegment::new(shared, ranks, None, Default::default()).unwrap()
}

/// The endpoint by which a rank sends to rank 0.
fn endpoint(segments: &[Segment], rank: u32) -> PeerEndpoint {
    let ranks = segments.len() as u32;
    let from = Consumer::new(rx_segment(&segments[rank as usize], ranks).queue(0));
    PeerEndpoint::new(rx_segment(&segments[0], ranks), from, (0, rank), 0, false)
}

/// What [`PeerEndpoint::send`] does for a first message, without a node that could be told of failures.
fn send_first(to: &PeerEndpoint, own: &RxSegment, rank: u32, immediate: u64) {
    let mut producer = to.fifo_pair().producer();
    // SAFETY: no bytes are read.
    unsafe { producer.push_inline(1, immediate, core::ptr::null(), 0, false) }.unwrap();
    drop(producer);
    own.mark_sender(rank);
    if to.fifo_pair().peer_sleeps() {
        to.wake();
    }
}

#[test]
fn a_marked_sender_has_filled_its_slot() {
    let memory: &'static [Segment] = Vec::leak(segments(3));
    check(move || {
        let own = rx_segment(&memory[0], 3);
        let mut queues = [1, 2].map(|rank| Consumer::new(own.queue(rank)));
        let senders = [1, 2].map(|rank| {
            let to = endpoint(memory, rank);
            spawn(move || send_first(&to, &rx_segment(&memory[0], 3), rank, rank.into()))
        });
        let mut left = 0b110;
        while left != 0 {
            // Acquire pairs with the Release in `mark_sender`.
            let news = own.sender_bitmap(0).load(Ordering::Acquire) & left;
            for rank in (1..3).filter(|rank| news & 1 << rank != 0) {
                let peeked = queues[rank as usize - 1].peek().unwrap();
                assert_eq!(peeked.expect("its slot is filled").immediate, rank);
            }
            left &= !news;
            yield_now();
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// A sleep has no end in a model but being woken.
#[test]
fn nobody_sleeps_through_a_message() {
    let memory: &'static [Segment] = Vec::leak(segments(2));
    check(move || {
        let own: &'static RxSegment = Box::leak(Box::new(rx_segment(&memory[0], 2)));
        let mut queue = Consumer::new(own.queue(1));
        wait::set_waker(own);
        let to = endpoint(memory, 1);
        let sender = spawn(move || send_first(&to, &rx_segment(&memory[0], 2), 1, 7));
        wait::until(|| queue.peek().unwrap().is_some()).unwrap();
        sender.join().unwrap();
    });
}

#[test]
fn an_owner_learns_of_each_rank_that_gave_up() {
    let memory: &'static [Segment] = Vec::leak(segments(3));
    check(move || {
        let own = rx_segment(&memory[0], 3);
        let ranks = [1, 2].map(|rank| spawn(move || rx_segment(&memory[0], 3).mark_closed(0, rank)));
        let mut known = 0u32;
        while known != 0b110 {
            if own.take_closed(0) {
                known |= (1..3).filter(|rank| own.is_closed_by(*rank)).map(|rank| 1 << rank).sum::<u32>();
            }
            yield_now();
        }
        ranks.into_iter().for_each(|rank| rank.join().unwrap());
    });
}
