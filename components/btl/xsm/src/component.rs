//! Registration. Nothing is made here.

use crate::module::Xsm;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component {
    module: Xsm,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl btl::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn btl::Module>, Declined> {
        Ok(vec![&COMPONENT.module])
    }
}

opal_core::component! {
    /// Shared memory between jobs.
    pub static COMPONENT: Component = Component { module: Xsm::new() };
    in opal_core::framework::btl, name "xsm", params &[]
}
