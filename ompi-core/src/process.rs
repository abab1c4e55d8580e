//! The processes that this one can talk to: those of the own job from MPI_Init on, those of other jobs from the call on by which both
//! meet (MPI_Comm_spawn, MPI_Comm_accept …) until MPI_Comm_disconnect.
//!
//! All of this process's objects name a process by its *index* here, which no other process knows. Between processes of different
//! jobs a process goes by its *name*: job and rank there. Processes of the own job have their rank as index, so names are looked up
//! for processes of other jobs only. An index is not used again: a group may still speak of a process that was left.

use crate::addresses;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;
use opal_core::sync::{AtomicBool, AtomicU32, ConditionalLock, Once, Ordering};
use opal_core::sys::{self, Cores};
use opal_core::wait;
use orte_core::framework::ess;

/// A process of the job, or of another one.
#[derive(Debug)]
pub struct Process {
    /// Index in the table of processes; for those of the own job the rank in MPI_COMM_WORLD.
    pub index: u32,
    /// Its node.
    pub node: u32,
    /// This very process.
    pub is_self: bool,
    /// On this process's node.
    pub same_node: bool,
    addresses: Once<Vec<u8>>,
    // Of another job: its name.
    beyond_job: Option<ProcessName>,
    // Of another job: communicators that it is in.
    users: AtomicU32,
    // Of another job: it was left.
    is_left: AtomicBool,
}

impl Process {
    /// A process that was not asked for its addresses yet.
    pub fn new(index: u32, node: u32, is_self: bool, same_node: bool) -> Process {
        let (users, is_left) = (AtomicU32::new(0), AtomicBool::new(false));
        Process { index, node, is_self, same_node, addresses: Once::new(), beyond_job: None, users, is_left }
    }

    /// A process of another job, with its addresses.
    fn beyond_job(index: u32, met: Met) -> Process {
        let addresses = Once::new();
        addresses.call_once(|| met.addresses);
        let node = if met.same_node { me().node } else { ELSEWHERE };
        Process { addresses, beyond_job: Some(met.name), ..Process::new(index, node, false, met.same_node) }
    }

    /// Its job, and its rank there.
    pub fn name(&self) -> ProcessName {
        self.beyond_job.unwrap_or(ProcessName { job: OWN_JOB.get().copied().unwrap_or_default(), rank: self.index })
    }

    /// For people: `rank 3 in MPI_COMM_WORLD`.
    pub fn described(&self) -> String {
        match self.beyond_job {
            None => format!("rank {} in MPI_COMM_WORLD", self.index),
            Some(ProcessName { job, rank }) => format!("rank {rank} in MPI_COMM_WORLD of job {job:x}"),
        }
    }

    /// What it published, a list of [`crate::addresses`]; waits for it the first time.
    pub fn addresses(&self) -> opal_core::Result<&[u8]> {
        if let Some(known) = self.addresses.get() {
            return Ok(known);
        }
        let environment = ess::selected().ok_or(opal_core::Error::NotFound)?;
        let found = environment.lookup(self.index)?;
        Ok(self.addresses.call_once(|| {
            if let Some(cores) = cores(&found).filter(|_| self.same_node && !self.is_self) {
                wait::add_local_rank(&cores);
            }
            found
        }))
    }
}

/// Adds to what this process publishes the cores that it may run on: peers of its node wait accordingly, whatever transport
/// they meet over.
pub fn publish_cores(list: &mut Vec<u8>) {
    addresses::push(list, CORES, sys::own_cores().map(u64::to_le_bytes).as_flattened());
}

fn cores(published: &[u8]) -> Option<Cores> {
    let bytes = addresses::find_named(published, CORES)?;
    let (words, rest) = bytes.as_chunks::<8>();
    let words: &[[u8; 8]; 4] = words.try_into().ok().filter(|_| rest.is_empty())?;
    Some(words.map(u64::from_le_bytes))
}

const CORES: &str = "process/cores";

/// A process of another job, as it says itself who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// Its name.
    pub name: ProcessName,
    /// It can share memory with this one.
    pub same_node: bool,
    /// A list of [`crate::addresses`].
    pub addresses: Vec<u8>,
}

