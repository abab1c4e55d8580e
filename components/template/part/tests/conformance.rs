//! That it opens. The suite of framework part is tests/c/partitioned.c: `cargo xtask new` says how to run it with this component.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, part_template, timer_clock];

#[test]
fn it_opens() {
    test_conformance::declined::opened(&part_template::COMPONENT);
}
