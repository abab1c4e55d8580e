//! The processes that this one can talk to: those of the own job from MPI_Init on, those of other jobs from the call on by which both
//! meet (MPI_Comm_spawn, MPI_Comm_accept …) until MPI_Comm_disconnect.
//!
//! All of this process's objects name a process by its *index* here, which no other process knows. Between processes of different
//! jobs a process goes by its *name*: job and rank there. Processes of the own job have their rank as index. Nothing is kept of such a
//! process before it is spoken to: its node follows from the job's map, its addresses are asked for.
//!
//! Processes of other jobs have indices behind those. The index of one that was left is used again when no group speaks of it any
//! more.

use crate::addresses;
use crate::sequence::Sequence;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;
use opal_core::sparse::OnceTable;
use opal_core::sync::{AtomicBool, ConditionalLock, Once, Ordering};
use opal_core::sys::{self, Cores};
use opal_core::wait;
use orte_core::framework::ess;
use orte_core::job::number_of;
use places::Places;

mod places;

pub use places::Met;

/// A process of the job, or of another one.
#[derive(Clone, Debug)]
pub struct Process {
    /// Index in the table of processes; for those of the own job the rank in MPI_COMM_WORLD.
    pub index: u32,
    /// This very process.
    pub is_self: bool,
    /// On this process's node.
    pub same_node: bool,
    // Of another job.
    beyond_job: Option<Arc<Met>>,
}

impl Process {
    /// Its node.
    pub fn node(&self) -> u32 {
        match (&self.beyond_job, own()) {
            (None, own) => (own.node_of)(self.index),
            (Some(met), own) if met.same_node => own.node,
            (Some(_), _) => ELSEWHERE,
        }
    }

    /// Its job, and its rank there.
    pub fn name(&self) -> ProcessName {
        match &self.beyond_job {
            Some(met) => met.name,
            None => ProcessName { job: OWN.get().map_or(0, |own| own.job), rank: self.index },
        }
    }

    /// A communicator that it is in connects to it at once: it is on this node or of another job, and such are few. All others are
    /// connected when the first message is sent to them or comes from them.
    pub fn is_near(&self) -> bool {
        self.same_node || self.beyond_job.is_some()
    }

    /// For people: `rank 3 in MPI_COMM_WORLD`.
    pub fn described(&self) -> String {
        match &self.beyond_job {
            None => format!("rank {} in MPI_COMM_WORLD", self.index),
            Some(met) => format!("rank {} in MPI_COMM_WORLD of job {}", met.name.rank, job_number(met.name.job)),
        }
    }

    /// For people, of a process that is gone: `the connection to rank 3 in MPI_COMM_WORLD was lost`. Those of other jobs end without any
    /// word of this job's launcher.
    #[cold]
    pub fn lost(&self) -> String {
        let described = self.described();
        match &self.beyond_job {
            None => format!("the connection to {described} was lost"),
            Some(_) => format!(
                "{described} is gone: it has ended or left MPI without MPI_Comm_disconnect, or the connection to it was lost"
            ),
        }
    }

    /// What it published, a list of [`crate::addresses`]; waits for it the first time.
    pub fn addresses(&self) -> opal_core::Result<&[u8]> {
        if let Some(met) = &self.beyond_job {
            return Ok(&met.addresses);
        }
        let place = own().addresses.place(self.index as usize).ok_or(opal_core::Error::Invalid)?;
        if let Some(known) = place.get() {
            return Ok(known);
        }
        let environment = ess::selected().ok_or(opal_core::Error::NotFound)?;
        let found = environment.lookup(self.index)?;
        Ok(place.call_once(|| {
            if let Some(cores) = cores(&found).filter(|_| self.same_node && !self.is_self) {
                wait::add_local_rank(&cores);
            }
            found.into_boxed_slice()
        }))
    }
}

/// The number of another job, for people: what goes on after `job`. Launchers count their jobs from 1: one of this job's number is none of its launcher's.
pub fn job_number(job: u64) -> String {
    let number = number_of(job);
    match OWN.get().is_some_and(|own| number_of(own.job) == number) {
        true => format!("{number} of another launcher"),
        false => format!("{number}"),
    }
}