static PROCESSES: Once<Vec<Process>> = Once::new();
static OWN_JOB: Once<u64> = Once::new();
// Those of other jobs, in the order of their indices.
static BEYOND_JOB: ConditionalLock<Vec<&'static Process>> = ConditionalLock::new(Vec::new());
// There are any.
static HAS_MET: AtomicBool = AtomicBool::new(false);

/// Provides the processes of a job, indexed by [`Process::index`]: once, during MPI_Init.
pub fn open(job: u64, processes: Vec<Process>) {
    debug_assert!(processes.iter().enumerate().all(|(index, process)| process.index as usize == index));
    OWN_JOB.call_once(|| job);
    PROCESSES.call_once(|| processes);
}

/// A process by its index.
///
/// # Panics
/// Before [`open`], or for an index that no process has; indices come from groups, which are made of this table.
pub fn get(index: u32) -> &'static Process {
    match all().get(index as usize) {
        Some(process) => process,
        None => BEYOND_JOB.lock()[index as usize - all().len()],
    }
}

/// The name of a process by its index.
pub fn name(index: u32) -> ProcessName {
    match PROCESSES.get() {
        Some(_) => get(index).name(),
        // Tests of groups have no processes.
        None => ProcessName { job: 0, rank: index },
    }
}

/// The index of a process that this one can talk to; `None` if they have not met.
pub fn find(name: ProcessName) -> Option<u32> {
    if Some(&name.job) == OWN_JOB.get() {
        return ((name.rank as usize) < count()).then_some(name.rank);
    }
    let beyond = BEYOND_JOB.lock();
    let found = beyond.iter().find(|process| process.name() == name && !process.is_left.load(Ordering::Relaxed));
    found.map(|process| process.index)
}

/// The index of a process that was met just now, perhaps not for the first time. `None` for a process of the own job that does not
/// exist.
pub fn meet(met: Met) -> Option<u32> {
    if let Some(known) = find(met.name) {
        return Some(known);
    }
    if Some(&met.name.job) == OWN_JOB.get() {
        return None;
    }
    if let Some(cores) = cores(&met.addresses).filter(|_| met.same_node) {
        wait::add_local_rank(&cores);
    }
    let mut beyond = BEYOND_JOB.lock();
    let index = u32::try_from(all().len() + beyond.len()).ok()?;
    beyond.push(Box::leak(Box::new(Process::beyond_job(index, met))));
    HAS_MET.store(true, Ordering::Relaxed);
    Some(index)
}

/// Counts a communicator of these processes.
pub fn retain(members: &[u32]) {
    beyond_job(members).for_each(|process| _ = process.users.fetch_add(1, Ordering::Relaxed));
}

/// A communicator of these processes has ended.
pub fn release(members: &[u32]) {
    beyond_job(members).for_each(|process| _ = process.users.fetch_sub(1, Ordering::Relaxed));
}

/// Those of these processes that are of other jobs and in no communicator any more: they are left now.
pub fn leave(members: &[u32]) -> Vec<u32> {
    let is_last = |process: &&Process| {
        process.users.load(Ordering::Relaxed) == 0 && !process.is_left.swap(true, Ordering::Relaxed)
    };
    let left: Vec<u32> = beyond_job(members).filter(is_last).map(|process| process.index).collect();
    left.iter().filter(|index| get(**index).same_node).for_each(|_| wait::remove_local_rank());
    left
}

fn beyond_job(members: &[u32]) -> impl Iterator<Item = &'static Process> {
    let own = if HAS_MET.load(Ordering::Relaxed) { count() as u32 } else { u32::MAX };
    members.iter().filter(move |member| **member >= own).map(|member| get(*member))
}

/// This process.
pub fn me() -> &'static Process {
    all().iter().find(|process| process.is_self).expect("this process is in its own table")
}

/// Number of processes of the own job.
pub fn count() -> usize {
    all().len()
}

fn all() -> &'static [Process] {
    PROCESSES.get().expect("the processes are known during MPI_Init")
}

/// The node of processes that no shared memory reaches.
const ELSEWHERE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_travel_with_the_addresses() {
        let mut list = Vec::new();
        addresses::push(&mut list, "tcp", &[1, 2]);
        publish_cores(&mut list);
        assert_eq!(cores(&list), Some(sys::own_cores()));
        list.pop();
        assert_eq!(cores(&list), None, "cut off");
        let mut short = Vec::new();
        addresses::push(&mut short, CORES, &[0; 33]);
        assert_eq!(cores(&short), None);
    }
}
