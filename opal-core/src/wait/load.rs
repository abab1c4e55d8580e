//! Whether waiting ranks may spin: as many cores as ranks on this node.

use crate::sync::{AtomicBool, AtomicU32, Mutex, Ordering};
use crate::sys::{self, Cores};

/// Tells how many ranks run on this node, and which of them this one is: what counts until [`add_local_rank`] was told of another one.
pub fn expect_local_ranks(index: u32, ranks: u32) {
    INDEX.store(index, Ordering::Relaxed);
    RANKS.store(ranks, Ordering::Relaxed);
    MAY_SPIN.store(has_cores_for(ranks), Ordering::Relaxed);
}

/// Whether this process may run on so many cores.
pub fn has_cores_for(ranks: u32) -> bool {
    ranks <= count(&sys::own_cores())
}

/// Whether a thread of the system's can work for this process without taking the core of a rank: there are more cores than known ranks
/// of this node, and this process is not bound to one.
pub fn has_spare_core() -> bool {
    let own = sys::own_cores();
    let load = LOAD.lock();
    let cores = if load.ranks > 1 { count(&load.cores) } else { count(&own) };
    is_spare(count(&own), load.ranks.max(RANKS.load(Ordering::Relaxed)), cores)
}

fn is_spare(own_cores: u32, ranks: u32, cores: u32) -> bool {
    own_cores > 1 && ranks < cores
}

/// Tells of another rank of this node which cores it may run on.
pub fn add_local_rank(cores: &Cores) {
    let mut load = LOAD.lock();
    if load.ranks == 0 {
        *load = Load { ranks: 1, cores: sys::own_cores() };
    }
    MAY_SPIN.store(load.add(cores), Ordering::Relaxed);
}

/// A rank that [`add_local_rank`] was told of is waited for no more. Its cores stay: others were there first.
pub fn remove_local_rank() {
    let mut load = LOAD.lock();
    load.ranks = load.ranks.saturating_sub(1).max(1);
    MAY_SPIN.store(load.ranks <= count(&load.cores), Ordering::Relaxed);
}

/// Whether there is a core for every rank of this node.
#[inline(always)]
pub fn may_spin() -> bool {
    MAY_SPIN.load(Ordering::Relaxed)
}

/// This thread goes on on a core that no other rank of the node goes to, if it may choose; afterwards it may run anywhere as before. Each
/// time that is another one, so that two jobs do not meet again.
pub fn leave_core() -> bool {
    let ranks = RANKS.load(Ordering::Relaxed);
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    let nth = INDEX.load(Ordering::Relaxed).wrapping_add(turn.wrapping_mul(ranks));
    sys::move_to_core(nth as usize)
}

/// The ranks of this node that are known, and the cores that any of them may run on.
struct Load {
    ranks: u32,
    cores: Cores,
}

impl Load {
    /// One more; whether there is a core for each.
    fn add(&mut self, cores: &Cores) -> bool {
        self.ranks += 1;
        for (all, these) in self.cores.iter_mut().zip(cores) {
            *all |= these;
        }
        self.ranks <= count(&self.cores)
    }
}

fn count(cores: &Cores) -> u32 {
    cores.iter().map(|word| word.count_ones()).sum()
}

static INDEX: AtomicU32 = AtomicU32::new(0);
static RANKS: AtomicU32 = AtomicU32::new(1);
static TURN: AtomicU32 = AtomicU32::new(0);
static MAY_SPIN: AtomicBool = AtomicBool::new(true);
static LOAD: Mutex<Load> = Mutex::new(Load { ranks: 0, cores: [0; 4] });

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn ranks_that_are_bound_apart_have_a_core_each() {
        let mut apart = Load { ranks: 1, cores: [1, 0, 0, 0] };
        assert!(apart.add(&[2, 0, 0, 0]));
        assert!(apart.add(&[0, 0, 0, 1 << 63]));
        let mut together = Load { ranks: 1, cores: [1, 0, 0, 0] };
        assert!(!together.add(&[1, 0, 0, 0]));
        let mut free = Load { ranks: 1, cores: [3, 0, 0, 0] };
        assert!(free.add(&[3, 0, 0, 0]));
        assert!(!free.add(&[3, 0, 0, 0]));
    }

    #[test]
    fn a_core_is_spare_that_no_rank_needs_and_that_this_process_may_use() {
        assert!(is_spare(2, 1, 2) && is_spare(4, 4, 16));
        assert!(!is_spare(1, 4, 16), "bound to one core");
        assert!(!is_spare(2, 2, 2) && !is_spare(2, 3, 2) && !is_spare(1, 1, 1));
    }

    #[test]
    fn who_moves_to_a_core_is_there_and_may_run_anywhere_again() {
        let all = sys::own_cores();
        let own: Vec<usize> = (0..256).filter(|core| all[core / 64] >> (core % 64) & 1 != 0).collect();
        if own.len() == 1 {
            assert!(!sys::move_to_core(0), "there is no choice");
            return;
        }
        // Right after it the system may move it on.
        let arrives =
            |nth| (0..100).any(|_| sys::move_to_core(nth) && sys::current_core() == Some(own[nth % own.len()]));
        assert!((0..=own.len()).all(arrives));
        assert_eq!(sys::own_cores(), all);
    }
}
