//! The memory suite for memory/none.

use opal_core::framework;

opal_core::image![framework::atomics, memcpy_portable, memory_none, timer_clock];

#[test]
fn keeps_its_word() {
    framework::open_static().unwrap();
    test_statics::memory::keeps_its_word();
}
