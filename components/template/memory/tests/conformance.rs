//! The suite of framework memory: what goes away is told.

use opal_core::framework;

opal_core::image![framework::atomics, memcpy_portable, memory_template, timer_clock];

#[test]
fn conformance() {
    framework::open_static().expect("it runs here");
    test_statics::memory::keeps_its_word();
}
