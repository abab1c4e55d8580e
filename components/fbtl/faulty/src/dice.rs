//! Which fault comes next.

use crate::params;
use ompi_core::framework::fbtl::AccessKind;
use opal_core::framework::btl;
use opal_core::mca::Param;
use opal_core::mca::pvar::Counter;
use opal_core::random::Dice;
use opal_core::sync::ConditionalLock;
use opal_core::sys::Errno;

/// Calls that moved less.
pub static SHORTENED: Counter = Counter::new();
/// Calls that a signal ended.
pub static INTERRUPTED: Counter = Counter::new();
/// Times that a file was cut.
pub static TRUNCATED: Counter = Counter::new();
/// Calls that were refused.
pub static REFUSED: Counter = Counter::new();
/// Bytes that were read.
pub static READ_BYTES: Counter = Counter::new();
/// Bytes that were written.
pub static WRITTEN_BYTES: Counter = Counter::new();

/// How many of a million calls have each fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chances {
    /// Less is moved.
    pub short: u64,
    /// A signal ends it.
    pub interrupt: u64,
    /// The file is cut; of calls that read.
    pub truncate: u64,
    /// It is refused.
    pub refuse: u64,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// So many bytes at most are moved, one at least.
    Short(usize),
    /// A signal ends it.
    Interrupt,
    /// The file ends behind so many of its bytes.
    Truncate(usize),
    /// The system says this.
    Refuse(Errno),
}

static DICE: Dice<Chances> = Dice::new();

/// From now on the faults are these, from this seed.
pub fn reseed(seed: u64, chances: Chances) {
    DICE.reseed(seed, chances);
}

/// The seed and the chances of the parameters.
pub fn seed() {
    let of = |param: &Param| param.size() as u64;
    let rank = btl::job().map_or(0, |job| u64::from(job.index));
    let chances = Chances {
        short: of(&params::SHORT),
        interrupt: of(&params::INTERRUPT),
        truncate: of(&params::TRUNCATE),
        refuse: of(&params::REFUSE),
    };
    reseed(of(&params::SEED) << 32 | rank, chances);
}

/// The fault of the next call, for so many bytes.
pub fn roll(direction: AccessKind, wanted: usize) -> Fault {
    if wanted == 0 {
        return Fault::None;
    }
    let (limit, moved) = match direction {
        AccessKind::Read => (params::READ_LIMIT.int(), READ_BYTES.now()),
        AccessKind::Write => (params::WRITE_LIMIT.int(), WRITTEN_BYTES.now()),
    };
    // No limit is below 0.
    let left = u64::try_from(limit).ok().map(|limit| limit.saturating_sub(moved));
    if left == Some(0) {
        count(&REFUSED, 1);
        return Fault::Refuse(refusal());
    }
    let left = left.map_or(wanted, |left| usize::try_from(left).unwrap_or(usize::MAX));
    let fault = thrown(direction, wanted);
    match fault {
        Fault::None if left < wanted => Fault::Short(left),
        Fault::Short(bytes) => Fault::Short(bytes.min(left)),
        other => other,
    }
}

fn thrown(direction: AccessKind, wanted: usize) -> Fault {
    let fault = DICE.roll(|random, chances| {
        let mut happens = |chance| random.happens_of_a_million(chance);
        if happens(chances.refuse) {
            count(&REFUSED, 1);
            Fault::Refuse(refusal())
        } else if happens(chances.interrupt) {
            INTERRUPTED.count();
            Fault::Interrupt
        } else if direction == AccessKind::Read && happens(chances.truncate) {
            TRUNCATED.count();
            Fault::Truncate(random.below(wanted as u64) as usize)
        } else if happens(chances.short) {
            SHORTENED.count();
            Fault::Short(1 + random.below(wanted as u64) as usize)
        } else {
            Fault::None
        }
    });
    fault.unwrap_or(Fault::None)
}

/// Of several threads outside of the dice's lock.
pub fn count(counter: &Counter, some: u64) {
    static ONE_AT_A_TIME: ConditionalLock<()> = ConditionalLock::new(());
    let _alone = ONE_AT_A_TIME.lock();
    counter.add(some);
}

fn refusal() -> Errno {
    match params::ERRNO.text() {
        "ENOSPC" => Errno::NOSPC,
        "EDQUOT" => Errno::DQUOT,
        "EACCES" => Errno::ACCES,
        "EFBIG" => Errno::FBIG,
        _ => Errno::IO,
    }
}
