//! Registration.

use crate::module::Netlink;
use opal_core::framework::reachable;
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;

/// The component.
pub struct Component {
    module: Once<Netlink>,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl reachable::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn reachable::Module), Declined> {
        let module = Netlink::new().ok_or(Declined("the system gives no socket that answers about routes"))?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| module)))
    }
}

opal_core::component! {
    /// Ways by the system's routes.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::reachable, name "netlink", params &[]
}

const PRIORITY: i32 = 50;
