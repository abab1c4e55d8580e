//! Numbers that look random and come again from the same seed: for faults that are made on purpose and for their tests. What
//! nobody may guess comes from `sys::random`.

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
}
