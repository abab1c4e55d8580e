//! What a wait for a word of shared memory is for: which communicator the memory belongs to.

use crate::peer::Peer;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::executor::{self, Executor};
use ompi_core::framework::pml::subject;
use ompi_core::shared_pool::Shared;
use opal_core::sync::{AtomicU64, ConditionalLock};
use opal_core::wait::Subject;

struct Owner {
    addresses: Range<usize>,
    subject: Subject,
}

static OWNERS: ConditionalLock<Vec<Owner>> = ConditionalLock::new(Vec::new());

/// Memory of `bytes` bytes belongs to the executor's communicator from now on, whose other processes are `peers`.
pub fn add(shared: &Shared, bytes: usize, peers: &[Option<Peer>], executor: &dyn Executor) {
    let context = executor::communicator_of(executor).map_or(subject::NO_CONTEXT, |comm| comm.context);
    let mut others = (0..).zip(peers).filter_map(|(rank, peer)| Some((rank, peer.as_ref()?.index)));
    let subject = match (others.next(), others.next()) {
        // Of two ranks there is one to wait for.
        (Some((rank, process)), None) => subject::message(rank, Some(process), 0, context, true),
        _ => subject::ranks(context),
    };
    let start = shared.place(0, bytes).addr();
    OWNERS.lock().push(Owner { addresses: start..start + bytes, subject });
}

/// It does not any more.
pub fn remove(shared: &Shared) {
    let start = shared.place(0, 0).addr();
    let mut owners = OWNERS.lock();
    if let Some(at) = owners.iter().position(|owner| owner.addresses.start == start) {
        owners.swap_remove(at);
    }
}

/// What a wait for this word is for.
#[cold]
pub fn of_word(word: &AtomicU64) -> Subject {
    let address = core::ptr::from_ref(word).addr();
    let Some(owners) = OWNERS.try_lock() else { return Subject::UNKNOWN };
    let owner = owners.iter().find(|owner| owner.addresses.contains(&address));
    owner.map_or(Subject::UNKNOWN, |owner| owner.subject)
}
