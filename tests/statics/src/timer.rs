//! The suite that every clock must pass, through the framework's own functions.

use opal_core::framework::timer::{frequency, ticks};
use std::time::{Duration, Instant};

/// Readings by one thread never decrease. The thread may move: clocks of this suite hold on all cores of a node.
pub fn never_goes_back() {
    let mut last = ticks();
    for _ in 0..1_000_000 {
        let now = ticks();
        assert!(now >= last, "{now} after {last}");
        last = now;
    }
    let begin = ticks();
    std::thread::sleep(Duration::from_millis(2));
    assert!(ticks() > begin, "the clock stands still");
}

/// Within a thousandth of the system's monotonic clock over 200 ms; the frequency does not change meanwhile.
pub fn keeps_time() {
    let hertz = frequency();
    assert!(hertz >= 1);
    // Losing the core between two readings makes a try useless, not the clock wrong: the best of a few counts.
    let mut worst = f64::MAX;
    for _ in 0..5 {
        let (wall, begin) = (Instant::now(), ticks());
        while wall.elapsed() < Duration::from_millis(200) {
            std::thread::yield_now();
        }
        let (wall, end) = (wall.elapsed().as_secs_f64(), ticks());
        worst = worst.min(((end - begin) as f64 / hertz as f64 / wall - 1.0).abs());
    }
    assert!(worst < 1e-3, "off by {:.4} % at {hertz} Hz", worst * 100.0);
    assert_eq!(frequency(), hertz);
}
