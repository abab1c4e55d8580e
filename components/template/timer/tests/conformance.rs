//! The suite of framework timer: never goes back, and keeps time.

use opal_core::framework;
use test_statics::timer;

opal_core::image![framework::atomics, memcpy_portable, memory_none, timer_template];

#[test]
fn conformance() {
    framework::open_static().expect("it runs here");
    timer::never_goes_back();
    timer::keeps_time();
}
