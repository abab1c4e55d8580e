//! Which eager messages are read straight into the user's buffer, and which are copied there.

use super::*;
use crate::matching::Tag;
use crate::raw::UserBuffer;
use crate::test_image::{self, CONTEXT, Nothing};
use crate::wire;
use ompi_core::request::{self, Kind, Request};

/// The process that is rank 1 of the communicator.
const PEER: u32 = 3;
const TAG: i32 = 5;

fn state() -> State {
    test_image::state(&[0, PEER])
}

fn post(state: &mut State, source: Option<u32>, tag: i32, room: &mut [u8]) -> Request {
    let request = request::create(Kind::Recv, &Nothing, 0).unwrap();
    let receive = Receive {
        buffer: UserBuffer::over(room),
        request: request.id(),
        slot_ptr: request.slot_ptr(),
        from_busy: false,
    };
    state.context(CONTEXT).unwrap().matcher(false).post(source, Tag::only(tag), receive);
    request
}

fn immediate(tag: i32) -> u64 {
    wire::envelope(wire::context_bits(CONTEXT, false), tag)
}

/// Reads `part` of a message in which each byte says where it is; whether there was a place.
fn read(state: &mut State, tag: i32, part: Range<usize>, ends: usize) -> bool {
    let mut taken = false;
    let there = state.place_eager(PEER, immediate(tag), part.start..ends, &mut |place| {
        assert_eq!(place.len(), ends - part.start);
        taken = true;
        for (byte, at) in place.iter_mut().zip(part.clone()) {
            *byte = at as u8;
        }
    });
    assert_eq!(there, taken);
    there
}

fn is_whole(message: &[u8]) -> bool {
    message.iter().enumerate().all(|(at, byte)| *byte == at as u8)
}

#[test]
fn piece_by_piece_to_the_receive_that_it_matches() {
    let (mut state, mut room, mut other) = (state(), [255; 900], [255; 900]);
    let request = post(&mut state, Some(1), TAG, &mut room);
    let next = post(&mut state, Some(1), TAG, &mut other);
    // Who asks is told, again and again, where what is missing goes.
    assert!(read(&mut state, TAG, 0..0, 700));
    assert!(read(&mut state, TAG, 0..100, 700));
    assert!(read(&mut state, TAG, 100..700, 700));
    assert!(!request.is_complete());
    assert!(state.placed_eager(PEER, immediate(TAG), 700));
    let status = request.wait().unwrap();
    assert_eq!((status.source, status.tag, status.bytes()), (1, TAG, 700));
    assert!(is_whole(&room[..700]) && room[700..].iter().all(|byte| *byte == 255));
    assert!(!state.placed_eager(PEER, immediate(TAG), 700), "once");
    // The next one meets the next receive.
    assert!(read(&mut state, TAG, 0..900, 900));
    assert!(state.placed_eager(PEER, immediate(TAG), 900));
    assert!(is_whole(&other) && next.is_complete());
    assert!(!state.context(CONTEXT).unwrap().is_posted());
    assert!(!read(&mut state, TAG, 0..1, 1), "nobody waits");
}

#[test]
fn what_no_receive_has_room_for_is_copied() {
    let (mut state, mut room) = (state(), [255; 900]);
    let _request = post(&mut state, Some(1), TAG, &mut room);
    assert!(!read(&mut state, TAG + 1, 0..10, 10), "another tag");
    assert!(!read(&mut state, TAG, 0..10, 901), "too long: the receive reports what is cut off");
    assert!(!state.place_eager(7, immediate(TAG), 0..10, &mut |_| panic!("no place")), "no member");
    assert!(
        !state.place_eager(PEER, immediate(TAG), 5..10, &mut |_| panic!("no place")),
        "the middle of what never began"
    );
    assert!(state.context(CONTEXT).unwrap().is_posted());
    assert!(room.iter().all(|byte| *byte == 255));
}

#[test]
fn any_source_keeps_its_order() {
    let (mut state, mut any, mut room) = (state(), [255; 90], [255; 90]);
    let _request = post(&mut state, None, TAG, &mut any);
    let _request = post(&mut state, Some(1), TAG, &mut room);
    assert!(!read(&mut state, TAG, 0..90, 90), "it belongs to the receive that was posted first");
}

#[test]
fn two_at_once_from_one_process() {
    let (mut state, mut rooms) = (state(), [[255; 90]; 2]);
    let [first, second] = &mut rooms;
    let _request = post(&mut state, Some(1), TAG, first);
    let _request = post(&mut state, Some(1), TAG + 1, second);
    assert!(read(&mut state, TAG, 0..40, 90));
    assert!(!read(&mut state, TAG + 1, 0..90, 90));
    assert!(!read(&mut state, TAG, 0..80, 80), "another length is another message");
    assert!(!state.placed_eager(PEER, immediate(TAG), 80));
    assert!(rooms[1].iter().all(|byte| *byte == 255));
}

#[test]
fn a_place_that_is_gone() {
    let (mut state, mut rooms) = (state(), [[255; 90]; 2]);
    let [first, second] = &mut rooms;
    let request = post(&mut state, Some(1), TAG, first);
    assert!(read(&mut state, TAG, 0..40, 90));
    state.fail_operations(PEER);
    assert!(request.is_complete());
    assert!(!read(&mut state, TAG, 40..90, 90), "the receive failed: its buffer is the user's again");
    assert!(!state.placed_eager(PEER, immediate(TAG), 90));
    let _request = post(&mut state, Some(1), TAG, second);
    assert!(read(&mut state, TAG, 0..90, 90) && state.placed_eager(PEER, immediate(TAG), 90));
    assert_eq!(rooms[0].iter().filter(|byte| **byte != 255).count(), 40, "nothing was written after it failed");
    assert!(is_whole(&rooms[1]));
    assert!(state.placements.is_empty());
}
