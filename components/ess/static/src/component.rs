//! Parameters and registration.

use crate::raw::Mapping;
use crate::segment;
use alloc::boxed::Box;
use alloc::format;
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;
use opal_core::sys;
use orte_core::boot_line;
use orte_core::framework::ess;
use orte_core::segment::member::{Member, Patience};

opal_core::params! {
    /// How long to wait for the addresses of a rank at start-up before giving up.
    pub static LOOKUP_TIMEOUT_S: Size = Int(30), "s", level 6;
}

/// The component.
pub struct Component {
    module: Once<Member<Mapping>>,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl ess::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn ess::Module), Declined> {
        let contract = boot_line::contract(sys::variable).map_err(|sentence| declined(&sentence))?;
        let contract = contract.ok_or(Declined("the boot line names no job (size=)"))?;
        if contract.size == 1 && sys::variable("JOB").is_none() {
            return Err(Declined("the boot line says size=1: this rank is alone"));
        }
        opal_core::log::set_prefix(format!("{} rank {}", sys::hostname(), contract.rank));
        let patience =
            Patience { parameter: "ess_static_lookup_timeout_s", seconds: || LOOKUP_TIMEOUT_S.int().unsigned_abs() };
        let member = segment::open(contract, patience).map_err(|sentence| declined(&sentence))?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| member)))
    }
}

opal_core::component! {
    /// A rank's place in its job, from the boot line.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in orte_core::framework::ess, name "static", params ALL
}

/// The boot line is wrong: the machine is about to end, so the sentence may stay for ever.
fn declined(sentence: &str) -> Declined {
    Declined(Box::leak(Box::from(sentence)))
}

const PRIORITY: i32 = 50;
