//! The lines of one communicator, and when they come into being.

use crate::cores::{Core, Cores};
use crate::shared_pool::Part;
use crate::wire;
use alloc::boxed::Box;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::shared_pool::{Neighbor, Shared, Wanted};
use opal_core::sync::{AtomicU64, ConditionalLock, Ordering};
use opal_core::wait;

/// Another process of the communicator.
pub struct Peer {
    /// Index of the process.
    pub index: u32,
    /// How it is woken, and its memory.
    pub neighbor: Neighbor,
}

/// What has happened in the lines so far: equal on all ranks between operations, but for `owed`.
pub struct Past {
    /// Number of the last operation.
    pub number: u64,
    /// The last one in which this rank waited for all: all had finished what was before it.
    pub met: u64,
    /// Who shares cores.
    pub cores: Cores,
    /// Before which operation the ranks tell each other again where they are.
    pub look: u64,
    /// What the counts of turns are when all have come that were to come.
    pub counts: [u64; wire::TURNS],
    /// Two ranks: by parity the number of the operation for which the other one must have raised its flag before this one
    /// writes with that parity again, because then it has taken what is there; 0: none.
    pub owed: [u64; 2],
}

/// What one of two ranks tells the other one in operations of one parity.
pub struct Flag {
    /// Of the last such operation that it has come to.
    pub number: &'static AtomicU64,
    /// Up to eight bytes that come along.
    pub value: &'static AtomicU64,
}

/// What more than two ranks tell each other in operations of one turn.
pub struct Words {
    /// How many have come, ever.
    pub count: &'static AtomicU64,
    /// Number of the last such operation whose data is there.
    pub release: &'static AtomicU64,
}

/// The lines as one rank has them.
pub struct Lines {
    /// This process's rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// Two ranks: their flags, by rank and parity.
    pub flags: [[Flag; 2]; 2],
    /// More: their words, by turn.
    pub turns: Box<[Words]>,
    /// The past.
    pub past: ConditionalLock<Past>,
    part: Part,
}

impl Lines {
    /// Gets them from rank 0: all ranks call it at the same place of their program. `None` on all if there is no room.
    pub fn establish(rank: usize, peers: &[Option<Peer>], executor: &mut dyn Executor) -> Result<Option<Lines>> {
        let size = peers.len();
        let wanted = Wanted {
            bytes: wire::bytes(size),
            spare: 0,
            zeros: wire::head_bytes(size),
            departed: wire::DEPARTED,
            users: size as u64,
        };
        let Some(part) = Part::establish((rank, peers), ("lines", wanted), executor)? else { return Ok(None) };
        let lines = Lines::over(part, rank, size);
        lines.past.lock().look = 0;
        Ok(Some(lines))
    }

    /// The lines of `size` ranks in memory whose head is all zeros.
    pub fn over(part: Part, rank: usize, size: usize) -> Lines {
        let (counts, cores) = ([0; wire::TURNS], Cores::default());
        let past = ConditionalLock::new(Past { number: 0, met: 0, cores, look: u64::MAX, counts, owed: [0; 2] });
        let flag = |rank, parity| {
            let at = wire::flag(rank, parity);
            Flag { number: part.shared.word(at), value: part.shared.word(at + 8) }
        };
        let flags = [0, 1].map(|rank| [0, 1].map(|parity| flag(rank, parity)));
        let words = |turn| {
            let word = |at| part.shared.word(at);
            Words { count: word(wire::count(turn, size)), release: word(wire::release(turn, size)) }
        };
        let turns = (0..wire::TURNS).map(words).collect();
        Lines { part, rank, size, flags, turns, past }
    }

    /// The memory.
    #[inline(always)]
    pub fn shared(&self) -> &Shared {
        &self.part.shared
    }

    /// Waits until the word has reached `wanted`.
    #[inline(always)]
    pub fn await_word(word: &AtomicU64, wanted: u64) -> Result<()> {
        // Acquire pairs with the Release of whoever tells: what it wrote before is there.
        let there = || word.load(Ordering::Acquire) >= wanted;
        let spinning = wait::may_spin();
        for _ in 0..wait::polls_per_pass() {
            if there() {
                return Ok(());
            }
            // With more ranks than cores who is waited for may need this one, and ten pauses take half a microsecond.
            if spinning {
                core::hint::spin_loop();
            }
        }
        Self::await_long(word, wanted)
    }

    /// As [`Lines::await_word`] for who shares its core.
    #[cfg(not(loom))]
    #[inline(never)]
    pub fn await_beside(word: &AtomicU64, wanted: u64, core: &Core) -> Result<()> {
        // Acquire as above.
        let there = || word.load(Ordering::Acquire) >= wanted;
        let mut idle = wait::Backoff::after_polls();
        loop {
            for _ in 0..core.polls() {
                if there() {
                    return Ok(());
                }
                core::hint::spin_loop();
            }
            idle.step_unless(&there)?;
        }
    }

    #[cfg(loom)]
    pub fn await_beside(word: &AtomicU64, wanted: u64, _: &Core) -> Result<()> {
        Self::await_long(word, wanted)
    }

    /// A model's ranks are threads of one process: passes of progress would take locks that ranks do not share, and these
    /// would order what nothing orders between ranks.
    #[cfg(loom)]
    fn await_long(word: &AtomicU64, wanted: u64) -> Result<()> {
        opal_core::sync::model::await_value(word, Ordering::Acquire, |value| value >= wanted);
        Ok(())
    }

    #[cfg(not(loom))]
    #[inline(never)]
    fn await_long(word: &AtomicU64, wanted: u64) -> Result<()> {
        // Acquire as above.
        let there = || word.load(Ordering::Acquire) >= wanted;
        let mut idle = wait::Backoff::after_polls();
        // With more ranks than cores this one has just waited for its turn on the core: a look is enough.
        let polls = if wait::may_spin() { wait::polls_per_pass() } else { 1 };
        loop {
            idle.step_unless(&there)?;
            for _ in 0..polls {
                if there() {
                    return Ok(());
                }
                core::hint::spin_loop();
            }
        }
    }
}
