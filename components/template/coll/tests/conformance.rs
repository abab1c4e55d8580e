//! The suite of framework coll: whatever it serves against coll/basic, byte for byte.

opal_core::image![
    opal_core::framework::atomics,
    coll_basic,
    coll_template,
    memcpy_portable,
    memory_none,
    op_scalar,
    timer_clock
];

#[test]
fn conformance() {
    test_coll::suite(&coll_template::COMPONENT);
}
