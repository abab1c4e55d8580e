//! Numbers that look random and come again from the same seed: for faults that are made on purpose and for their tests. What
//! nobody may guess comes from `sys::random`.

use crate::sync::ConditionalLock;

/// Splitmix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed, any number.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Whether something happens that happens `times` times `of` so many.
    pub fn happens(&mut self, times: u64, of: u64) -> bool {
        self.below(of) < times
    }

    /// Whether something happens that happens so many times of a million. What never happens takes no number.
    pub fn happens_of_a_million(&mut self, times: u64) -> bool {
        times > 0 && self.happens(times, 1_000_000)
    }
}

/// What a component throws to make faults on purpose, by chances of its own kind. Any thread may throw them.
pub struct Dice<C>(ConditionalLock<Option<(Random, C)>>);

impl<C> Dice<C> {
    /// Without a seed: they say nothing.
    pub const fn new() -> Dice<C> {
        Dice(ConditionalLock::new(None))
    }

    /// From now on they fall as this seed and these chances say.
    pub fn reseed(&self, seed: u64, chances: C) {
        *self.0.lock() = Some((Random::new(seed), chances));
    }

    /// What `fall` makes of the next numbers and the chances; `None` without a seed.
    pub fn roll<T>(&self, fall: impl FnOnce(&mut Random, &C) -> T) -> Option<T> {
        self.0.lock().as_mut().map(|(random, chances)| fall(random, chances))
    }
}

impl<C> Default for Dice<C> {
    fn default() -> Dice<C> {
        Dice::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers from seed 1234567, as published with the generator.
    #[test]
    fn published_values() {
        let mut random = Random::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.number(), random.number(), random.number()], expected);
    }

    #[test]
    fn dice_fall_again_as_they_fell() {
        let dice = Dice::new();
        let roll = || dice.roll(|random, chance| random.happens_of_a_million(*chance).then(|| random.number()));
        assert_eq!(roll(), None, "without a seed");
        let mut falls = [7, 7, 8].map(|seed| {
            dice.reseed(seed, 500_000);
            [roll(), roll(), roll(), roll()]
        });
        assert!(falls[0] == falls[1] && falls[0] != falls[2], "{falls:?}");
        falls[0].sort_unstable();
        assert!(falls[0][0] == Some(None) && falls[0][3] > Some(None), "half of them: {falls:?}");
        dice.reseed(7, 0);
        assert_eq!([roll(), roll()], [Some(None); 2]);
    }
}