/// Adds to what this process publishes the cores that it may run on: peers of its node wait accordingly, whatever transport
/// they meet over.
pub fn publish_cores(list: &mut Vec<u8>) {
    addresses::push(list, CORES, sys::own_cores().map(u64::to_le_bytes).as_flattened());
}

/// Appends the name of this process's host to what it publishes.
pub fn publish_host(list: &mut Vec<u8>) {
    let name = sys::hostname();
    addresses::push(list, HOST, &name.as_bytes()[..name.len().min(HOST_BYTES_MAX)]);
}

/// The name of a process's host, where this process has already seen what it published; waits for nothing.
pub fn known_host(index: u32) -> Option<String> {
    let published = OWN.get()?.addresses.get(index as usize)?;
    host(published)
}

/// A peer may have written anything.
fn host(published: &[u8]) -> Option<String> {
    let name = addresses::find_named(published, HOST)?;
    let is_fine = !name.is_empty() && name.len() <= HOST_BYTES_MAX && name.iter().all(u8::is_ascii_graphic);
    core::str::from_utf8(name).ok().filter(|_| is_fine).map(String::from)
}

fn cores(published: &[u8]) -> Option<Cores> {
    let bytes = addresses::find_named(published, CORES)?;
    let (words, rest) = bytes.as_chunks::<8>();
    let words: &[[u8; 8]; 4] = words.try_into().ok().filter(|_| rest.is_empty())?;
    Some(words.map(u64::from_le_bytes))
}

const CORES: &str = "process/cores";
const HOST: &str = "process/host";
const HOST_BYTES_MAX: usize = 64;

/// The own job.
struct Own {
    job: u64,
    me: u32,
    size: u32,
    // The node of a rank, and this process's.
    node_of: fn(u32) -> u32,
    node: u32,
    // Bit by rank: it is on this process's node.
    same_node: Box<[u64]>,
    // By rank, of those that were asked for.
    addresses: OnceTable<Box<[u8]>>,
}

static OWN: Once<Own> = Once::new();
// Processes of other jobs.
static BEYOND_JOB: ConditionalLock<Places> = ConditionalLock::new(Places::new());
// There are any.
static HAS_MET: AtomicBool = AtomicBool::new(false);

/// Provides the own job: once, during MPI_Init. `me` is the rank of this process of `size`, `node_of` says the node of each.
pub fn open(job: u64, me: u32, size: u32, node_of: fn(u32) -> u32) {
    OWN.call_once(|| {
        let node = node_of(me);
        let mut same_node = vec![0; (size as usize).div_ceil(64)].into_boxed_slice();
        for rank in (0..size).filter(|rank| node_of(*rank) == node) {
            same_node[rank as usize / 64] |= 1 << (rank % 64);
        }
        Own { job, me, size, node_of, node, same_node, addresses: OnceTable::new(size as usize) }
    });
}

/// A process by its index.
///
/// # Panics
/// Before [`open`], or for an index that no process has; indices come from groups, which are made of this table.
pub fn get(index: u32) -> Process {
    let own = own();
    if index < own.size {
        let same_node = own.same_node[index as usize / 64] & 1 << (index % 64) != 0;
        return Process { index, is_self: index == own.me, same_node, beyond_job: None };
    }
    let beyond = BEYOND_JOB.lock();
    let place = beyond.get((index - own.size) as usize).expect("indices of other jobs are held by groups");
    Process { index, is_self: false, same_node: place.met.same_node, beyond_job: Some(place.met.clone()) }
}

/// As [`get`], for an index that may be no process's any more.
pub fn find_by_index(index: u32) -> Option<Process> {
    let place = match index.checked_sub(OWN.get()?.size) {
        None => return Some(get(index)),
        Some(place) => place as usize,
    };
    let beyond = BEYOND_JOB.lock();
    let met = beyond.get(place)?.met.clone();
    Some(Process { index, is_self: false, same_node: met.same_node, beyond_job: Some(met) })
}

/// Whether an index is that of a process of another job.
pub fn is_beyond_job(index: u32) -> bool {
    OWN.get().is_some_and(|own| index >= own.size)
}

