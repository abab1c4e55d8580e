//! Parameters and registration.

use crate::segment::Place;
use alloc::boxed::Box;
use alloc::format;
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;
use orte_core::environment::{Contract, SEGMENT};
use orte_core::framework::{ess, plm};
use orte_core::segment::member::Patience;

opal_core::params! {
    /// How long to wait for the addresses of a rank at start-up before giving up. Unless it is set, it is longer than
    /// plm_start_timeout_s: where the daemon of a host does not call, mpirun says so first.
    pub static LOOKUP_TIMEOUT_S: Size = Int(60), "s", level 6;
}

/// The component.
pub struct Component {
    module: Once<Place>,
}

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        match opal_core::sys::variable(SEGMENT) {
            Some(_) => Ok(()),
            None => Err(Declined("no launcher left a segment")),
        }
    }
}

impl ess::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn ess::Module), Declined> {
        let decoded = Contract::decode(opal_core::sys::variable).map_err(|sentence| declined(&sentence))?;
        let contract = decoded.ok_or(Declined("no launcher left a segment"))?;
        let who = format!("{}:{} rank {}", opal_core::sys::hostname(), opal_core::sys::pid(), contract.rank);
        opal_core::log::set_prefix(who);
        let patience = Patience { parameter: "ess_env_lookup_timeout_s", seconds: lookup_timeout_s };
        let place = crate::segment::open(contract, patience).map_err(|sentence| declined(&sentence))?;
        let module: &'static dyn ess::Module = match COMPONENT.module.call_once(|| place) {
            Place::OneNode(member) => member,
            Place::Nodes(member) => member,
        };
        Ok((PRIORITY, module))
    }
}

opal_core::component! {
    /// Identity and wire-up from what this project's mpirun left in environment and job segment.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in orte_core::framework::ess, name "env", params ALL
}

fn lookup_timeout_s() -> u64 {
    plm::after_start_s(LOOKUP_TIMEOUT_S.int().unsigned_abs(), LOOKUP_TIMEOUT_S.source())
}

/// A launcher is there but its traces are wrong: the process is about to end, so the sentence may stay for ever.
fn declined(sentence: &str) -> Declined {
    Declined(Box::leak(Box::from(sentence)))
}

const PRIORITY: i32 = 50;
