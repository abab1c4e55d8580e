//! Every order of a producer's and a consumer's accesses to a queue of four slots.

use super::*;
use crate::sync::model::{check, spawn, yield_now};
use std::boxed::Box;
use std::vec::Vec;

#[repr(C, align(64))]
struct Area([u8; SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES + 64]);

/// The area lives as long as the result.
fn queue() -> (Producer, Consumer, Box<Area>) {
    let mut area = Box::new(Area([0; SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES + 64]));
    let base = area.0.as_mut_ptr();
    let (payload_ring, consumed) =
        (base.wrapping_add(SLOT_RING_BYTES), base.wrapping_add(SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES));
    // SAFETY: within the area, which the caller keeps.
    let memory = unsafe { Memory::new(base, payload_ring, MIN_PAYLOAD_RING_BYTES, consumed) };
    (Producer::new(memory), Consumer::new(memory), area)
}

fn push(producer: &mut Producer, number: u64, bytes: usize) -> Result<(), Refused> {
    let data = [number as u8; PAYLOAD_BYTES];
    if number.is_multiple_of(2) && bytes <= INLINE_BYTES {
        // SAFETY: the array is as long.
        return unsafe { producer.push_inline(2, number, data.as_ptr(), bytes, false) };
    }
    // SAFETY: the queue gives room for as many; the array is as long.
    producer.push(2, number, bytes, None, false, |to| unsafe { core::ptr::copy(data.as_ptr(), to, bytes) })
}

fn pop(consumer: &mut Consumer) -> Option<(u64, Vec<u8>)> {
    let peeked = consumer.peek().expect("only a hostile producer writes what is no message")?;
    let mut data = std::vec![0; peeked.payload().len()];
    assert_eq!(peeked.payload().copy_to(&mut data), data.len());
    consumer.advance();
    Some((peeked.immediate, data))
}

/// `messages` messages through the queue; `bytes` of each.
fn all_arrive(messages: u64, bytes: fn(u64) -> usize) {
    check(move || {
        let (mut producer, mut consumer, _area) = queue();
        let sender = spawn(move || {
            for number in 0..messages {
                while let Err(refused) = push(&mut producer, number, bytes(number)) {
                    assert_eq!(refused, Refused::Full);
                    yield_now();
                }
            }
        });
        for number in 0..messages {
            let (immediate, data) = loop {
                match pop(&mut consumer) {
                    Some(one) => break one,
                    None => yield_now(),
                }
            };
            assert_eq!(immediate, number);
            assert_eq!(data, std::vec![number as u8; bytes(number)]);
        }
        assert!(pop(&mut consumer).is_none());
        sender.join().unwrap();
    });
}

/// The last message meets the first slot again, whose parity has changed.
#[test]
fn slots_over_a_wrap() {
    all_arrive(u64::from(SLOTS) + 1, |number| (number % 3) as usize * 20);
}

#[test]
fn the_byte_ring() {
    all_arrive(u64::from(SLOTS) + 1, |_| PAYLOAD_BYTES);
}

#[test]
fn both_in_turns() {
    all_arrive(u64::from(SLOTS) + 1, |number| if number.is_multiple_of(2) { 8 } else { INLINE_BYTES + 1 });
}
