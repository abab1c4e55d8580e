//! The suite of framework ess. Jobs of several processes are for the programs of tests/c.

opal_core::image![opal_core::framework::atomics, ess_template, memcpy_portable, memory_none, timer_clock];

#[test]
fn conformance() {
    test_conformance::ess::suite(&ess_template::COMPONENT);
}
