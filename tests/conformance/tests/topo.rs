//! The suite of framework topo for every component, and that the suite sees a mistake.

use ompi_core::framework::topo::{Component, Pattern, Place};
use opal_core::mca::{self, Declined};
use test_conformance::topo::suite;

opal_core::image![opal_core::framework::atomics, memcpy_portable, topo_basic, topo_treematch];

#[test]
fn basic() {
    assert_eq!(suite(&topo_basic::COMPONENT), Ok(84));
}

#[test]
fn treematch() {
    assert_eq!(suite(&topo_treematch::COMPONENT), Ok(84));
}

/// The last rank gets the first one's place.
struct Wrong;

impl mca::Component for Wrong {
    fn info(&self) -> &'static mca::Info {
        topo_basic::COMPONENT.info()
    }
}

impl Component for Wrong {
    fn query(&self) -> Result<i32, Declined> {
        Ok(0)
    }

    fn order(&self, pattern: &Pattern, places: &[Place]) -> Vec<usize> {
        let mut order = topo_basic::COMPONENT.order(pattern, places);
        if let [first, .., last] = &mut order[..] {
            *last = *first;
        }
        order
    }
}

#[test]
fn a_mistake_is_seen() {
    assert!(suite(&Wrong).unwrap_err().contains("place 0 is given to two ranks"));
}
