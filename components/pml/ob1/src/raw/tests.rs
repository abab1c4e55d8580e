//! How often a byte is copied on its way between the user's buffer and a transport's: once, with gaps or without, and not at
//! all where a transport takes a run from where it lies.

use super::*;
use crate::peers::endpoint::Endpoint;
use crate::test_image::{Calls, Transport, copies};
use crate::wire;
use alloc::sync::Arc;
use core::ops::Range;
use core::result::Result;
use ompi_core::data::Data;
use ompi_core::datatype::Datatype;
use opal_core::datatype::{Layout, Primitive, Run as Bytes, Scalar};
use opal_core::framework::btl::Full;
use opal_core::mem::Untrusted;
use std::sync::Mutex;
use std::vec;
use std::vec::Vec;

/// A transport with one buffer, which takes runs from where they lie.
#[derive(Default)]
struct Wire {
    // Where the buffer lay, and what was in it.
    sent: Mutex<Vec<(Range<usize>, Vec<u8>)>>,
    // Where runs lay.
    runs: Mutex<Vec<Range<usize>>>,
}

impl Calls for Wire {
    fn send(&self, bytes: usize, fill: &mut dyn FnMut(*mut u8)) -> Result<(), Full> {
        let mut buffer = vec![0; bytes];
        fill(buffer.as_mut_ptr());
        self.sent.lock().unwrap().push((range(&buffer), buffer));
        Ok(())
    }

    fn send_run(&self, run: Range<usize>) -> Result<(), Full> {
        self.runs.lock().unwrap().push(run);
        Ok(())
    }
}

fn range(bytes: &[u8]) -> Range<usize> {
    let begin = bytes.as_ptr().addr();
    begin..begin + bytes.len()
}

