//! Communicators: the object and its handle. The files of `comm/` make, duplicate and end them. MPI 5.0 §7.
#![allow(unsafe_code)]

use crate::errhandler;
use crate::error::{Class, Fault, Result};
use crate::framework::coll;
use crate::group::{Group, is_first};
use crate::handle::{Fixed, HandleTable};
use crate::process;
use crate::sequence::Sequence;
use crate::topo::Topology;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::mem::offset_of;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, ConditionalLock, Once, Ordering};

mod activate;
mod agree;
mod cid;
mod coll_select;
pub mod context;
mod create;
mod disconnect;
mod duplicate;
mod hints;
mod inter;
mod predefined;
pub mod roster;
mod split_type;

pub use cid::{Member, Reservation};
pub use create::{create, create_from_group, create_group, merge, split, split_hidden};
pub use disconnect::{disconnect, free, tell_left};
pub use duplicate::{begin as begin_duplicate, duplicate};
pub use hints::Hints;
pub use inter::{create as create_inter, create_from_groups as create_inter_from_groups, tell_met};
pub use predefined::{close, open};
pub use split_type::split_type;

/// MPI_COMM_NULL.
pub const NULL: usize = 0x100;
/// MPI_COMM_WORLD.
pub const WORLD_HANDLE: usize = 0x101;
/// MPI_COMM_SELF.
pub const SELF_HANDLE: usize = 0x102;

static DYNAMIC: HandleTable<Communicator> = HandleTable::new();
static PREDEFINED: Fixed<Communicator, 2> = Fixed::new();

/// A communicator. Ranks of messages are ranks of [`Communicator::peers`].
pub struct Communicator {
    /// This process's group.
    pub group: Arc<Group>,
    /// The other group of an intercommunicator.
    pub remote: Option<Arc<Group>>,
    /// This process's rank in `group`.
    pub rank: u32,
    /// The context number by which others reach this process here; local to it (see [`context`]).
    pub context: u32,
    // Here, so that one load finds it.
    peer_count: usize,
    // The context number of each peer, by rank, and of an intercommunicator that of each process of `group`. Not known
    // while MPI_Comm_idup is under way.
    contexts: Once<[Sequence; 2]>,
    // Of an intercommunicator: see `merged`.
    merged: Once<Arc<Communicator>>,
    /// The hints in use.
    pub hints: Hints,
    /// Which module serves which collective function.
    pub coll: Once<coll::Table>,
    pub(crate) topology: Once<Arc<Topology>>,
    /// The PML's own; null until `add_comm`.
    pub pml: AtomicPtr<()>,
    /// The handle of the error handler in force.
    pub errhandler: AtomicUsize,
    name: ConditionalLock<String>,
    // Which function made it, from which other one.
    origin: Once<(&'static str, String)>,
    // Counts the collective constructors that were called on it.
    constructors: AtomicU64,
    // All its processes have called MPI_Comm_disconnect.
    is_ending: AtomicBool,
}

impl Communicator {
    /// A communicator without matching and collectives: a step of making one. Its groups can be asked for already.
    pub fn new(
        group: Arc<Group>,
        remote: Option<Arc<Group>>,
        context: u32,
        peer_contexts: Sequence,
        errhandler: usize,
    ) -> Communicator {
        let comm = Communicator::pending(group, remote, context, errhandler);
        comm.set_contexts(peer_contexts, Sequence::EMPTY);
        comm
    }

    /// As [`Communicator::new`], while the peers' context numbers are not known.
    pub fn pending(group: Arc<Group>, remote: Option<Arc<Group>>, context: u32, errhandler: usize) -> Communicator {
        let rank = group.rank().unwrap_or(0);
        let peer_count = remote.as_ref().unwrap_or(&group).size();
        errhandler::retain(errhandler);
        process::retain(group.members());
        remote.iter().for_each(|remote| process::retain(remote.members()));
        Communicator {
            peer_count,
            group,
            remote,
            rank,
            context,
            contexts: Once::new(),
            merged: Once::new(),
            hints: Hints::default(),
            coll: Once::new(),
            topology: Once::new(),
            pml: AtomicPtr::new(core::ptr::null_mut()),
            errhandler: AtomicUsize::new(errhandler),
            name: ConditionalLock::new(String::new()),
            origin: Once::new(),
            constructors: AtomicU64::new(0),
            is_ending: AtomicBool::new(false),
        }
    }

    /// Says the context numbers of the peers and, of an intercommunicator, of the own group; once.
    pub fn set_contexts(&self, peers: Sequence, local: Sequence) {
        self.contexts.call_once(|| [peers, local]);
    }

