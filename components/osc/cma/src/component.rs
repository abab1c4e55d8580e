//! Registration.

use crate::module::Memory;
use alloc::sync::Arc;
use ompi_core::error::Result as MpiResult;
use ompi_core::framework::osc::{self, Flavor, Module, Part, Plan};
use ompi_core::single_copy;
use ompi_core::win::node::{self, Layout, NodeModule, Peers, SharedWords};
use opal_core::mca::{self, Declined};

/// The component.
pub struct CmaOsc;

impl mca::Component for CmaOsc {
    opal_core::component_info!();
}

impl osc::Component for CmaOsc {
    fn query(&self, plan: &Plan) -> Result<i32, Declined> {
        if matches!(plan.flavor, Flavor::Allocate | Flavor::Shared) {
            return Err(Declined("memory that MPI makes can be mapped by others; osc/sm does that"));
        }
        Peers::of(&plan.comm).ok_or(Declined("not all processes are on this one's node"))?;
        single_copy::endpoints(&plan.comm).ok_or(Declined(
            "the system copies nothing to or from some process; --mca smsc_base_verbose 10 says why",
        ))?;
        Ok(PRIORITY)
    }

    fn create(&self, plan: &Plan, parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        let own = [plan.base.expose_provenance() as u64, 0, 0, 0];
        let SharedWords { words, told, .. } = node::share(&plan.comm, Layout::of_words(parts.len()), own)?;
        let endpoints = single_copy::endpoints(&plan.comm).ok_or_else(node::no_memory)?;
        let memory = Memory::new(plan, parts, &told, endpoints);
        Ok(Arc::new(NodeModule::new(plan.comm.clone(), words, memory)?))
    }
}

opal_core::component! {
    /// One-sided communication by copies of the system.
    pub static COMPONENT: CmaOsc = CmaOsc;
    in ompi_core::framework::osc, name "cma", params &[]
}

/// Below messages: a copy by the system takes 1.4 µs, a message to a process that is inside MPI 0.3 µs, and 64 of them 4 µs. Chosen by
/// name (`--mca osc sm,cma`) for targets that compute for long.
const PRIORITY: i32 = 5;
