//! Registration.

use crate::module::Weighted;
use opal_core::framework::reachable;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();
}

impl reachable::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn reachable::Module), Declined> {
        Ok((PRIORITY, &Weighted))
    }
}

opal_core::component! {
    /// Ways by what addresses say.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::reachable, name "weighted", params &[]
}

const PRIORITY: i32 = 10;
