//! Which send a receive belongs to: the one that was made as the same of all to this process on the communicator with the tag as
//! the receive was of those from there (MPI 5.0 §4.2.1).
//!
//! A receive for setups is posted only while a receive in partitions waits for its own: nothing is left behind when the last one
//! is freed.

use crate::raw::{Line, Parcel};
use crate::recv::{PartitionedRecv, answer};
use crate::wire::Setup;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::framework::coll::PART_SETUP;
use opal_core::sync::{AtomicUsize, ConditionalLock, Ordering};

/// What waits for setups from one rank of one communicator.
struct Queue {
    line: Line,
    posted: Option<Parcel>,
    // In the order in which they were made.
    receives: VecDeque<Waiting>,
    // Setups whose receives were not made yet, in the order in which they came.
    setups: Vec<Setup>,
}

struct Waiting {
    tag: i32,
    // None if it was freed: it has its send all the same.
    receive: Option<Arc<PartitionedRecv>>,
}

static QUEUES: ConditionalLock<Vec<Queue>> = ConditionalLock::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A receive was made. The line is its own. After a failure nothing is known of it.
pub fn add(receive: &Arc<PartitionedRecv>, line: Line) -> Result<()> {
    let mut queues = QUEUES.lock();
    let index = match queues.iter().position(|queue| queue.is(line.comm.get(), line.peer)) {
        Some(index) => index,
        None => {
            queues.push(Queue { line, posted: None, receives: VecDeque::new(), setups: Vec::new() });
            queues.len() - 1
        }
    };
    let queue = &mut queues[index];
    let mut posted = Ok(());
    match queue.setups.iter().position(|setup| setup.tag == receive.tag()) {
        Some(setup) => receive.pair(queue.setups.remove(setup)),
        None => {
            queue.receives.push_back(Waiting { tag: receive.tag(), receive: Some(receive.clone()) });
            posted = queue.post();
            if posted.is_err() {
                queue.receives.pop_back();
            }
        }
    }
    tidy_up(&mut queues);
    drop(queues);
    advance();
    posted
}

/// A receive was freed.
pub fn forget(receive: &Arc<PartitionedRecv>) {
    let Some(line) = receive.line() else { return };
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut queues = QUEUES.lock();
    if let Some(queue) = queues.iter_mut().find(|queue| queue.is(line.comm.get(), line.peer)) {
        let is_it = |waiting: &&mut Waiting| waiting.receive.as_ref().is_some_and(|one| Arc::ptr_eq(one, receive));
        if let Some(waiting) = queue.receives.iter_mut().find(is_it) {
            waiting.receive = None;
        }
        queue.withdraw_if_idle();
    }
    tidy_up(&mut queues);
}

/// Takes the setups that have arrived; how many.
#[inline]
pub fn advance() -> usize {
    if COUNT.load(Ordering::Relaxed) == 0 { 0 } else { take_arrived() }
}

#[cold]
fn take_arrived() -> usize {
    let Some(mut queues) = QUEUES.try_lock() else { return 0 };
    let moved = queues.iter_mut().map(Queue::take_arrived).sum();
    tidy_up(&mut queues);
    moved
}

/// Takes back what is posted on a communicator.
pub fn withdraw(comm: &Communicator) {
    let mut queues = QUEUES.lock();
    for queue in queues.iter_mut().filter(|queue| core::ptr::eq(queue.line.comm.get(), comm)) {
        queue.withdraw();
    }
    tidy_up(&mut queues);
}

fn tidy_up(queues: &mut Vec<Queue>) {
    queues.retain(|queue| queue.posted.is_some() || !queue.receives.is_empty() || !queue.setups.is_empty());
    COUNT.store(queues.len(), Ordering::Relaxed);
}

impl Queue {
    fn is(&self, comm: &Communicator, peer: i32) -> bool {
        core::ptr::eq(self.line.comm.get(), comm) && self.line.peer == peer
    }

    fn is_needed(&self) -> bool {
        self.receives.iter().any(|waiting| waiting.receive.is_some())
    }

    fn post(&mut self) -> Result<()> {
        if self.posted.is_none() && self.is_needed() {
            self.posted = Some(Parcel::receive(vec![0; Setup::BYTES], &self.line, PART_SETUP)?);
        }
        Ok(())
    }

    fn take_arrived(&mut self) -> usize {
        let mut moved = 0;
        while self.posted.as_ref().is_some_and(Parcel::has_ended) {
            self.take_one();
            moved += 1;
            // Of a peer that is gone the receives will learn when they are waited for.
            if self.post().is_err() {
                break;
            }
        }
        self.withdraw_if_idle();
        moved
    }

    fn take_one(&mut self) {
        let Some(posted) = self.posted.take() else { return };
        let (status, memory) = posted.end();
        if status.cancelled() {
            return;
        }
        if status.error != 0 {
            self.receives
                .drain(..)
                .filter_map(|waiting| waiting.receive)
                .for_each(|receive| receive.fail(status.error));
            return;
        }
        let Some(setup) = Setup::decode(&memory[..memory.len().min(status.bytes() as usize)]) else { return };
        let Some(index) = self.receives.iter().position(|waiting| waiting.tag == setup.tag) else {
            self.setups.push(setup);
            return;
        };
        match self.receives.remove(index).and_then(|waiting| waiting.receive) {
            Some(receive) => receive.pair(setup),
            None => answer(&self.line, setup, false),
        }
    }

    fn withdraw_if_idle(&mut self) {
        if !self.is_needed() {
            self.withdraw();
        }
    }

    fn withdraw(&mut self) {
        if let Some(posted) = &self.posted {
            posted.cancel();
            // Matched, but not there yet: taken when it is.
            if posted.has_ended() {
                self.take_one();
            }
        }
    }
}
