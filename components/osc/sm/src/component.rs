//! Registration.

use crate::raw::{Kept, Memory, Parts};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::error::Result as MpiResult;
use ompi_core::framework::osc::{self, Flavor, Module, Part, Plan};
use ompi_core::win::node::{self, MappedParts, NodeModule, PAGE, Peers};
use opal_core::mca::{self, Declined};
use opal_core::shareable::{self, Owned};

/// The component.
pub struct SmOsc;

impl mca::Component for SmOsc {
    opal_core::component_info!();
}

impl osc::Component for SmOsc {
    fn query(&self, plan: &Plan) -> Result<i32, Declined> {
        match plan.flavor {
            Flavor::Allocate | Flavor::Shared => {}
            Flavor::Create => {
                let alone = plan.own.bytes == 0 || plan.comm.size() == 1;
                let is_mapped = || shareable::holds(plan.base, plan.own.bytes) && shareable::place().is_some();
                if !alone && !is_mapped() {
                    return Err(Declined("others cannot map the program's memory; that of MPI_Alloc_mem they can"));
                }
            }
            Flavor::Dynamic => return Err(Declined("memory is attached to the window later")),
        }
        Peers::of(&plan.comm).ok_or(Declined("not all processes are on this one's node"))?;
        Ok(PRIORITY)
    }

    fn create(&self, plan: &Plan, parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        let contiguous = plan.flavor == Flavor::Shared && !plan.noncontiguous;
        // A hint for more than pages is heeded where each process's part is memory of its own.
        let apart = !contiguous && (plan.comm.size() > 1 || plan.alignment > PAGE);
        if plan.flavor == Flavor::Create || apart {
            let own = match plan.flavor {
                Flavor::Create => None,
                // Each process's part is shareable memory of its own, so that messages from and to it are copied once, too.
                _ => node::own_part(plan.own.bytes, plan.alignment, parts),
            };
            let base = match plan.flavor {
                Flavor::Create => plan.base,
                _ => own.as_ref().map_or(core::ptr::null_mut(), Owned::at),
            };
            let (words, mapped) = node::share_parts(&plan.comm, parts, base)?;
            if let Some(MappedParts { at, others }) = mapped {
                let part = |(at, Part { bytes, unit }): (_, &Part)| Memory { at, bytes: *bytes, unit: *unit };
                let kept = Kept { _others: others, _own: own, _joint: None };
                let parts = Parts::new(at.into_iter().zip(parts).map(part).collect(), kept);
                let words = words.with_granularity(plan.granularity);
                return Ok(Arc::new(NodeModule::new(plan.comm.clone(), words, parts)?));
            }
            if plan.flavor == Flavor::Create {
                return Err(node::no_memory());
            }
            // Some process has no shareable memory.
        }
        let (words, joint) = node::share_layout(&plan.comm, parts, contiguous)?;
        let part = |(rank, part): (usize, &Part)| {
            let (at, bytes) = words.part(rank);
            Memory { at, bytes, unit: part.unit }
        };
        let kept = Kept { _others: Vec::new(), _own: None, _joint: joint };
        let parts = Parts::new(parts.iter().enumerate().map(part).collect(), kept);
        let words = words.with_granularity(plan.granularity);
        Ok(Arc::new(NodeModule::new(plan.comm.clone(), words, parts)?))
    }
}

opal_core::component! {
    /// One-sided communication by loads and stores.
    pub static COMPONENT: SmOsc = SmOsc;
    in ompi_core::framework::osc, name "sm", params &[]
}

/// Above copies by the system.
const PRIORITY: i32 = 40;
