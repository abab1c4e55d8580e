//! That it opens. The suite of framework bml are the programs of tests/c: `cargo xtask new` says how to run them with it.

opal_core::image![opal_core::framework::atomics, bml_template, memcpy_portable, memory_none, timer_clock];

#[test]
fn it_opens() {
    test_conformance::declined::opened(&bml_template::COMPONENT);
}
