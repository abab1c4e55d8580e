use super::*;
use std::vec::Vec;

#[repr(C, align(64))]
#[derive(Clone)]
struct Line([u8; 64]);

fn queue() -> (Producer, Consumer, *mut u8) {
    queue_with(MIN_PAYLOAD_RING_BYTES)
}

// tests/valgrind.supp names this frame.
#[inline(never)]
fn queue_with(payload_ring_bytes: usize) -> (Producer, Consumer, *mut u8) {
    let lines = (SLOT_RING_BYTES + payload_ring_bytes) / LINE_BYTES + 1;
    let base = std::vec![Line([0; 64]); lines].leak().as_mut_ptr().cast::<u8>();
    let (payload_ring, consumed) =
        (base.wrapping_add(SLOT_RING_BYTES), base.wrapping_add(SLOT_RING_BYTES + payload_ring_bytes));
    // SAFETY: within the lines just leaked.
    let memory = unsafe { Memory::new(base, payload_ring, payload_ring_bytes, consumed) };
    (Producer::new(memory), Consumer::new(memory), base)
}

fn push(producer: &mut Producer, kind: u8, immediate: u64, data: &[u8]) -> Result<(), Refused> {
    let part = (!immediate.is_multiple_of(3)).then_some(immediate as usize % 9);
    // SAFETY: both sides are at least as long as `data`.
    producer.push(kind, immediate, data.len(), part, immediate % 2 == 1, |to| unsafe {
        core::ptr::copy(data.as_ptr(), to, data.len())
    })
}

fn pop(consumer: &mut Consumer) -> Option<(u8, u64, Vec<u8>)> {
    let peeked = consumer.peek().unwrap()?;
    // SAFETY: the payload lies in the area until `advance`.
    let data = unsafe { core::slice::from_raw_parts(peeked.payload().as_ptr(), peeked.payload().len()) }.to_vec();
    consumer.advance();
    Some((peeked.kind(), peeked.immediate, data))
}

fn pattern(number: u64, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (number as usize * 31 + index * 7) as u8).collect()
}

#[test]
fn what_does_not_fit_into_a_slot_is_not_pushed_at_once() {
    let (mut producer, mut consumer, _) = queue();
    push(&mut producer, 1, 1, &[]).unwrap();
    let data = pattern(2, INLINE_BYTES + 1);
    // SAFETY: as long as `data`.
    assert!(!unsafe { producer.push_immediate(2, 2, data.as_ptr(), data.len(), || panic!("it is too long")) });
    let mut leaving = 0;
    // SAFETY: shorter than `data`.
    assert!(unsafe { producer.push_immediate(3, 3, data.as_ptr(), INLINE_BYTES, || leaving += 1) });
    assert_eq!(leaving, 1);
    assert_eq!(pop(&mut consumer), Some((1, 1, Vec::new())));
    assert_eq!(pop(&mut consumer), Some((3, 3, data[..INLINE_BYTES].to_vec())));
    assert_eq!(pop(&mut consumer), None);
}

#[test]
fn order_and_content_over_many_wraps() {
    for payload_ring_bytes in [1, 2, 4].map(|times| times * MIN_PAYLOAD_RING_BYTES) {
        order_and_content(payload_ring_bytes);
    }
}

fn order_and_content(payload_ring_bytes: usize) {
    let (mut producer, mut consumer, _) = queue_with(payload_ring_bytes);
    let (mut sent, mut seen) = (0u64, 0u64);
    let size = |number: u64| match number % 5 {
        0 => 0,
        1 => (number % 57) as usize,
        2 => 57 + (number * 37 % 1000) as usize,
        3 => (number * 7919 % PAYLOAD_BYTES as u64) as usize,
        _ => PAYLOAD_BYTES,
    };
    while seen < 1000 {
        while push(&mut producer, (sent % 8) as u8, sent, &pattern(sent, size(sent))).is_ok() {
            sent += 1;
        }
        for _ in 0..seen % 7 + 1 {
            let Some((kind, immediate, data)) = pop(&mut consumer) else { break };
            assert_eq!((kind, immediate), ((seen % 8) as u8, seen));
            assert_eq!(data, pattern(seen, size(seen)));
            seen += 1;
        }
    }
}

