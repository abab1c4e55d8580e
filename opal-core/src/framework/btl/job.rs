//! Which processes exchange messages: what a transport must know of the job before it is opened.

use crate::sync::Once;

/// The processes among which messages travel, for transports that others can reach, too.
#[derive(Clone, Copy)]
pub struct Job {
    /// Its number, different from that of any other on the same network.
    pub number: u64,
    /// This process's [`Peer::index`] at the others.
    pub index: u32,
    /// How many processes.
    pub size: u32,
    /// All of them are on one node.
    pub one_node: bool,
    /// What only they know; never leaves a process.
    pub secret: [u8; 32],
}

static JOB: Once<Job> = Once::new();

/// Says which process of the job this one is: once, before transports are opened. Without it, transports that must
/// tell peers from other processes decline.
pub fn set_job(job: Job) {
    JOB.call_once(|| job);
}

/// What [`set_job`] was given.
pub fn job() -> Option<&'static Job> {
    JOB.get()
}
