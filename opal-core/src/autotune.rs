//! Choice of an algorithm by measurement, where it is not known beforehand which of several candidates is the fastest.
//!
//! A *sampling* takes [`RUN`] measurements of each candidate. The least one counts, because a disturbance only makes times
//! longer. The cheapest candidate is used until the next sampling. The more often the verdict stays the same, the later the
//! next sampling comes. The caller defines one measurement ([`Autotuner::count`]) and decides which candidate is clearly
//! cheaper ([`Autotuner::settle`]).
//!
//! Where one process decides alone ([`Autotuner::ALONE`]), a sampling begins with the candidate in use, and one that costs
//! half as much again loses the rest of its turn. Several processes that decide together cannot do that: each measures for itself.

/// What is known of so many candidates, numbered from 0.
#[derive(Clone, Copy, Debug)]
pub struct Autotuner<const N: usize = 2> {
    // `None` before the first sampling is over.
    settled: Option<usize>,
    // In this sampling, by candidate.
    costs: [u64; N],
    // Measurements until this sampling ends; 0 between samplings.
    left: u32,
    // Uses until the next one begins, 0 if none does, and how many there were between the last two.
    rest: u32,
    interval: u32,
    alone: bool,
}

impl<const N: usize> Autotuner<N> {
    /// Nothing is known: the first sampling begins.
    pub const UNKNOWN: Self = Autotuner {
        settled: None,
        costs: [u64::MAX; N],
        left: Self::LENGTH,
        rest: 0,
        interval: FIRST_INTERVAL,
        alone: false,
    };

    /// The same where nobody else must try the same candidate at the same time.
    pub const ALONE: Self = Autotuner { alone: true, ..Self::UNKNOWN };

    const LENGTH: u32 = N as u32 * RUN;

    /// There is nothing to find out.
    pub const fn forced(candidate: usize) -> Self {
        Autotuner { settled: Some(candidate), left: 0, ..Self::UNKNOWN }
    }

    /// The candidate to take now.
    pub fn current(&self) -> usize {
        match self.left {
            0 => self.settled.unwrap_or(0),
            left => self.candidate(((Self::LENGTH - left) / RUN) as usize),
        }
    }

    // Whose turn is the one with this number.
    fn candidate(&self, turn: usize) -> usize {
        match self.settled {
            Some(settled) if self.alone && turn == 0 => settled,
            Some(settled) if self.alone && turn <= settled => turn - 1,
            _ => turn,
        }
    }

    /// Whether what happens now is measured.
    pub fn is_on(&self) -> bool {
        self.left > 0
    }

    /// The last verdict.
    pub fn verdict(&self) -> Option<usize> {
        self.settled
    }

    /// The least cost of each candidate in the last sampling.
    pub fn costs(&self) -> [u64; N] {
        self.costs
    }

    /// [`Autotuner::current`] was taken once more: its cost, if it was measured. `true`: that was the sampling's last, and
    /// [`Autotuner::settle`] must be called.
    #[must_use]
    pub fn count(&mut self, cost: Option<u64>) -> bool {
        if self.left == 0 {
            if self.rest == 1 {
                (self.left, self.costs) = (Self::LENGTH, [u64::MAX; N]);
            }
            self.rest = self.rest.saturating_sub(1);
            return false;
        }
        // What began before the sampling did was not measured.
        let Some(cost) = cost else { return false };
        let current = self.current();
        self.costs[current] = cost.min(self.costs[current]);
        self.left -= 1;
        if self.alone && self.is_hopeless(current) {
            self.left -= self.left % RUN;
        }
        self.left == 0
    }

    // One measurement proves nothing: it may have found everything cold, or another process on the core.
    fn is_hopeless(&self, current: usize) -> bool {
        let (cost, measured) = (self.costs[current], RUN - self.left % RUN);
        let others = self.costs.iter().enumerate().filter(|(candidate, _)| *candidate != current);
        let best = others.map(|(_, cost)| *cost).min().unwrap_or(u64::MAX);
        let proven = cost == u64::MAX || measured >= 2;
        proven && cost / 3 >= best / 2
    }

