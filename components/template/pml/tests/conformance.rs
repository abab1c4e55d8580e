//! That it opens. The suite of framework pml are the programs of tests/c: `cargo xtask new` says how to run them with it.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, pml_template, timer_clock];

#[test]
fn it_opens() {
    test_conformance::declined::opened(&pml_template::COMPONENT);
}
