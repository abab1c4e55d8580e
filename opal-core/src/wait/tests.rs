//! Sleeps that threads of the same process end.

use super::*;
use crate::sync::raise_threads;
use std::time::{Duration, Instant};

/// Sleeps last until they are ended: a time in which no test is late is a failure. Without locks of the standard library, of
/// which ThreadSanitizer knows nothing.
struct Patient(AtomicU32);

impl Waker for Patient {
    fn arm(&self, _how: WakeMethod, _awaits_room: bool) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    fn sleep(&self, ticket: u32, _at_most_us: u64) -> bool {
        let start = Instant::now();
        while self.0.load(Ordering::SeqCst) == ticket {
            assert!(start.elapsed() < Duration::from_secs(20), "nobody woke the sleeper");
            std::thread::sleep(Duration::from_micros(50));
        }
        true
    }

    fn disarm(&self) -> bool {
        false
    }

    fn wake_threads(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn descriptor(&self) -> Option<i32> {
        None
    }
}

static PATIENT: Patient = Patient(AtomicU32::new(0));

#[test]
fn a_sleep_of_which_nobody_tells_makes_a_wait_little_longer() {
    let sleeps = [0, 1_000_000, 4_000_000, 8_000_000, 1_000_000_000].map(sleep::short_us);
    assert_eq!(sleeps, [50, 125, 500, 1000, 1000]);
}

#[test]
fn another_thread_that_completes_ends_a_sleep() {
    raise_threads();
    set_waker(&PATIENT);
    for round in 0..10 {
        static DONE: AtomicU32 = AtomicU32::new(0);
        let other = std::thread::spawn(move || {
            // Long enough for the waiter to fall asleep now and then; either order is right.
            std::thread::sleep(Duration::from_millis(round % 4));
            DONE.fetch_add(1, Ordering::SeqCst);
            wake_threads();
        });
        let mut found = 0;
        until(|| {
            let is_done = DONE.load(Ordering::Acquire) as u64 > round;
            found += u32::from(is_done);
            is_done
        })
        .unwrap();
        assert_eq!(found, 1, "who found it is not asked again");
        other.join().unwrap();
    }
}
