//! The processes that this one can talk to.

use crate::addresses;
use alloc::vec::Vec;
use opal_core::sync::Once;
use opal_core::sys::{self, Cores};
use opal_core::wait;
use orte_core::framework::ess;

/// A process of the job.
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
}

impl Process {
    /// A process that was not asked for its addresses yet.
    pub fn new(index: u32, node: u32, is_self: bool, same_node: bool) -> Process {
        Process { index, node, is_self, same_node, addresses: Once::new() }
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

static PROCESSES: Once<Vec<Process>> = Once::new();

/// Provides the table, indexed by [`Process::index`]: once, during MPI_Init.
pub fn open(processes: Vec<Process>) {
    debug_assert!(processes.iter().enumerate().all(|(index, process)| process.index as usize == index));
    PROCESSES.call_once(|| processes);
}

/// A process by its index.
///
/// # Panics
/// Before [`open`], or for an index that no process has; indices come from groups, which are made of this table.
pub fn get(index: u32) -> &'static Process {
    &all()[index as usize]
}

/// This process.
pub fn me() -> &'static Process {
    all().iter().find(|process| process.is_self).expect("this process is in its own table")
}

/// Number of processes.
pub fn count() -> usize {
    all().len()
}

fn all() -> &'static [Process] {
    PROCESSES.get().expect("the processes are known during MPI_Init")
}

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
