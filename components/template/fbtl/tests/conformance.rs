//! The suite of framework fbtl: every byte lands at its place, and the end of a file is told.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock, fbtl_template];

#[test]
fn conformance() {
    test_conformance::declined::opened(&fbtl_template::COMPONENT);
    test_conformance::fbtl::suite(&fbtl_template::COMPONENT).expect("every promise is kept");
}
