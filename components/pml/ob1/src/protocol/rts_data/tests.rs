//! Where RTS data goes, whether it or the receive comes first, and what a peer may not do with it.
#![allow(unsafe_code)] // the shape of a transport's call

use super::store::{ALL_BYTES, MOST};
use super::*;
use crate::context::{Body, Message, PendingRts, Receive};
use crate::matching::Tag;
use crate::protocol::selection::{Memory, Protocol};
use crate::raw::UserBuffer;
use crate::test_image::{self, CONTEXT, Calls, Nothing, Transport, fifo_pair};
use core::ops::Range;
use core::result::Result;
use ompi_core::error::Class;
use ompi_core::request::{self, Kind, Request};
use ompi_core::status::Status;
use opal_core::framework::btl::{AmId, Full};
use std::boxed::Box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::vec::Vec;

/// The process that is rank 1 of the communicator.
const PEER: u32 = 1;
const THEIRS: u64 = 77;
const TAG: i32 = 5;

fn state() -> State {
    test_image::state(&[0, PEER])
}

fn receive(state: &mut State, room: &mut [u8]) -> Request {
    let request = request::create(Kind::Recv, &Nothing, 0).unwrap();
    let receive = Receive {
        buffer: UserBuffer::over(room),
        request: request.id(),
        slot_ptr: request.slot_ptr(),
        from_busy: false,
    };
    let matcher = state.context(CONTEXT).unwrap().matcher(false);
    match matcher.take(Some(1), Tag::only(TAG)) {
        Some((_, _, message)) => state.receive(receive, Status::new(1, TAG, 0), CONTEXT, message),
        None => _ = matcher.post(Some(1), Tag::only(TAG), receive),
    }
    request
}

/// An RTS of so many bytes, which RTS data follows.
fn rts(state: &mut State, theirs: u64, bytes: u64) {
    let data = Some(state.expect_rts_data(PEER, theirs));
    let rts = wire::Rts { bytes, handle: theirs, address: None, data_bytes: 1, checksum: 0 };
    let body = Body::Rts(PendingRts { rts, key: None, data });
    let envelope = wire::Envelope { context: CONTEXT, collective: false, tag: TAG };
    state.message(envelope, Message { process: PEER, body });
}

/// Each byte says where in the message it is.
fn data(part: Range<usize>) -> Vec<u8> {
    part.map(|at| at as u8).collect()
}

fn rts_data(state: &mut State, theirs: u64, part: Range<usize>) -> bool {
    state.rts_data(PEER, theirs, part.start as u64, Untrusted::of(&data(part)))
}

fn rest(state: &mut State, part: Range<usize>) -> bool {
    let ours = state.operations.only(PEER);
    state.fragment(PEER, ours, part.start as u64, Untrusted::of(&data(part)))
}

fn came_whole(request: Request, room: &[u8]) {
    let status = request.wait().unwrap();
    assert_eq!((status.source, status.tag, status.bytes()), (1, TAG, room.len() as u64));
    assert_eq!(room, data(0..room.len()));
}

fn is_empty(state: &mut State) -> bool {
    state.rts_data.is_empty()
}

#[test]
fn straight_to_the_receive_that_is_posted() {
    let (mut state, mut room) = (state(), [255; 100]);
    let request = receive(&mut state, &mut room);
    rts(&mut state, THEIRS, 100);
    assert!(rts_data(&mut state, THEIRS, 0..40) && rest(&mut state, 40..100));
    came_whole(request, &room);
    assert!(rts_data(&mut state, THEIRS, 0..40), "what is late goes nowhere");
    assert_eq!(room[..], data(0..100));
    assert!(is_empty(&mut state));
}

#[test]
fn kept_until_somebody_receives_it() {
    let (mut state, mut room, mut other) = (state(), [255; 100], [255; 50]);
    rts(&mut state, THEIRS, 100);
    assert!(rts_data(&mut state, THEIRS, 0..40));
    // Another one comes before: each has its own.
    rts(&mut state, THEIRS + 1, 50);
    assert!(rts_data(&mut state, THEIRS + 1, 0..50));
    assert!(!rts_data(&mut state, THEIRS, 40..50), "RTS data follows its RTS at once");
    let request = receive(&mut state, &mut room);
    assert!(rest(&mut state, 40..100));
    came_whole(request, &room);
    let request = receive(&mut state, &mut other);
    came_whole(request, &other);
    assert!(is_empty(&mut state));
}

#[test]
fn received_in_the_middle_of_it() {
    let (mut state, mut room) = (state(), [255; 100]);
    rts(&mut state, THEIRS, 100);
    assert!(rts_data(&mut state, THEIRS, 0..20));
    let request = receive(&mut state, &mut room);
    assert!(rts_data(&mut state, THEIRS, 20..40) && rest(&mut state, 40..100));
    came_whole(request, &room);
    assert!(is_empty(&mut state));
}

#[test]
fn a_shorter_receive_gets_what_fits() {
    for posted in [true, false] {
        for room in [0, 30, 60] {
            let (mut state, mut room) = (state(), std::vec![255; room]);
            let (mut before, fits) = (None, room.len().min(40));
            if posted {
                before = Some(receive(&mut state, &mut room));
            }
            rts(&mut state, THEIRS, 100);
            assert!(rts_data(&mut state, THEIRS, 0..40));
            let request = before.unwrap_or_else(|| receive(&mut state, &mut room));
            if fits < room.len() {
                let rest_of_it = 40..room.len();
                assert!(rest(&mut state, rest_of_it));
            }
            assert_eq!(request.wait().unwrap_err().get(), Class::Truncate as i32);
            assert_eq!(room, data(0..room.len()));
            assert!(is_empty(&mut state));
        }
    }
}

