//! The suite of framework reachable: the same question has the same answer, at once.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, reachable_template, timer_clock];

#[test]
fn conformance() {
    test_conformance::declined::opened(&reachable_template::COMPONENT);
    test_conformance::reachable::suite(&reachable_template::COMPONENT).expect("ways are said as the framework wants");
}
