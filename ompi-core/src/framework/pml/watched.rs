//! The user's messages on all communicators, those that are gone included: for statistics of the whole process.

use super::{Traffic, selected};
use crate::comm::Communicator;
use crate::group::Group;
use crate::sequence::Sequence;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, Mutex, Ordering};

struct Watched {
    context: u32,
    members: Arc<Group>,
    // Once it is gone, or when it is asked for: names may change.
    name: Option<String>,
    traffic: Arc<Traffic>,
}

static IS_ON: AtomicBool = AtomicBool::new(false);
static ALL: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

/// Counts messages on all communicators that are made from now on.
pub fn begin() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// A communicator has been made.
pub fn add(comm: &Communicator) {
    if IS_ON.load(Ordering::Relaxed)
        && let Some(traffic) = selected().count_traffic(comm)
    {
        let members = comm.remote.as_ref().unwrap_or(&comm.group).clone();
        ALL.lock().push(Watched { context: comm.context, members, name: None, traffic });
    }
}

/// It is gone: its number will be another one's. One without messages is forgotten, others of the same name and members are added up.
pub fn remove(comm: &Communicator) {
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let mut all = ALL.lock();
    let Some(at) = all.iter().position(|one| one.name.is_none() && one.context == comm.context) else { return };
    let gone = all.swap_remove(at);
    if gone.traffic.all().all(|counts| counts == [0; 4]) {
        return;
    }
    let name = comm.described();
    let is_same = |one: &&Watched| one.name.as_ref() == Some(&name) && one.members.members() == gone.members.members();
    if let Some(same) = all.iter().find(is_same) {
        return same.traffic.add(&gone.traffic);
    }
    // A sum of its own: tools may still have handles of what this communicator alone has counted.
    let sum = Traffic::new(gone.context, gone.members.members().to_vec().into());
    sum.add(&gone.traffic);
    all.push(Watched { name: Some(name), traffic: Arc::new(sum), ..gone });
}

/// The messages with all peers of all of them: sent, their bytes, received, their bytes. `None` while the list changes.
pub fn totals() -> Option<[u64; 4]> {
    let all = ALL.try_lock()?;
    let counts = all.iter().flat_map(|one| one.traffic.all());
    Some(counts.fold([0; 4], |sum, counts| core::array::from_fn(|place| sum[place] + counts[place])))
}

/// Calls a function for each: with its name, its members by rank (of the remote group, if it is an intercommunicator), and the messages.
pub fn each(mut look: impl FnMut(&str, &Sequence, &Traffic)) {
    for one in ALL.lock().iter() {
        let name = match &one.name {
            Some(name) => name.clone(),
            None => crate::comm::of_context(one.context).map_or(String::new(), |(_, comm)| comm.described()),
        };
        look(&name, one.members.members(), &one.traffic);
    }
}
