//! Every order of the accesses of threads that make, complete, wait for and free requests.

use super::*;
use opal_core::sync::model::{check, set_model_waker, spawn};
use opal_core::sync::raise_threads;

/// An owner of operations that does nothing but complete them.
struct Quiet;

impl Driver for Quiet {}

static QUIET: Quiet = Quiet;

/// Several threads, which can sleep, and no slots.
fn begin() {
    raise_threads();
    forget_all();
    set_model_waker();
}

fn new(kind: Kind, token: u64) -> Request {
    create(kind, &QUIET, token).unwrap()
}

#[test]
fn who_waits_gets_the_status_of_who_completes() {
    check(|| {
        begin();
        let request = new(Kind::Recv, 0);
        let id = request.id();
        let owner = spawn(move || complete(id, Status::new(1, 2, 3)));
        let status = request.wait().unwrap();
        assert_eq!((status.source, status.tag, status.bytes()), (1, 2, 3));
        owner.join().unwrap();
    });
}

#[test]
fn a_request_that_is_freed_under_way_gives_its_slot_back_once() {
    check(|| {
        begin();
        let request = new(Kind::Send, 0);
        let id = request.id();
        let owner = spawn(move || complete(id, Status::EMPTY));
        let mut handle = request.into_handle();
        let old = handle;
        handles::free(&mut handle).unwrap();
        assert_eq!(handle, NULL);
        owner.join().unwrap();
        // The thread that came second put the slot back: the next request has it under another handle, the one after
        // another slot.
        let (first, second) = (new(Kind::Send, 0), new(Kind::Send, 0));
        assert_eq!(first.0 & INDEX_MASK, old as u32 & INDEX_MASK);
        assert_ne!(first.0, old as u32);
        assert_ne!(first.0 & INDEX_MASK, second.0 & INDEX_MASK);
    });
}

#[test]
fn slots_are_made_and_freed_by_several_threads() {
    check(|| {
        begin();
        let life = |token: u64| {
            let request = new(Kind::Send, token);
            let (id, handle) = (request.id(), request.0);
            assert_eq!(super::token(handle as usize), Some(token), "nobody else has this slot");
            complete(id, Status::new(token as i32, 0, 0));
            assert_eq!(request.wait().unwrap().source, token as i32);
            handle
        };
        let other = spawn(move || life(1));
        let own = life(2);
        assert_ne!(own, other.join().unwrap(), "a slot used again has another generation");
    });
}

#[test]
fn a_test_that_finds_it_complete_sees_all_of_the_status() {
    check(|| {
        begin();
        let request = new(Kind::Recv, 0);
        let id = request.id();
        let owner = spawn(move || complete(id, Status::new(4, 5, 6)));
        let mut handle = request.into_handle();
        let status = match handles::look(handle).unwrap() {
            Some(status) => status,
            None => handles::wait(&mut handle).unwrap(),
        };
        assert_eq!((status.source, status.tag, status.bytes()), (4, 5, 6));
        owner.join().unwrap();
    });
}