/// The name of a process by its index.
pub fn name(index: u32) -> ProcessName {
    match OWN.get() {
        Some(_) => get(index).name(),
        // Tests of groups have no processes.
        None => ProcessName { job: 0, rank: index },
    }
}

/// The index of a process that this one can talk to; `None` if they have not met.
pub fn find(name: ProcessName) -> Option<u32> {
    let own = own();
    if name.job == own.job {
        return (name.rank < own.size).then_some(name.rank);
    }
    Some(own.size + BEYOND_JOB.lock().find(name)? as u32)
}

/// Processes that are being met: as long as this lives none of them is left, whatever other threads disconnect.
#[derive(Debug, Default)]
pub struct Meeting(Vec<u32>);

impl Meeting {
    /// The index of a process that was met just now, perhaps not for the first time. `None` for a process of the own job that does
    /// not exist. Waits where another thread is about to leave the process: whether both go on with the connection that they have is
    /// known then. No lock may be held.
    pub fn meet(&mut self, met: &Met) -> Option<u32> {
        let own = own();
        if met.name.job == own.job {
            return (met.name.rank < own.size).then_some(met.name.rank);
        }
        let mut added = self.try_meet(met);
        while added.is_none() {
            // Where a process was lost the wait may end early: that thread still ends what it has begun.
            let _ = wait::until(|| {
                added = self.try_meet(met);
                added.is_some()
            });
        }
        let (index, is_new) = added?;
        if let Some(cores) = cores(&met.addresses).filter(|_| met.same_node && is_new) {
            wait::add_local_rank(&cores);
        }
        Some(index)
    }

    fn try_meet(&mut self, met: &Met) -> Option<(u32, bool)> {
        let mut beyond = BEYOND_JOB.lock();
        let (place, is_new) = beyond.find_or_add(met)?;
        let met = beyond.at(place);
        (met.users, met.holders) = (met.users + 1, met.holders + 1);
        drop(beyond);
        HAS_MET.store(true, Ordering::Relaxed);
        let index = own().size + place as u32;
        self.0.push(index);
        Some((index, is_new))
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        each_beyond_job(self.0.iter().copied(), |beyond, place| {
            let met = beyond.at(place);
            (met.users, met.holders) = (met.users - 1, met.holders - 1);
            beyond.free_if_unused(place);
        });
    }
}

/// Counts a communicator of these processes.
pub fn retain(members: &Sequence) {
    each_beyond_job(members.iter(), |beyond, place| beyond.at(place).users += 1);
}

/// A communicator of these processes has ended. `was_ending`: as [`set_ending`] said it last.
pub fn release(members: &Sequence, was_ending: bool) {
    each_beyond_job(members.iter(), |beyond, place| {
        let released = beyond.at(place);
        released.users -= 1;
        released.ending -= usize::from(was_ending);
    });
}

/// Whether all processes of a communicator have begun to end it by MPI_Comm_disconnect: then it is no reason to keep any of them.
pub fn set_ending(members: &Sequence, is_ending: bool) {
    each_beyond_job(members.iter(), |beyond, place| match is_ending {
        true => beyond.at(place).ending += 1,
        false => beyond.at(place).ending -= 1,
    });
}

/// Counts a group that speaks of these processes: their indices stay theirs.
pub fn hold(members: &Sequence) {
    each_beyond_job(members.iter(), |beyond, place| beyond.at(place).holders += 1);
}

/// A group of these processes has ended.
pub fn let_go(members: &Sequence) {
    each_beyond_job(members.iter(), let_go_one);
}

fn let_go_one(beyond: &mut Places, place: usize) {
    beyond.at(place).holders -= 1;
    beyond.free_if_unused(place);
}

/// Processes of other jobs that a communicator is to be parted from by MPI_Comm_disconnect. As long as this lives none of them is left,
/// whatever other threads agree about with it.
pub struct Parting(Vec<u32>);

