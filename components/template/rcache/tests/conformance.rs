//! The suite of framework rcache: no registration outlives its memory.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock, rcache_template];

#[test]
fn conformance() {
    test_conformance::declined::opened(&rcache_template::COMPONENT);
    test_conformance::rcache::suite(&rcache_template::COMPONENT).expect("no registration outlives its memory");
}