    /// Ends a sampling; says whether the verdict is another one than before.
    pub fn settle(&mut self, candidate: usize) -> bool {
        let same = self.settled == Some(candidate);
        self.interval = if same { (self.interval * 2).min(LAST_INTERVAL) } else { FIRST_INTERVAL };
        (self.settled, self.rest) = (Some(candidate), self.interval);
        !same
    }
}

/// Measurements of each candidate in a sampling: the first ones find caches as the other candidate left them.
pub const RUN: u32 = 4;
/// Uses between samplings. The first one comes soon: the very first uses wait for pages of memory.
pub const FIRST_INTERVAL: u32 = 16;
/// The longest time between samplings.
pub const LAST_INTERVAL: u32 = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    fn run<const N: usize>(tuner: &mut Autotuner<N>, costs: [u64; N]) -> u32 {
        let mut uses = 0;
        loop {
            uses += 1;
            let cost = tuner.is_on().then(|| costs[tuner.current()]);
            if tuner.count(cost) {
                tuner.settle((0..N).min_by_key(|candidate| costs[*candidate]).unwrap_or(0));
                return uses;
            }
        }
    }

    #[test]
    fn the_cheaper_way_is_taken_and_trials_become_rare() {
        let mut tuner = Autotuner::UNKNOWN;
        assert_eq!((run(&mut tuner, [5, 3]), tuner.current(), tuner.costs()), (2 * RUN, 1, [5, 3]));
        assert_eq!(run(&mut tuner, [5, 3]), FIRST_INTERVAL + 2 * RUN);
        assert_eq!(run(&mut tuner, [5, 3]), 2 * FIRST_INTERVAL + 2 * RUN);
        // Another verdict: the next trial comes soon.
        assert_eq!((run(&mut tuner, [2, 3]), tuner.current()), (4 * FIRST_INTERVAL + 2 * RUN, 0));
        assert_eq!(run(&mut tuner, [2, 3]), FIRST_INTERVAL + 2 * RUN);
    }

    #[test]
    fn of_three_ways_each_has_its_turn() {
        let mut tuner = Autotuner::UNKNOWN;
        assert_eq!((run(&mut tuner, [5, 3, 4]), tuner.current(), tuner.costs()), (3 * RUN, 1, [5, 3, 4]));
        assert_eq!((run(&mut tuner, [5, 3, 2]), tuner.current()), (FIRST_INTERVAL + 3 * RUN, 2));
    }

    #[test]
    fn who_decides_alone_tries_what_is_in_use_first_and_what_is_hopeless_twice() {
        let mut tuner = Autotuner::<3>::ALONE;
        assert_eq!((run(&mut tuner, [5, 8, 4]), tuner.current(), tuner.costs()), (RUN + 2 + RUN, 2, [5, 8, 4]));
        (0..FIRST_INTERVAL).for_each(|_| assert!(!tuner.count(None)));
        let mut order = std::vec::Vec::new();
        while tuner.is_on() {
            order.push(tuner.current());
            if tuner.count(Some([4, 6, 4][tuner.current()])) {
                tuner.settle(2);
            }
        }
        assert_eq!(order, [2, 2, 2, 2, 0, 0, 0, 0, 1, 1]);
        // A first one that is disturbed, and what cannot be at all.
        let mut tuner = Autotuner::<2>::ALONE;
        (0..RUN).for_each(|_| assert!(!tuner.count(Some(4))));
        assert!(!tuner.count(Some(400)) && !tuner.count(Some(3)) && !tuner.count(Some(400)) && tuner.count(Some(400)));
        let mut tuner = Autotuner::<2>::ALONE;
        (0..RUN).for_each(|_| assert!(!tuner.count(Some(4))));
        assert!(tuner.count(Some(u64::MAX)));
    }

    #[test]
    fn what_is_forced_or_not_measured_decides_nothing() {
        let mut forced = Autotuner::<2>::forced(1);
        assert!((0..100).all(|_| !forced.count(Some(1)) && forced.current() == 1 && !forced.is_on()));
        let mut tuner = Autotuner::<2>::UNKNOWN;
        assert!((0..100).all(|_| !tuner.count(None) && tuner.is_on()));
    }
}
