//! The ranks of a job: a thread each, of which one runs, and the functions that they call.
#![allow(unsafe_code)] // calls and is called by C functions

use crate::calls::{Calls, Message};
use crate::image::{Library, Statics};
use crate::world::World;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

/// A job.
pub struct Ranks {
    /// How many.
    pub size: u32,
    /// For how many messages there is room from one to another.
    pub room: usize,
    /// What all random numbers come from.
    pub seed: u64,
    /// What the ranks do.
    pub program: u32,
    /// What runs this job again.
    pub again: String,
}

/// What a job came to.
pub struct Outcome {
    /// What each rank said.
    pub lines: Vec<String>,
    /// How often a rank has let others run.
    pub passes: u64,
    /// How long it took, in virtual ns.
    pub now_ns: u64,
}

struct Job {
    world: World,
    library: &'static Library,
    // The rank whose statics are there; one more than there are: none, and the thread that began them runs.
    running: u32,
    statics: Vec<Statics>,
    lines: Vec<String>,
    // Ranks that have not ended.
    left: Vec<u32>,
    turns: Arc<Vec<Turn>>,
    again: String,
}

#[derive(Default)]
struct Turn {
    is_mine: Mutex<bool>,
    came: Condvar,
}

static JOB: Mutex<Option<Job>> = Mutex::new(None);

impl Ranks {
    /// Runs it to its end. Ends the process where something is wrong.
    pub fn run(self, library: &'static Library) -> Outcome {
        let Ranks { size, room, seed, program, again } = self;
        let turns: Arc<Vec<Turn>> = Arc::new((0..=size).map(|_| Turn::default()).collect());
        let new = Job {
            world: World::new(size, room, seed),
            library,
            running: size,
            statics: (0..=size).map(|_| Statics::default()).collect(),
            lines: vec![String::new(); size as usize],
            left: (0..size).collect(),
            turns: Arc::clone(&turns),
            again,
        };
        *JOB.lock().expect("no panics") = Some(new);
        let begin = |rank| {
            let turns = Arc::clone(&turns);
            let body = move || {
                turns[rank as usize].wait();
                // SAFETY: the functions have these types, and the statics are those of a new rank.
                unsafe { (library.begin)(&calls(size), rank, seed, program) };
                end(rank);
                turns[rank as usize].wait();
            };
            thread::Builder::new().stack_size(STACK_BYTES).spawn(body).expect("a thread")
        };
        let threads: Vec<JoinHandle<()>> = (0..size).map(begin).collect();
        switch(0);
        // All have ended. What ends with a thread needs the statics of its rank.
        for (rank, thread) in threads.into_iter().enumerate() {
            with(|job| job.change(rank as u32));
            turns[rank].give();
            thread.join().expect("no panics");
        }
        with(|job| job.change(size));
        let Job { world, lines, .. } = JOB.lock().expect("no panics").take().expect("the job is there");
        Outcome { lines, passes: world.passes, now_ns: world.now_ns }
    }
}

impl Job {
    /// The statics of the rank that runs make room for those of another one.
    fn change(&mut self, next: u32) {
        let mut before = core::mem::take(&mut self.statics[self.running as usize]);
        self.library.change(&mut before, &self.statics[next as usize]);
        self.statics[self.running as usize] = before;
        self.running = next;
    }
}

impl Turn {
    fn give(&self) {
        *self.is_mine.lock().expect("no panics") = true;
        self.came.notify_one();
    }

    fn wait(&self) {
        let waits = |is_mine: &mut bool| !*is_mine;
        let mut is_mine = self.came.wait_while(self.is_mine.lock().expect("no panics"), waits).expect("no panics");
        *is_mine = false;
    }
}

fn with<R>(what: impl FnOnce(&mut Job) -> R) -> R {
    what(JOB.lock().expect("no panics").as_mut().expect("a job runs"))
}

