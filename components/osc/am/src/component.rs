//! Registration.

use crate::directory;
use crate::module::Am;
use crate::params;
use crate::progress_thread;
use crate::pvars;
use crate::target::Service;
use crate::window::Window;
use alloc::sync::Arc;
use ompi_core::error::Result as MpiResult;
use ompi_core::framework::osc::{self, Flavor, Module, Part, Plan};
use ompi_core::{process, user_memory};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;

/// The component.
pub struct AmOsc;

impl mca::Component for AmOsc {
    opal_core::component_info!();
}

impl osc::Component for AmOsc {
    fn query(&self, plan: &Plan) -> Result<i32, Declined> {
        // A process is its own neighbour.
        if plan.flavor == Flavor::Shared && plan.comm.size() > 1 {
            return Err(Declined("messages give no process the memory of another one"));
        }
        Ok(PRIORITY)
    }

    fn create(&self, plan: &Plan, parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        if matches!(plan.flavor, Flavor::Allocate | Flavor::Shared) {
            let members = plan.comm.group.members().iter().zip(parts);
            let here =
                members.filter(|(member, _)| process::get(*member).same_node).map(|(_, part)| part.bytes as u128);
            user_memory::check_left(here.sum())?;
        }
        static OPENED: Once<opal_core::Result<()>> = Once::new();
        (*OPENED.call_once(directory::open))?;
        let service = Service::of(Window::new(plan, parts)?);
        progress_thread::window_begins();
        Ok(Arc::new(Am { service }))
    }
}

opal_core::component! {
    /// One-sided communication by messages.
    pub static COMPONENT: AmOsc = AmOsc;
    in ompi_core::framework::osc, name "am", params &[&params::PROGRESS], pvars pvars::ALL
}

/// Whoever reaches memory without messages comes first.
const PRIORITY: i32 = 10;