    /// The context number of each peer, by rank; empty while they are not known.
    pub fn peer_contexts(&self) -> &Sequence {
        static UNKNOWN: Sequence = Sequence::EMPTY;
        self.contexts.get().map_or(&UNKNOWN, |[peers, _]| peers)
    }

    /// The context number of each process of the own group of an intercommunicator, by rank.
    pub fn local_contexts(&self) -> &Sequence {
        static UNKNOWN: Sequence = Sequence::EMPTY;
        self.contexts.get().map_or(&UNKNOWN, |[_, local]| local)
    }

    /// The intracommunicator whose messages carry its collectives: itself, or for an intercommunicator one that nobody
    /// else sees, of both groups, the one with the lower first process first.
    ///
    /// # Panics
    /// As [`Communicator::coll`].
    #[inline(always)]
    pub fn merged(&self) -> &Communicator {
        match &self.remote {
            None => self,
            Some(_) => {
                self.merged.get().expect("an intercommunicator gets its merged intracommunicator before its handle")
            }
        }
    }

    /// The ranks of its two groups, this process's first, in the [`merged`](Communicator::merged) intracommunicator of an
    /// intercommunicator; its own ranks and none otherwise.
    pub fn merged_ranks(&self) -> [core::ops::Range<usize>; 2] {
        let Some(remote) = &self.remote else { return [0..self.size(), 0..0] };
        let (here, there) = (self.size(), remote.size());
        match is_first(self.group.members(), remote.members()) {
            true => [0..here, here..here + there],
            false => [there..there + here, 0..there],
        }
    }

    /// The group that ranks of messages mean: the remote one of an intercommunicator.
    #[inline(always)]
    pub fn peers(&self) -> &Group {
        match &self.remote {
            None => &self.group,
            Some(remote) => remote,
        }
    }

    /// Size of [`Communicator::peers`], with one load.
    #[inline(always)]
    pub fn peer_count(&self) -> usize {
        self.peer_count
    }

    /// Number of processes in this process's group.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Whether it joins two groups.
    pub fn is_inter(&self) -> bool {
        self.remote.is_some()
    }

    /// The table of collectives.
    ///
    /// # Panics
    /// Before the communicator is complete; no handle to it exists until then.
    #[inline]
    pub fn coll(&self) -> &coll::Table {
        self.coll.get().expect("a communicator gets its collectives before its handle")
    }

    /// The PML's own data.
    #[inline(always)]
    pub fn pml_data(&self) -> *mut () {
        // Acquire pairs with the Release of the PML's store in `add_comm`.
        self.pml.load(Ordering::Acquire)
    }