fn within(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Blocks of 100 bytes, too long for the kernels that copy numbers, so that every move is on the account.
fn blocks(gap: isize) -> Datatype {
    let byte = Bytes { offset: 0, bytes: 1 };
    let byte = Arc::new(Layout::basic(Primitive::new(Scalar::Byte, 1), &[byte], 1, 1));
    Datatype::derived(Layout::hvector(BLOCKS, BLOCK, BLOCK as isize + gap, &byte).unwrap(), 0)
}

fn user() -> Vec<u8> {
    (0..BLOCKS * (BLOCK + 28)).map(|byte| (byte % 253) as u8).collect()
}

fn by_hand(user: &[u8]) -> Vec<u8> {
    user.chunks(BLOCK + 28).flat_map(|block| &block[..BLOCK]).copied().collect()
}

fn wire() -> (&'static Wire, Endpoint) {
    let wire: &'static Transport<Wire> = alloc::boxed::Box::leak(alloc::boxed::Box::default());
    (&wire.0, Endpoint::of_test(wire, None))
}

/// Every byte of the message was moved once, from one of these places to one of those.
fn each_byte_once(bytes: usize, from: &Range<usize>, to: &Range<usize>) {
    let copies = copies();
    let moved: usize = copies.iter().map(|(_, to)| to.len()).sum();
    assert_eq!(moved, bytes, "bytes copied for a message of {bytes}");
    assert!(copies.iter().all(|copy| within(from, &copy.0) && within(to, &copy.1)), "by way of another buffer");
}

#[test]
fn data_with_gaps_is_packed_into_the_transports_buffer() {
    let (datatype, mut user, (wire, endpoint)) = (blocks(28), user(), wire());
    let data = Data { at: user.as_mut_ptr(), count: 1, datatype: &datatype };
    assert!(data.contiguous().is_none());
    copies();
    // SAFETY: the buffer outlives the sends.
    unsafe { BorrowedBuffer::new(&data) }.send(&endpoint, wire::EAGER, 0).unwrap();
    let (place, sent) = wire.sent.lock().unwrap().pop().unwrap();
    assert_eq!(sent, by_hand(&user));
    each_byte_once(BLOCKS * BLOCK, &range(&user), &place);

    // Fragments, cut within blocks.
    let path = endpoint.path();
    // SAFETY: as above.
    let mut place = unsafe { UserBuffer::new(&data) };
    for (from, bytes) in [(0, 333), (333, 1), (334, 966)] {
        place.send_part(path, wire::EAGER, 0, 77, from, bytes).unwrap();
        let (buffer, sent) = wire.sent.lock().unwrap().pop().unwrap();
        assert_eq!(sent[..wire::PREFIX_BYTES], 77u64.to_le_bytes());
        assert_eq!(sent[wire::PREFIX_BYTES..], by_hand(&user)[from..from + bytes]);
        each_byte_once(bytes, &range(&user), &buffer);
    }
    assert!(wire.runs.lock().unwrap().is_empty());
}

#[test]
fn data_with_gaps_is_unpacked_from_the_transports_buffer() {
    let (datatype, expected) = (blocks(28), user());
    let mut target = vec![0u8; expected.len()];
    let data = Data { at: target.as_mut_ptr(), count: 1, datatype: &datatype };
    let message = by_hand(&expected);
    // SAFETY: the buffer outlives the place.
    let mut place = unsafe { UserBuffer::new(&data) };
    copies();
    assert_eq!(place.write(Untrusted::of(&message)), message.len());
    each_byte_once(message.len(), &range(&message), &range(&target));
    target.fill(0);
    // Fragments in another order.
    for part in [700..1300, 0..5, 5..700] {
        place.write_at(part.start, Untrusted::of(&message[part.clone()]));
        each_byte_once(part.len(), &range(&message), &range(&target));
    }
    assert_eq!(by_hand(&target), message);
}

#[test]
fn a_blocking_receive_writes_what_fits() {
    let (datatype, expected) = (blocks(28), user());
    let mut target = vec![0u8; expected.len()];
    let data = Data { at: target.as_mut_ptr(), count: 1, datatype: &datatype };
    let mut message = by_hand(&expected);
    message.extend([0xee; 100]);
    copies();
    for bytes in [message.len(), 250, 0] {
        target.fill(0);
        // SAFETY: the buffer outlives it.
        unsafe { BorrowedBuffer::new(&data) }.write(Untrusted::of(&message[..bytes]));
        let fits = bytes.min(BLOCKS * BLOCK);
        each_byte_once(fits, &range(&message), &range(&target));
        let mut wanted = vec![0; BLOCKS * BLOCK];
        wanted[..fits].copy_from_slice(&message[..fits]);
        assert_eq!(by_hand(&target), wanted);
        assert!(target.chunks(BLOCK + 28).all(|block| block[BLOCK..].iter().all(|byte| *byte == 0)), "a gap");
    }
}

#[test]
fn one_run_is_never_packed() {
    // Blocks that touch are one run, whatever they were made of.
    let (datatype, mut user, (wire, endpoint)) = (blocks(0), user(), wire());
    let data = Data { at: user.as_mut_ptr(), count: 1, datatype: &datatype };
    let all = range(&user[..BLOCKS * BLOCK]);
    copies();
    // A transport that takes runs from where they lie: nothing is copied at all.
    let path = endpoint.path();
    // SAFETY: the buffer outlives the place.
    let mut place = unsafe { UserBuffer::new(&data) };
    place.send_part(path, wire::EAGER, 0, 77, 100, 900).unwrap();
    assert_eq!(wire.runs.lock().unwrap().pop(), Some(all.start + 100..all.start + 1000));
    assert!(copies().is_empty() && wire.sent.lock().unwrap().is_empty());
    // OneSource that wants it in its buffer: by one copy.
    // SAFETY: as above.
    unsafe { BorrowedBuffer::new(&data) }.send(&endpoint, wire::EAGER, 0).unwrap();
    let (buffer, sent) = wire.sent.lock().unwrap().pop().unwrap();
    assert_eq!(sent, user[..BLOCKS * BLOCK]);
    assert_eq!(copies(), [(all.clone(), buffer)]);
    // A receive: likewise.
    let message = vec![9u8; BLOCKS * BLOCK];
    assert_eq!(place.write(Untrusted::of(&message)), message.len());
    assert_eq!(copies(), [(range(&message), all)]);
}

const BLOCKS: usize = 13;
const BLOCK: usize = 100;
