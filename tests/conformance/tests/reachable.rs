//! The suite of framework reachable for every component, and that the suite sees a mistake.

use opal_core::framework::reachable::{Component, End, Module, Nearness};
use opal_core::mca::{self, Declined};
use test_conformance::reachable::suite;

opal_core::image![opal_core::framework::atomics, memcpy_portable, reachable_netlink, reachable_weighted];

#[test]
fn weighted() {
    assert!(suite(&reachable_weighted::COMPONENT).unwrap() > 0, "private and public addresses are not told apart");
}

#[test]
fn netlink() {
    assert!(suite(&reachable_netlink::COMPONENT).is_ok());
}

/// Takes everything for this machine.
struct Wrong;

impl mca::Component for Wrong {
    fn info(&self) -> &'static mca::Info {
        reachable_weighted::COMPONENT.info()
    }
}

impl Component for Wrong {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        Ok((0, &Wrong))
    }
}

impl Module for Wrong {
    fn nearness(&self, _own: &End, _theirs: &End, _by_address: Nearness) -> Nearness {
        Nearness::Loopback
    }
}

#[test]
fn a_mistake_is_seen() {
    assert!(suite(&Wrong).unwrap_err().contains("is another machine"));
}
