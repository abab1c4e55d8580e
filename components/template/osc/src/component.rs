//! Registration.

use crate::module::TemplateModule;
use alloc::sync::Arc;
use ompi_core::error::Result as MpiResult;
use ompi_core::framework::osc::{self, Module, Part, Plan};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a device, a transport.
        Err(Declined(NOT_WRITTEN))
    }
}

impl osc::Component for Component {
    fn query(&self, plan: &Plan) -> Result<i32, Declined> {
        // 2. Priority for this window, or why not. All ranks are asked; the highest component that all of them offer gets it.
        if plan.comm.size() > 1 {
            return Err(Declined("it serves windows of one process only"));
        }
        Ok(PRIORITY)
    }

    fn create(&self, plan: &Plan, _parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        // 3. The module of one window, with its memory where the plan's flavor asks for some.
        Ok(Arc::new(TemplateModule { base: plan.base as usize }))
    }
}

opal_core::component! {
    /// One-sided communication that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::osc, name "template", params &[]
}

/// 4. osc/am has 10.
const PRIORITY: i32 = 5;
const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
