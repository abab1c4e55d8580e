//! The suite of framework ess for those components that need no launcher.

use test_conformance::ess::suite;

opal_core::image![opal_core::framework::atomics, memcpy_portable, ess_singleton];

#[test]
fn singleton() {
    suite(&ess_singleton::COMPONENT);
}