#[test]
fn what_lies_behind_a_lead_begins_a_line() {
    let (mut producer, mut consumer, _) = queue();
    for (lead, bytes) in [(0, 100), (8, 100), (8, PAYLOAD_BYTES), (64, 4096), (65, 1000)] {
        for _ in 0..20 {
            producer.push(0, 0, bytes, Some(lead), false, |_| {}).unwrap();
            let payload = consumer.peek().unwrap().unwrap().payload();
            assert_eq!(((payload.as_ptr() as usize + lead) % 64, payload.len()), (0, bytes), "{lead}");
            consumer.advance();
        }
    }
}

#[test]
fn the_largest_payload_always_fits_when_all_is_taken() {
    for step in (1..200).step_by(19) {
        let (mut producer, mut consumer, _) = queue();
        for round in 0..100usize {
            let bytes = if round % 2 == 0 { PAYLOAD_BYTES } else { step * 163 % PAYLOAD_BYTES };
            push(&mut producer, 0, 0, &pattern(0, bytes)).unwrap();
            assert_eq!(pop(&mut consumer).unwrap().2.len(), bytes);
        }
    }
}

#[test]
fn room_comes_back_however_many_short_messages_lie_between() {
    let (mut producer, mut consumer, _) = queue();
    for round in 0..60usize {
        push(&mut producer, 0, 1, &pattern(1, PAYLOAD_BYTES)).unwrap();
        for number in 0..round * 13 {
            push(&mut producer, 0, 2, &pattern(2, number % 57)).unwrap();
            if number == 20 {
                assert_eq!(pop(&mut consumer).unwrap().2, pattern(1, PAYLOAD_BYTES));
            }
            if number > 20 {
                assert_eq!(pop(&mut consumer).unwrap().1, 2);
            }
        }
        while pop(&mut consumer).is_some() {}
    }
}

/// Where in the byte ring a message of so many bytes goes.
fn offset((producer, base): (&mut Producer, *mut u8), bytes: usize, is_part: bool) -> Result<usize, Refused> {
    let mut at = 0;
    producer.push(0, 0, bytes, is_part.then_some(0), false, |place| at = place.addr())?;
    Ok(at - base.addr() - SLOT_RING_BYTES)
}

#[test]
fn no_more_of_the_byte_ring_is_used_than_pays() {
    const SPAN: usize = FIRST_WINDOW_BYTES as usize;
    let (mut producer, mut consumer, base) = queue_with(4 * MIN_PAYLOAD_RING_BYTES);
    let (mut sent, mut reached) = (0, SPAN);
    while reached < 4 * MIN_PAYLOAD_RING_BYTES {
        let end = offset((&mut producer, base), 4096, sent % 8192 == 0).unwrap() + 4096;
        pop(&mut consumer).unwrap();
        sent += 4096;
        assert!(sent < 2 * WRAPS_PER_GROWTH as usize * reached, "no more than {reached} used after {sent}");
        if end > reached {
            assert!(sent > WRAPS_PER_GROWTH as usize * reached, "{end} after {sent}");
            reached *= 2;
        }
        assert!(end <= reached);
    }
}

/// The reader says early what is free where little is used: nothing grows for want of room that is there.
#[test]
fn little_of_the_byte_ring_is_used_by_what_is_read_at_once() {
    for (bytes, most) in [(100, 1), (1024, 1), (4096, 1), (8192, 2), (16384, 4), (PAYLOAD_BYTES, 8)] {
        let (mut producer, mut consumer, base) = queue_with(4 * MIN_PAYLOAD_RING_BYTES);
        let most = most * FIRST_WINDOW_BYTES as usize;
        let mut end = 0;
        for _ in 0..(WRAPS_PER_GROWTH as usize - 2) * most / bytes.next_multiple_of(64) {
            end = end.max(offset((&mut producer, base), bytes, false).unwrap() + bytes);
            pop(&mut consumer).unwrap();
        }
        assert!(end <= most && 2 * end > most, "{bytes}: {end} of {most}");
    }
}

