//! One reading of each clock.

use std::hint::black_box;
use std::time::Instant;

#[expect(dead_code, reason = "the component's own file; what it asks when it is opened is not measured")]
#[path = "../../../components/timer/tsc/src/raw.rs"]
mod tsc;

/// Prints nanoseconds per reading, the least of the rounds.
pub fn table() {
    println!("\ntimer: ns per reading");
    println!("{:>10}{:>11.1}", "clock", least(opal_core::sys::monotonic_ns));
    if tsc::invariant() {
        println!("{:>10}{:>11.1}", "tsc", least(tsc::ticks));
    }
}

fn least(read: impl Fn() -> u64) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..50 {
        let begin = Instant::now();
        for _ in 0..10_000 {
            black_box(read());
        }
        least = least.min(begin.elapsed().as_nanos() as f64 / 10_000.0);
    }
    least
}
