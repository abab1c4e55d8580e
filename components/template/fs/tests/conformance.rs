//! The suite of framework fs: files are made, told, resized and deleted.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock, fs_template];

#[test]
fn conformance() {
    test_conformance::declined::opened(&fs_template::COMPONENT);
    test_conformance::fs::suite(&fs_template::COMPONENT).expect("every promise is kept");
}
