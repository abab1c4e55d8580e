//! What a rank asks of the simulation: C functions, since both sides are linked by themselves.

/// The functions. Each is called by the rank that runs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Calls {
    /// The number of ranks.
    pub size: u32,
    /// Other ranks run, and time passes.
    pub pass: extern "C" fn(),
    /// Much time passes.
    pub rest: extern "C" fn(ns: u64),
    /// The time since the job began, in ns.
    pub now_ns: extern "C" fn() -> u64,
    /// Hands out the addresses of this rank.
    pub publish: unsafe extern "C" fn(bytes: *const u8, length: usize),
    /// Copies what a rank published; its length, or -1 if it has not yet.
    pub published: unsafe extern "C" fn(rank: u32, place: *mut u8, room: usize) -> isize,
    /// Counts this rank as one that has come so far; how many have.
    pub arrive: extern "C" fn(barrier: u32) -> u32,
    /// How many ranks have come so far.
    pub arrived: extern "C" fn(barrier: u32) -> u32,
    /// Whether there is room for a message to a rank, 0 or 1.
    pub has_room: extern "C" fn(to: u32) -> u32,
    /// Puts a message on the way; there is room.
    pub send: unsafe extern "C" fn(to: u32, message: *const Message, payload: *const u8),
    /// Takes the next message; 0 if there is none.
    pub receive: unsafe extern "C" fn(message: *mut Message, payload: *mut u8, room: usize) -> u32,
    /// What this rank came to, a line.
    pub say: unsafe extern "C" fn(text: *const u8, length: usize),
    /// The job is over: something is wrong.
    pub fail: unsafe extern "C" fn(text: *const u8, length: usize) -> !,
}

/// A message on the way, beside its payload.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Message {
    /// Its sender.
    pub from: u32,
    /// Its kind.
    pub am: u32,
    /// Its immediate.
    pub immediate: u64,
    /// Length of its payload, in bytes.
    pub bytes: usize,
}

/// What a rank does: the name of its function in the library, with this type.
pub type Rank = unsafe extern "C" fn(calls: *const Calls, rank: u32, seed: u64, program: u32);
/// The name.
pub const RANK: &str = "netsim_rank_begins";
/// All ranks exchange messages at random.
pub const TRAFFIC: u32 = 0;
/// All ranks send to one that computes.
pub const CROWD: u32 = 1;