/// Another one runs, until it is this one's turn again.
fn switch(next: u32) {
    let (before, turns) = with(|job| {
        let before = job.running;
        if before != next {
            job.change(next);
        }
        (before, Arc::clone(&job.turns))
    });
    if before != next {
        turns[next as usize].give();
        turns[before as usize].wait();
    }
}

/// The rank that runs has ended.
fn end(rank: u32) {
    let (next, turns) = with(|job| {
        job.left.retain(|other| *other != rank);
        let next = next(job);
        job.change(next);
        (next, Arc::clone(&job.turns))
    });
    turns[next as usize].give();
}

/// Who runs next: any rank, or nobody where all have ended.
fn next(job: &mut Job) -> u32 {
    match job.left.len() as u64 {
        0 => job.lines.len() as u32,
        ranks => job.left[job.world.random.below(ranks) as usize],
    }
}

fn calls(size: u32) -> Calls {
    Calls { size, pass, rest, now_ns, publish, published, arrive, arrived, has_room, send, receive, say, fail }
}

extern "C" fn pass() {
    let next = with(|job| {
        job.world.passes += 1;
        job.world.now_ns += job.world.random.below(PASS_NS);
        next(job)
    });
    switch(next);
}

extern "C" fn rest(ns: u64) {
    with(|job| job.world.now_ns += ns);
}

extern "C" fn now_ns() -> u64 {
    with(|job| job.world.now_ns)
}

unsafe extern "C" fn publish(bytes: *const u8, length: usize) {
    // SAFETY: by the type's promise.
    let bytes = unsafe { core::slice::from_raw_parts(bytes, length) }.to_vec();
    with(|job| job.world.published[job.running as usize] = Some(bytes));
}

unsafe extern "C" fn published(rank: u32, place: *mut u8, room: usize) -> isize {
    with(|job| {
        let Some(bytes) = &job.world.published[rank as usize] else { return -1 };
        assert!(bytes.len() <= room);
        // SAFETY: by the type's promise.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        bytes.len() as isize
    })
}

extern "C" fn arrive(barrier: u32) -> u32 {
    with(|job| job.world.arrive(barrier, 1))
}

extern "C" fn arrived(barrier: u32) -> u32 {
    with(|job| job.world.arrive(barrier, 0))
}

extern "C" fn has_room(to: u32) -> u32 {
    with(|job| u32::from(job.world.has_room(job.running, to)))
}

unsafe extern "C" fn send(to: u32, message: *const Message, payload: *const u8) {
    // SAFETY: by the type's promise.
    let message = unsafe { *message };
    // SAFETY: as above.
    let payload = unsafe { core::slice::from_raw_parts(payload, message.bytes) }.to_vec();
    with(|job| job.world.send(to, message, payload));
}

unsafe extern "C" fn receive(message: *mut Message, payload: *mut u8, room: usize) -> u32 {
    let Some((found, bytes)) = with(|job| job.world.receive(job.running)) else { return 0 };
    assert!(bytes.len() <= room);
    // SAFETY: by the type's promise.
    unsafe { *message = found };
    // SAFETY: as above.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), payload, bytes.len()) };
    1
}

unsafe extern "C" fn say(text: *const u8, length: usize) {
    // SAFETY: by the type's promise.
    let text = unsafe { text_of(text, length) };
    with(|job| job.lines[job.running as usize] = text);
}

unsafe extern "C" fn fail(text: *const u8, length: usize) -> ! {
    // SAFETY: by the type's promise.
    let text = unsafe { text_of(text, length) };
    with(|job| eprintln!("rank {}: {text}; again by: {}", job.running, job.again));
    std::process::exit(1)
}

/// # Safety
/// `text` is readable for `length` bytes.
unsafe fn text_of(text: *const u8, length: usize) -> String {
    // SAFETY: by the caller's promise.
    String::from_utf8_lossy(unsafe { core::slice::from_raw_parts(text, length) }).into_owned()
}

const STACK_BYTES: usize = 512 << 10;
/// A pass takes less.
const PASS_NS: u64 = 40_000;
