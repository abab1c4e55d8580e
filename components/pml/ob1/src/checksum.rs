//! Checksums (`pml_ob1_checksum`): every message carries its CRC32C, whoever carries the message, and what arrives damaged is sent
//! again. What also is repaired is a transport that loses, repeats or reorders.
//!
//! All of it lies between the protocols and the transports. The protocols send through [`transport::Checked`], which puts a
//! header before each payload ([`frame`]) and keeps a copy until the peer has it ([`outgoing`]). What arrives is copied to memory
//! that nobody else writes, checked there, put in order ([`incoming`]), and only then given to the handler of its kind. A process
//! numbers what it sends by each transport; a transport's index in its list of paths to the peer is the *channel*.
//!
//! ```text
//!  sender                                    receiver
//!  DATA 7, DATA 8, DATA 9 ─────────────────► 7 is next: delivered
//!  keeps 7, 8, 9                             8 is damaged, 9 comes too early: neither is used
//!                         ◄──── REPEAT 8 ──  lacks all from 8 on
//!  DATA 8, DATA 9 ─────────────────────────► delivered
//!                         ◄──── STATUS 10 ─  has all before 10; DATA the other way says so, too
//!  keeps nothing
//!  … nothing is said for long:
//!  PROBE 10 ───────────────────────────────► STATUS 10; REPEAT where less has come; or nobody looks
//! ```
//!
//! Where a transport says that it no longer reaches the peer and another one does, that one carries the frames of its channel from then
//! on ([`segmentation`]); numbers and order stay.
//!
//! A single copy has no frames: the RTS names the CRC32C of the sender's data, the receiver compares it with that of its buffer
//! before FIN, and has it come again in frames if they differ ([`crate::protocol::smsc`]).
//!
//! What collective operations and one-sided communication do through shared memory by themselves (coll/sm, osc/sm, osc/cma) is
//! no message and has no checksum. The queues of a transport that gives them away are not used, so the fast path is closed.

pub mod frame;
mod incoming;
pub mod links;
mod outgoing;
mod segmentation;
pub mod transport;

#[cfg(test)]
mod tests;

pub use self::incoming::Arrived;
pub use self::outgoing::ROUNDS_MOST;

use self::links::LINKS;
use crate::params;
use alloc::vec::Vec;
use ompi_core::framework::bml::Path;
use opal_core::framework::timer::now_ns;
use opal_core::sync::Once;

/// Whether messages carry checksums: the same for the life of the process.
pub fn is_on() -> bool {
    *IS_ON.call_once(|| params::CHECKSUM.flag())
}

static IS_ON: Once<bool> = Once::new();

/// In each pass of progress: sends again what is wanted again, answers, and probes where nothing was said for long. Returns how much
/// moved, and which processes are lost because nothing that is sent to them arrives as it was.
#[inline(always)]
pub fn pass() -> (usize, Vec<u32>) {
    if links::are_busy() { LINKS.lock().pass(now_ns()) } else { (0, Vec::new()) }
}

/// Whether every peer has what was sent to it, and was told what arrived of it. Called again and again at the end of the job, when
/// all processes are there, too: one that is silent for [`links::LEAVING_NS`] then has left.
pub fn is_drained() -> bool {
    !is_on() || LINKS.lock().is_drained(now_ns())
}

/// As [`is_drained`] for a process of another job, which is left.
pub fn has_parted(process: u32) -> bool {
    !is_on() || LINKS.lock().has_parted(process, now_ns())
}

/// A transport, all of whose modules have this wire id, no longer reaches the process: another one that does carries what it would have,
/// and what of it the process may lack. `None` if there is no other one.
#[cold]
pub fn fail_over(process: u32, wire_id: u32) -> Option<Path> {
    if is_on() { LINKS.lock().fail_over(process, wire_id) } else { None }
}

/// The process is lost.
#[cold]
pub fn lose(process: u32) {
    LINKS.lock().forget(process, false);
}

/// The process of another job was left.
pub fn leave(process: u32) {
    LINKS.lock().forget(process, true);
    transport::forget(process);
}
