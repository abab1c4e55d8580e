//! The suite of framework memcpy: every size and alignment, and nothing beside them.

use opal_core::framework::{self, memcpy};
use test_statics::memcpy as suite;

opal_core::image![framework::atomics, memcpy_template, memory_none, timer_clock];

#[test]
fn conformance() {
    framework::open_static().expect("it runs here");
    suite::small_sizes_at_every_alignment(memcpy::copy);
    suite::large_sizes(memcpy::copy);
    suite::trailing(memcpy::copy);
    suite::neighbours(memcpy::copy);
}
