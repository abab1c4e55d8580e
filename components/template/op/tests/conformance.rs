//! The suite of framework op: every kernel against op/scalar's, bit for bit.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, op_scalar, op_template, timer_clock];

#[test]
fn conformance() {
    test_conformance::declined::opened(&op_template::COMPONENT);
    let compared = test_conformance::op::suite(&op_template::COMPONENT, &op_scalar::COMPONENT);
    assert!(compared.expect("bits are equal") > 0, "it offers no kernel");
}
