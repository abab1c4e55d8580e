//! The simulation's functions, and the one by which it begins a rank.
#![allow(unsafe_code)] // calls and is called by C functions

use crate::calls::{CROWD, Calls, Message};
use crate::{crowd, mpi, traffic, wire};
use std::sync::OnceLock;

static RANK: OnceLock<(Calls, u32)> = OnceLock::new();

/// Runs a rank to its end.
///
/// # Safety
/// `calls` is readable, and its functions are what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netsim_rank_begins(calls: *const Calls, rank: u32, seed: u64, program: u32) {
    // SAFETY: by the caller's promise.
    let calls = unsafe { *calls };
    assert!(RANK.set((calls, rank)).is_ok(), "the statics are not those of a new rank");
    wire::waiting(mpi::init);
    let outcome = if program == CROWD { crowd::run() } else { traffic::run(seed) };
    match outcome {
        Ok(line) => say(&line),
        Err(wrong) => fail(&wrong),
    }
}

fn calls() -> &'static Calls {
    &RANK.get().expect("a rank runs").0
}

/// This rank.
pub fn rank() -> u32 {
    RANK.get().expect("a rank runs").1
}

/// The number of ranks.
pub fn size() -> u32 {
    calls().size
}

/// Other ranks run, and time passes.
pub fn pass() {
    (calls().pass)();
}

/// Much time passes.
pub fn rest(ns: u64) {
    (calls().rest)(ns);
}

/// The time since the job began, in ns; 0 before that.
pub fn now_ns() -> u64 {
    RANK.get().map_or(0, |(calls, _)| (calls.now_ns)())
}

/// Hands out the addresses of this rank.
pub fn publish(addresses: &[u8]) {
    // SAFETY: so many bytes.
    unsafe { (calls().publish)(addresses.as_ptr(), addresses.len()) };
}

/// What a rank published, once it has.
pub fn published(rank: u32) -> Option<Vec<u8>> {
    let mut place = vec![0; 1 << 16];
    // SAFETY: there is so much room.
    let length = unsafe { (calls().published)(rank, place.as_mut_ptr(), place.len()) };
    place.truncate(usize::try_from(length).ok()?);
    Some(place)
}

/// Waits until all ranks are here; `meanwhile` runs between the passes.
pub fn barrier(number: u32, mut meanwhile: impl FnMut()) {
    (calls().arrive)(number);
    while (calls().arrived)(number) < size() {
        meanwhile();
        pass();
    }
}

/// Whether there is room for a message to a rank.
pub fn has_room(to: u32) -> bool {
    (calls().has_room)(to) != 0
}

/// Puts a message on the way, for which there is room.
pub fn send(to: u32, message: Message, payload: &[u8]) {
    assert_eq!(message.bytes, payload.len());
    // SAFETY: both are readable.
    unsafe { (calls().send)(to, &message, payload.as_ptr()) };
}

/// Takes the next message.
pub fn receive(payload: &mut [u8]) -> Option<Message> {
    let mut message = Message::default();
    // SAFETY: both are writable.
    (unsafe { (calls().receive)(&mut message, payload.as_mut_ptr(), payload.len()) } != 0).then_some(message)
}

/// What this rank came to.
fn say(line: &str) {
    // SAFETY: so many bytes.
    unsafe { (calls().say)(line.as_ptr(), line.len()) };
}

/// The job is over: something is wrong.
pub fn fail(wrong: &str) -> ! {
    // SAFETY: so many bytes.
    unsafe { (calls().fail)(wrong.as_ptr(), wrong.len()) }
}
