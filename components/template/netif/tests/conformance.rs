//! The suite of framework netif: what a card says of itself, and frames that are as long as they may be.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, netif_template, timer_clock];

#[test]
fn conformance() {
    test_conformance::netif::suite(&netif_template::COMPONENT);
}
