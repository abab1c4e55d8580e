//! The timer suite for timer/clock.

use opal_core::framework;
use test_statics::timer;

opal_core::image![framework::atomics, memcpy_portable, memory_none, timer_clock];

#[test]
fn never_goes_back() {
    framework::open_static().expect("this processor's counter is not invariant");
    timer::never_goes_back();
}

#[test]
fn keeps_time() {
    framework::open_static().expect("this processor's counter is not invariant");
    timer::keeps_time();
}

#[test]
fn image_is_whole() {
    opal_core::mca::image::verify(framework::ALL).unwrap();
}
