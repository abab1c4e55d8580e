//! The suite of framework topo: each rank gets a place of its own, at no higher cost.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock, topo_template];

#[test]
fn conformance() {
    test_conformance::declined::opened(&topo_template::COMPONENT);
    test_conformance::topo::suite(&topo_template::COMPONENT).expect("every rank has its place");
}