impl Parting {
    /// From these processes, all of other jobs, each once.
    pub fn begin(processes: Vec<u32>) -> Parting {
        each_beyond_job(processes.iter().copied(), |beyond, place| {
            beyond.begin_parting(place);
            beyond.at(place).holders += 1;
        });
        Parting(processes)
    }

    /// Whether this process would forget that one. Then [`Parting::decide`] is to follow, and nobody meets it before.
    pub fn vote(&self, process: u32) -> bool {
        BEYOND_JOB.lock().vote((process - own().size) as usize)
    }

    /// After a vote to forget it: whether it does the same, or is gone.
    pub fn decide(&self, process: u32, is_mutual: bool) {
        BEYOND_JOB.lock().decide((process - own().size) as usize, is_mutual);
        wait::wake_threads();
    }

    /// When the communicator is gone: leaves those that both sides have agreed about, unless another thread parts from them as well,
    /// which does it then. `tell` gets their names, and then `forget` the index of each, to end what is kept of it elsewhere; from then
    /// on another process may get the index.
    pub fn end(self, tell: impl FnOnce(&[ProcessName]), forget: impl FnMut(u32)) {
        let mut leaving = Vec::new();
        each_beyond_job(self.0.iter().copied(), |beyond, place| {
            if beyond.end_parting(place) {
                leaving.push(place);
            }
        });
        let names: Vec<ProcessName> = {
            let mut beyond = BEYOND_JOB.lock();
            leaving.iter().map(|place| beyond.at(*place).met.name).collect()
        };
        if !names.is_empty() {
            // Before anybody meets them again and says that.
            tell(&names);
        }
        forget_all(&leaving, forget);
        each_beyond_job(self.0.into_iter(), let_go_one);
    }
}

/// Leaves those in no communicator any more that `is_lost` says are gone, and those that were agreed to be left. `forget` as of
/// [`Parting::end`].
pub fn leave_unused(is_lost: impl Fn(u32) -> bool, forget: impl FnMut(u32)) {
    if !HAS_MET.load(Ordering::Relaxed) {
        return;
    }
    let mut lost = BEYOND_JOB.lock().idle();
    lost.retain(|place| is_lost(own().size + *place as u32));
    let leaving = BEYOND_JOB.lock().take_unused(&lost);
    forget_all(&leaving, forget);
}

fn forget_all(leaving: &[usize], mut forget: impl FnMut(u32)) {
    for place in leaving {
        forget(own().size + *place as u32);
        let mut beyond = BEYOND_JOB.lock();
        let is_local = beyond.at(*place).met.same_node;
        beyond.left(*place);
        drop(beyond);
        if is_local {
            wait::remove_local_rank();
        }
    }
    wait::wake_threads();
}

/// Whether processes of other jobs can be talked to now.
pub fn knows_other_jobs() -> bool {
    HAS_MET.load(Ordering::Relaxed) && !BEYOND_JOB.lock().is_empty()
}

/// Processes of the own job need no count.
fn each_beyond_job(members: impl Iterator<Item = u32>, mut act: impl FnMut(&mut Places, usize)) {
    if !HAS_MET.load(Ordering::Relaxed) {
        return;
    }
    let size = own().size;
    let mut beyond = BEYOND_JOB.lock();
    for member in members.filter(|member| *member >= size) {
        act(&mut beyond, (member - size) as usize);
    }
}

/// How many places there are for processes of other jobs, in use or free.
pub fn places_beyond_job() -> usize {
    BEYOND_JOB.lock().count()
}

/// This process.
pub fn me() -> Process {
    get(own().me)
}

/// Number of processes of the own job.
pub fn count() -> usize {
    own().size as usize
}

fn own() -> &'static Own {
    OWN.get().expect("the processes are known during MPI_Init")
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

    #[test]
    fn the_name_of_a_host_is_text() {
        let mut list = Vec::new();
        publish_host(&mut list);
        assert_eq!(host(&list), Some(sys::hostname()));
        for wrong in [&b""[..], b"a\nb", b"\xff", &[b'a'; HOST_BYTES_MAX + 1]] {
            let mut list = Vec::new();
            addresses::push(&mut list, HOST, wrong);
            assert_eq!(host(&list), None, "{wrong:?}");
        }
    }
}