#[test]
fn what_is_no_part_uses_all_of_the_byte_ring_when_nobody_takes() {
    for begun in [0, 1, 3, 7] {
        let (mut producer, mut consumer, base) = queue_with(4 * MIN_PAYLOAD_RING_BYTES);
        for _ in 0..begun {
            offset((&mut producer, base), 16384, true).unwrap();
        }
        let parts = (begun..).take_while(|_| offset((&mut producer, base), 16384, true).is_ok()).count() + begun;
        // The place of one is skipped behind the first one, since four have no room in what is used then.
        assert_eq!(parts + 1, PART_WINDOW_BYTES as usize / 16384, "parts wait");
        for _ in 0..begun {
            consumer.peek().unwrap().unwrap();
            consumer.advance();
        }
        let more = (0..).take_while(|_| offset((&mut producer, base), 16384, false).is_ok()).count();
        let most = 4 * MIN_PAYLOAD_RING_BYTES / 16384 - parts - 1;
        assert!(
            if begun == 0 { more == most } else { more > most / 2 && more <= most + begun + 1 },
            "{begun}: {more} of {most}"
        );
    }
}

#[test]
fn full_when_nobody_takes() {
    let (mut producer, mut consumer, _) = queue();
    for number in 0..SLOTS as u64 {
        push(&mut producer, 1, number, &[]).unwrap();
    }
    assert_eq!(push(&mut producer, 1, 0, &[]), Err(Refused::Full));
    for _ in 0..SLOTS / 4 {
        pop(&mut consumer).unwrap();
    }
    push(&mut producer, 1, 0, &[]).unwrap();
}

#[test]
fn a_lying_consumer_is_noticed() {
    let (mut producer, _, base) = queue();
    for number in 0..SLOTS as u64 {
        push(&mut producer, 1, number, &[]).unwrap();
    }
    // SAFETY: the published count lies there.
    unsafe { base.wrapping_add(SLOT_RING_BYTES + MIN_PAYLOAD_RING_BYTES).cast::<u32>().write(SLOTS + 1) };
    assert_eq!(push(&mut producer, 1, 0, &[]), Err(Refused::Broken));
}

#[test]
fn a_lying_producer_is_noticed() {
    let lie_to = |payload_ring_bytes: usize, length: u64, place: u64| {
        let (_, mut consumer, base) = queue_with(payload_ring_bytes);
        // SAFETY: the first slot's first two words.
        unsafe { base.cast::<[u64; 2]>().write([length << 4 | 1, place]) };
        consumer.peek().map(|peeked| peeked.is_some())
    };
    let lie = |length, place| lie_to(MIN_PAYLOAD_RING_BYTES, length, place);
    assert_eq!(lie(56, 0), Ok(true));
    assert_eq!(lie(57, 0), Err(Malformed));
    assert_eq!(lie(63, 0), Ok(true));
    assert_eq!(lie(63, MIN_PAYLOAD_RING_BYTES as u64), Ok(true)); // no bytes at the very end
    assert_eq!(lie(63, (MIN_PAYLOAD_RING_BYTES as u64 - 99) | (100 << 32)), Err(Malformed));
    let behind_the_shortest = MIN_PAYLOAD_RING_BYTES as u64 | (100 << 32);
    assert_eq!(lie(63, behind_the_shortest), Err(Malformed));
    assert_eq!(lie_to(2 * MIN_PAYLOAD_RING_BYTES, 63, behind_the_shortest), Ok(true));
    assert_eq!(lie(63, (PAYLOAD_BYTES as u64 + 1) << 32), Err(Malformed));
    assert_eq!(lie(63, u64::MAX), Err(Malformed));
}

#[test]
fn two_threads() {
    let (mut producer, mut consumer, _) = queue();
    const MESSAGES: u64 = 50_000;
    let sender = std::thread::spawn(move || {
        for number in 0..MESSAGES {
            let data = pattern(number, (number * 13 % 300) as usize);
            while push(&mut producer, 2, number, &data).is_err() {
                std::thread::yield_now();
            }
        }
    });
    for number in 0..MESSAGES {
        let (_, immediate, data) = loop {
            if let Some(one) = pop(&mut consumer) {
                break one;
            }
            std::thread::yield_now();
        };
        assert_eq!(immediate, number);
        assert_eq!(data, pattern(number, (number * 13 % 300) as usize));
    }
    sender.join().unwrap();
}
