//! That it opens. The suite of framework fcoll are the programs file_*.c of tests/c: `cargo xtask new` says how to run them with it.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock, fcoll_template];

#[test]
fn it_opens() {
    test_conformance::declined::opened(&fcoll_template::COMPONENT);
}
