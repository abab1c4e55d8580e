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
static BEYOND_JOB: ConditionalLock<BeyondJob> = ConditionalLock::new(BeyondJob { places: Vec::new() });
// There are any.
static HAS_MET: AtomicBool = AtomicBool::new(false);

/// Of other jobs, in the order of their indices.
struct BeyondJob {
    places: Vec<Option<Place>>,
}

struct Place {
    met: Arc<Met>,
    // Communicators that it is in.
    users: usize,
    // Groups that speak of it; those of the communicators are among them.
    holders: usize,
    state: PlaceState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlaceState {
    Connected,
    // In no communicator; what is kept of it elsewhere goes just now.
    Leaving,
    // Only groups speak of it.
    Left,
}

impl BeyondJob {
    /// A place is free again when its process was left and nobody speaks of it.
    /// The place of a process, and whether it is a new one.
    fn find_or_add(&mut self, met: Met) -> (usize, bool) {
        let is_found = |place: &Place| place.met.name == met.name && place.state == PlaceState::Connected;
        if let Some(found) = self.places.iter().position(|place| place.as_ref().is_some_and(is_found)) {
            return (found, false);
        }
        let free = self.places.iter().position(Option::is_none).unwrap_or(self.places.len());
        let place = Place { met: Arc::new(met), users: 0, holders: 0, state: PlaceState::Connected };
        match self.places.get_mut(free) {
            Some(slot) => *slot = Some(place),
            None => self.places.push(Some(place)),
        }
        (free, true)
    }

    fn free_if_unused(&mut self, place: usize) {
        if let Some(slot) = self.places.get_mut(place)
            && slot.as_ref().is_some_and(|place| place.state == PlaceState::Left && place.holders == 0)
        {
            *slot = None;
        }
    }
}

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
    let place = beyond.places[(index - own.size) as usize].as_ref().expect("indices of other jobs are held by groups");
    Process { index, is_self: false, same_node: place.met.same_node, beyond_job: Some(place.met.clone()) }
}

/// As [`get`], for an index that may be no process's any more.
pub fn find_by_index(index: u32) -> Option<Process> {
    let place = match index.checked_sub(OWN.get()?.size) {
        None => return Some(get(index)),
        Some(place) => place as usize,
    };
    let beyond = BEYOND_JOB.lock();
    let met = beyond.places.get(place)?.as_ref()?.met.clone();
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
    let beyond = BEYOND_JOB.lock();
    let is_found = |place: &Place| place.met.name == name && place.state == PlaceState::Connected;
    let found = beyond.places.iter().position(|place| place.as_ref().is_some_and(is_found))?;
    Some(own.size + found as u32)
}

/// Processes that are being met: as long as this lives none of them is left, whatever other threads disconnect.
#[derive(Debug, Default)]
pub struct Meeting(Vec<u32>);

impl Meeting {
    /// The index of a process that was met just now, perhaps not for the first time. `None` for a process of the own job that does
    /// not exist.
    pub fn meet(&mut self, met: Met) -> Option<u32> {
        let own = own();
        if met.name.job == own.job {
            return (met.name.rank < own.size).then_some(met.name.rank);
        }
        let cores = cores(&met.addresses).filter(|_| met.same_node);
        let mut beyond = BEYOND_JOB.lock();
        let (place, is_new) = beyond.find_or_add(met);
        let index = u32::try_from(place).ok().and_then(|place| own.size.checked_add(place))?;
        let place = beyond.place(place);
        (place.users, place.holders) = (place.users + 1, place.holders + 1);
        drop(beyond);
        HAS_MET.store(true, Ordering::Relaxed);
        self.0.push(index);
        if let Some(cores) = cores.filter(|_| is_new) {
            wait::add_local_rank(&cores);
        }
        Some(index)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        each_beyond_job(self.0.iter().copied(), |beyond, place| {
            let met = beyond.place(place);
            (met.users, met.holders) = (met.users - 1, met.holders - 1);
            beyond.free_if_unused(place);
        });
    }
}

/// Counts a communicator of these processes.
pub fn retain(members: &Sequence) {
    each_beyond_job(members.iter(), |beyond, place| beyond.place(place).users += 1);
}

/// A communicator of these processes has ended.
pub fn release(members: &Sequence) {
    each_beyond_job(members.iter(), |beyond, place| beyond.place(place).users -= 1);
}

/// Counts a group that speaks of these processes: their indices stay theirs.
pub fn hold(members: &Sequence) {
    each_beyond_job(members.iter(), |beyond, place| beyond.place(place).holders += 1);
}

/// A group of these processes has ended.
pub fn let_go(members: &Sequence) {
    each_beyond_job(members.iter(), |beyond, place| {
        beyond.place(place).holders -= 1;
        beyond.free_if_unused(place);
    });
}

/// Leaves those of these processes that are of other jobs and in no communicator any more. `forget` gets the index of each, to
/// end what is kept of it elsewhere; from then on another process may get the index. Returns their names.
pub fn leave(members: &[&Sequence], mut forget: impl FnMut(u32)) -> Vec<ProcessName> {
    let mut leaving = Vec::new();
    each_beyond_job(members.iter().flat_map(|members| members.iter()), |beyond, place| {
        let left = beyond.place(place);
        if left.users == 0 && left.state == PlaceState::Connected {
            left.state = PlaceState::Leaving;
            leaving.push((place, left.met.clone()));
        }
    });
    for (place, met) in &leaving {
        forget(own().size + *place as u32);
        if met.same_node {
            wait::remove_local_rank();
        }
        let mut beyond = BEYOND_JOB.lock();
        beyond.place(*place).state = PlaceState::Left;
        beyond.free_if_unused(*place);
    }
    leaving.into_iter().map(|(_, met)| met.name).collect()
}

impl BeyondJob {
    fn place(&mut self, place: usize) -> &mut Place {
        self.places[place].as_mut().expect("a process that groups speak of is in the table")
    }
}

/// Whether processes of other jobs can be talked to now.
pub fn knows_other_jobs() -> bool {
    HAS_MET.load(Ordering::Relaxed) && BEYOND_JOB.lock().places.iter().any(Option::is_some)
}

/// Processes of the own job need no count.
fn each_beyond_job(members: impl Iterator<Item = u32>, mut act: impl FnMut(&mut BeyondJob, usize)) {
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
    BEYOND_JOB.lock().places.len()
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
}
