//! What is attached to a dynamic window. Each process keeps a list of its own, and tells in three words where it lies: how often it was
//! changed, its address, and how many pieces it has. Whoever reads list and words holds the accumulate lock of that process, and so does
//! the process while it changes them.

use crate::raw::read_pairs;
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::error::{Class, Result};
use ompi_core::win::Combining;
use ompi_core::win::attached::Attached;
use ompi_core::win::node::Words;
use opal_core::framework::smsc::Endpoint;
use opal_core::sync::{ConditionalLock, Ordering};

/// The lists of one window.
pub struct Lists {
    me: usize,
    own: ConditionalLock<Own>,
    // By rank: how often the list was changed that this is a copy of.
    known: ConditionalLock<Vec<(u64, Attached)>>,
}

#[derive(Default)]
struct Own {
    attached: Attached,
    // What others read.
    told: Box<[[u64; 2]]>,
}

impl Lists {
    /// Empty ones.
    pub fn new(me: usize, ranks: usize) -> Lists {
        let known = alloc::vec![(0, Attached::default()); ranks];
        Lists { me, own: ConditionalLock::new(Own::default()), known: ConditionalLock::new(known) }
    }

    /// Changes this process's list.
    pub fn change(&self, words: &Words, change: impl FnOnce(&mut Attached) -> Result<()>) -> Result<()> {
        let mut own = self.own.lock();
        change(&mut own.attached)?;
        let told: Box<[[u64; 2]]> =
            own.attached.pieces().iter().map(|(base, bytes)| [*base as u64, *bytes as u64]).collect();
        let [changes, at, count] = words.notice(self.me);
        let alone = Combining::begin(words.accumulate_lock(self.me));
        at.store(told.as_ptr().expose_provenance() as u64, Ordering::Relaxed);
        count.store(told.len() as u64, Ordering::Relaxed);
        // Release pairs with the Acquire in `holds`.
        changes.fetch_add(1, Ordering::Release);
        drop(alone);
        // Nobody reads the former list any more.
        own.told = told;
        Ok(())
    }

    /// Whether all bytes from `low` to before `high` are attached at a rank, which is reached by the endpoint unless it is this process.
    pub fn holds(&self, words: &Words, rank: usize, endpoint: Option<Endpoint>, low: i128, high: i128) -> Result<bool> {
        if rank == self.me {
            return Ok(self.own.lock().attached.holds(low, high));
        }
        let endpoint = endpoint.ok_or(Class::Intern)?;
        let changed = words.notice(rank)[0].load(Ordering::Acquire);
        let mut known = self.known.lock();
        if known[rank].0 != changed {
            known[rank] = copy_of(words, rank, endpoint)?;
        }
        Ok(known[rank].1.holds(low, high))
    }
}

fn copy_of(words: &Words, rank: usize, endpoint: Endpoint) -> Result<(u64, Attached)> {
    let _alone = Combining::begin(words.accumulate_lock(rank));
    let [changes, at, count] = words.notice(rank).map(|word| word.load(Ordering::Relaxed));
    Ok((changes, Attached::of_pieces(read_pairs(endpoint, at, count)?)))
}
