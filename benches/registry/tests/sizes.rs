//! The baseline is what it was, all encodings say the same, and ours is as much smaller as the pages claim.

use bench_registry::job::Job;
use bench_registry::{baseline, compact, numeric};

/// The baseline's message for 16 processes was written down before the registry's own format was.
#[test]
fn the_baseline_is_what_it_was() {
    assert!(
        baseline::encode(&Job::new(16, 4)) == include_bytes!("../golden/baseline-16.bin"),
        "the baseline must not change"
    );
}

#[test]
fn every_encoding_tells_of_the_same_job() {
    for (ranks, per_node) in [(1, 1), (16, 4), (100, 7), (5000, 64)] {
        let job = Job::new(ranks, per_node);
        assert_eq!(baseline::decode(&baseline::encode(&job)).as_ref(), Some(&job));
        assert_eq!(compact::decode(&compact::encode(&job)).as_ref(), Some(&job));
        assert_eq!(numeric::decode(&numeric::registry(&job, true).image()).as_ref(), Some(&job));
    }
}

#[test]
fn numbers_are_fifteen_times_smaller_than_the_baseline() {
    for ranks in [16, 256, 4096, 65536] {
        let job = Job::new(ranks, 4);
        let strings = baseline::encode(&job).len();
        let ours = numeric::registry(&job, true).image().len();
        assert!(strings >= 15 * ours, "{ranks} ranks: {strings} bytes of strings, {ours} of numbers");
    }
}