    /// A number for a collective constructor called on it: the same on all its processes, which call them in one order.
    pub fn next_constructor(&self) -> u64 {
        self.constructors.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether all its processes have called MPI_Comm_disconnect: from then on it is no reason to keep any of them.
    fn set_ending(&self, is_ending: bool) {
        if self.is_ending.swap(is_ending, Ordering::Relaxed) != is_ending {
            process::set_ending(self.group.members(), is_ending);
            self.remote.iter().for_each(|remote| process::set_ending(remote.members(), is_ending));
        }
        if let Some(merged) = self.merged.get() {
            merged.set_ending(is_ending);
        }
    }

    /// MPI_Comm_get_name.
    pub fn name(&self) -> String {
        self.name.lock().clone()
    }

    /// Its name for a message, or how it was made and from what.
    #[cold]
    pub fn described(&self) -> String {
        let name = self.name();
        if !name.is_empty() {
            return name;
        }
        let size = self.size();
        let others = self.remote.as_ref().map_or(String::new(), |remote| format!(" and {}", remote.size()));
        let how = match self.origin.get() {
            Some((function, parent)) if parent.is_empty() => format!("made by {function}, "),
            Some((function, parent)) => format!("made by {function} from {parent}, "),
            None => String::new(),
        };
        format!("a communicator without a name ({how}{size}{others} ranks)")
    }

    /// Says which function made it from what, once; for [`Communicator::described`].
    pub fn set_origin(&self, function: &'static str, parent: Option<&Communicator>) {
        self.origin.call_once(|| {
            let name = parent.map_or(String::new(), Communicator::name);
            (function, if parent.is_some() && name.is_empty() { "another one without a name".into() } else { name })
        });
    }

    /// MPI_Comm_set_name; the caller has cut it to MPI_MAX_OBJECT_NAME - 1 bytes.
    pub fn set_name(&self, name: String) {
        *self.name.lock() = name;
    }
}

/// The communicator behind a handle.
#[inline(always)]
pub fn borrow(handle: usize) -> Option<&'static Communicator> {
    match handle {
        WORLD_HANDLE | SELF_HANDLE => PREDEFINED.get(handle - WORLD_HANDLE),
        _ => DYNAMIC.borrow(handle),
    }
}

/// A handle for a communicator.
fn insert(comm: Arc<Communicator>) -> Result<usize> {
    DYNAMIC.insert(comm).ok_or_else(|| Fault::new(Class::NoMem).because("all handles are in use"))
}

/// The communicator with a context number of this process, and its handle; for errors of requests.
#[cold]
pub fn of_context(context: u32) -> Option<(usize, &'static Communicator)> {
    [WORLD_HANDLE, SELF_HANDLE]
        .into_iter()
        .filter_map(|handle| Some((handle, borrow(handle)?)))
        .find(|(_, comm)| comm.context == context)
        .or_else(|| DYNAMIC.search(|comm| comm.context == context))
        .or_else(|| DYNAMIC.search(|comm| comm.merged.get().is_some_and(|merged| merged.context == context)))
}

/// The communicator that has this context number at a process among its peers, perhaps as the inner one of a communicator between groups.
#[cold]
pub fn of_peer_context(process: u32, context: u32) -> Option<&'static Communicator> {
    let is_one = |comm: &Communicator| {
        comm.peers().rank_of(process).is_some_and(|rank| comm.peer_contexts().get(rank) == Some(context))
    };
    let own = [WORLD_HANDLE, SELF_HANDLE].into_iter().filter_map(borrow).find(|comm| is_one(comm));
    own.or_else(|| {
        let is_either = |comm: &Communicator| is_one(comm) || comm.merged.get().is_some_and(|merged| is_one(merged));
        DYNAMIC.search(is_either).map(|(_, comm)| comm)
    })
}

/// A communicator that lives as long as this does: what a request that refers to one keeps.
pub enum Holder {
    /// One that is never freed.
    Predefined(&'static Communicator),
    /// One that the user may free meanwhile.
    Kept(Arc<Communicator>),
}

impl Holder {
    /// The communicator behind a handle.
    pub fn of(handle: usize) -> Result<Holder> {
        let found = match handle {
            WORLD_HANDLE | SELF_HANDLE => borrow(handle).map(Holder::Predefined),
            _ => get(handle).map(Holder::Kept),
        };
        found.ok_or_else(|| Class::Comm.into())
    }

    /// The communicator.
    #[inline(always)]
    pub fn get(&self) -> &Communicator {
        match self {
            Holder::Predefined(comm) => comm,
            Holder::Kept(comm) => comm,
        }
    }
}

/// A reference of one's own to a communicator made by the user.
pub fn get(handle: usize) -> Option<Arc<Communicator>> {
    DYNAMIC.get(handle)
}

/// What a debugger needs to know of communicators.
pub(crate) static FACTS: [Fact; 7] = [
    Fact::address("comm.table", &raw const DYNAMIC),
    Fact::address("comm.predefined", &raw const PREDEFINED),
    Fact::number("comm.group", offset_of!(Communicator, group)),
    Fact::number("comm.remote", offset_of!(Communicator, remote)),
    Fact::number("comm.rank", offset_of!(Communicator, rank)),
    Fact::number("comm.context", offset_of!(Communicator, context)),
    Fact::number("comm.name", offset_of!(Communicator, name) + ConditionalLock::<String>::VALUE),
];

impl Drop for Communicator {
    fn drop(&mut self) {
        errhandler::release(self.errhandler.load(Ordering::Relaxed));
        let was_ending = self.is_ending.load(Ordering::Relaxed);
        process::release(self.group.members(), was_ending);
        self.remote.iter().for_each(|remote| process::release(remote.members(), was_ending));
        if let Some(release) = RELEASE.get() {
            release(self);
        }
    }
}

/// Gives back the context number of a communicator that ends, and what the PML keeps for it. A function of `context.rs`,
/// which stands above the PML.
static RELEASE: Once<fn(&Communicator)> = Once::new();

/// MPI_COMM_WORLD.
///
/// # Panics
/// Before MPI is initialised.
pub fn world() -> &'static Communicator {
    borrow(WORLD_HANDLE).expect("MPI is initialised")
}

/// MPI_COMM_SELF.
///
/// # Panics
/// Before MPI is initialised.
pub fn itself() -> &'static Communicator {
    borrow(SELF_HANDLE).expect("MPI is initialised")
}
