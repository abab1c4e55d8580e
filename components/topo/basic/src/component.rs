//! Registration.

use alloc::vec::Vec;
use ompi_core::framework::topo::{self, Pattern, Place};
use opal_core::mca::{self, Declined};

/// The component.
pub struct BasicTopo;

impl mca::Component for BasicTopo {
    opal_core::component_info!();
}

impl topo::Component for BasicTopo {
    fn query(&self) -> Result<i32, Declined> {
        Ok(10)
    }

    fn order(&self, pattern: &Pattern, _places: &[Place]) -> Vec<usize> {
        (0..pattern.edges.len()).collect()
    }
}

opal_core::component! {
    /// Every process keeps its rank.
    pub static COMPONENT: BasicTopo = BasicTopo;
    in ompi_core::framework::topo, name "basic", params &[]
}
