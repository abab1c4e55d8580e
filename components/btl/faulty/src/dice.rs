//! Which fault comes next.

use crate::params;
use opal_core::framework::btl;
use opal_core::mca::Param;
use opal_core::mca::pvar::Counter;
use opal_core::random::Dice;

/// Messages with a changed bit.
pub static CORRUPTED: Counter = Counter::new();
/// Messages that vanished.
pub static DROPPED: Counter = Counter::new();
/// Messages that were sent twice.
pub static DUPLICATED: Counter = Counter::new();
/// Messages that others overtook.
pub static REORDERED: Counter = Counter::new();
/// Messages that were delayed.
pub static DELAYED: Counter = Counter::new();
/// Sends that were refused.
pub static REFUSED: Counter = Counter::new();

/// How many of a million messages have each fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chances {
    /// One bit is changed.
    pub corrupt: u64,
    /// It vanishes.
    pub drop: u64,
    /// It arrives twice.
    pub duplicate: u64,
    /// Later ones overtake it.
    pub reorder: u64,
    /// It is delayed.
    pub delay: u64,
    /// The longest delay, in µs.
    pub delay_us: u64,
    /// Its send is refused.
    pub refuse: u64,
}

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// The bit with this number is changed, counted modulo the bits that there are.
    Corrupt(u64),
    /// It vanishes.
    Drop,
    /// It is sent twice.
    Duplicate,
    /// It leaves after so many later ones.
    Reorder(u32),
    /// It leaves after so many ns.
    Delay(u64),
    /// There is no room for it.
    Refuse,
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
        corrupt: of(&params::CORRUPT),
        drop: of(&params::DROP),
        duplicate: of(&params::DUPLICATE),
        reorder: of(&params::REORDER),
        delay: of(&params::DELAY),
        delay_us: of(&params::DELAY_US),
        refuse: of(&params::REFUSE),
    };
    reseed(of(&params::SEED) << 32 | rank, chances);
}

/// The fault of the next message. It is made, and counted, only if there is room for the message.
pub fn roll() -> Fault {
    let fault = DICE.roll(|random, chances| {
        let mut happens = |chance| random.happens_of_a_million(chance);
        if happens(chances.refuse) {
            Fault::Refuse
        } else if happens(chances.drop) {
            Fault::Drop
        } else if happens(chances.corrupt) {
            Fault::Corrupt(random.number())
        } else if happens(chances.duplicate) {
            Fault::Duplicate
        } else if happens(chances.reorder) {
            Fault::Reorder(1 + random.below(OVERTAKE_MOST) as u32)
        } else if happens(chances.delay) {
            Fault::Delay(random.below(1000 * chances.delay_us.max(1)))
        } else {
            Fault::None
        }
    });
    fault.unwrap_or(Fault::None)
}

const OVERTAKE_MOST: u64 = 4;
