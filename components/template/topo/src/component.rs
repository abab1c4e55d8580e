//! Registration.

use alloc::vec::Vec;
use ompi_core::framework::topo::{self, Pattern, Place};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: nothing, as a rule.
        Err(Declined(NOT_WRITTEN))
    }
}

impl topo::Component for Component {
    fn query(&self) -> Result<i32, Declined> {
        // 2. The highest one that accepts is used: topo/treematch has 20, topo/basic 10.
        Ok(5)
    }

    fn order(&self, pattern: &Pattern, _places: &[Place]) -> Vec<usize> {
        // 3. Every process keeps its rank, which is always allowed. Anything that `topo::cost` calls less is better.
        (0..pattern.edges.len()).collect()
    }
}

opal_core::component! {
    /// A placement of ranks that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::topo, name "template", params &[]
}

const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
