//! What tells jobs apart: 64 bits, random but for the number that people call a job by.
//!
//! The launcher that a user started counts its jobs from 1: that of its command line, then those that processes spawn. Jobs of other
//! launchers have the same numbers, and other random bits.

/// The job of this number; of `random` the upper bits count.
pub fn numbered(random: u64, number: u32) -> u64 {
    random & !NUMBER | u64::from(number) & NUMBER
}

/// The number of a job among those of its launcher.
pub fn number_of(job: u64) -> u32 {
    (job & NUMBER) as u32
}

/// Sixteen million jobs of one launcher.
const NUMBER: u64 = 0xff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_its_number() {
        let job = numbered(u64::MAX, 3);
        assert_eq!((number_of(job), job >> 24), (3, u64::MAX >> 24));
        assert_ne!(numbered(1 << 40, 1), numbered(2 << 40, 1));
    }
}