#[test]
fn nothing_stays_of_what_nobody_will_receive() {
    let mut state = state();
    rts(&mut state, THEIRS, 100);
    assert!(rts_data(&mut state, THEIRS, 0..40));
    state.disconnect(CONTEXT);
    assert!(is_empty(&mut state));
    assert!(rts_data(&mut state, THEIRS, 40..50), "late");
    // For a context that is not known at all.
    rts(&mut state, THEIRS + 1, 100);
    assert!(rts_data(&mut state, THEIRS + 1, 0..40));
    assert!(is_empty(&mut state));
}

#[test]
fn too_many_are_not_kept_and_come_again() {
    let (mut state, mut room) = (state(), [255; 100]);
    let whole = ALL_BYTES / MOST;
    for number in 0..whole as u64 {
        rts(&mut state, THEIRS + number, 1 << 20);
        assert!(rts_data(&mut state, THEIRS + number, 0..MOST));
    }
    assert_eq!(state.rts_data.bytes(), ALL_BYTES);
    let last = THEIRS + whole as u64;
    rts(&mut state, last, 100);
    assert!(rts_data(&mut state, last, 0..40));
    assert_eq!(state.rts_data.bytes(), ALL_BYTES);
    for _ in 0..whole {
        let _request = receive(&mut state, &mut []);
    }
    assert_eq!(state.rts_data.bytes(), 0);
    let request = receive(&mut state, &mut room);
    assert!(!request.is_complete() && rts_data(&mut state, last, 0..40), "nothing of the RTS data counts any more");
    assert!(rest(&mut state, 0..100));
    came_whole(request, &room);
    assert!(is_empty(&mut state));
}

#[test]
fn what_a_peer_may_not_send() {
    let mut state = state();
    assert!(!rts_data(&mut state, THEIRS, 0..10), "no RTS came");
    rts(&mut state, THEIRS, 1 << 40);
    assert!(!rts_data(&mut state, THEIRS + 1, 0..10), "another message's");
    assert!(!rts_data(&mut state, THEIRS, 5..10), "a gap");
    let ten = data(0..10);
    assert!(!state.rts_data(PEER + 1, THEIRS, 0, Untrusted::of(&ten)), "another process");
    assert!(!state.rts_data(PEER, THEIRS, u64::MAX, Untrusted::of(&ten)));
    assert!(rts_data(&mut state, THEIRS, 0..MOST));
    assert!(!rts_data(&mut state, THEIRS, MOST..MOST + 1), "more than anybody keeps");
    state.end_rts_data(PEER);
    assert!(!rts_data(&mut state, THEIRS, MOST..MOST + 1));
}

/// Takes everything, or has no room for runs.
#[derive(Default)]
struct Recorder {
    full: AtomicBool,
    kinds: Mutex<Vec<AmId>>,
    runs: Mutex<Vec<usize>>,
}

impl Calls for Recorder {
    unsafe fn send_inline(&self, am: AmId, _: u64, _: *const u8, _: usize) -> Result<(), Full> {
        self.kinds.lock().unwrap().push(am);
        Ok(())
    }

    fn send_run(&self, run: Range<usize>) -> Result<(), Full> {
        if self.full.load(Ordering::Relaxed) {
            return Err(Full);
        }
        self.runs.lock().unwrap().push(run.len());
        Ok(())
    }
}

#[test]
fn a_sender_sends_rts_data_by_history_and_where_there_is_room() {
    let mut state = state();
    let recorder: &'static Transport<Recorder> = Box::leak(Box::default());
    let endpoint: &'static Endpoint = Box::leak(Box::new(Endpoint::of_test(recorder, Some(fifo_pair().0))));
    let sent = |state: &mut State, out: &mut [u8]| {
        let request = request::create(Kind::Send, &Nothing, 0).unwrap();
        let buffer = UserBuffer::over(out);
        let along = super::bytes(endpoint, &buffer);
        state.send_rts(endpoint, 0, request.id(), buffer, along);
        recorder.0.runs.lock().unwrap().drain(..).sum::<usize>()
    };
    let (mut out, bytes) = (std::vec![0; 10_000], 10_000);
    assert_eq!(sent(&mut state, &mut out), 0, "nobody knows how the peer takes it");
    endpoint.history.record((bytes, Memory::Private), Protocol::Fragments);
    assert_eq!(sent(&mut state, &mut out), endpoint.eager_bytes);
    endpoint.history.record((bytes, Memory::Private), Protocol::SingleCopy);
    assert_eq!(sent(&mut state, &mut out), 0);
    endpoint.history.record((bytes, Memory::Private), Protocol::Fragments);
    recorder.0.full.store(true, Ordering::Relaxed);
    assert_eq!(sent(&mut state, &mut out), 0);
    assert!(
        recorder.0.kinds.lock().unwrap().iter().all(|kind| *kind == wire::RTS)
            && recorder.0.kinds.lock().unwrap().len() == 4
    );
}
