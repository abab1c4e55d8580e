//! Registration.

use crate::module::MODULE;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::mca;

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();
}

impl btl::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn btl::Module>, mca::Declined> {
        Ok(vec![&MODULE])
    }
}

opal_core::component! {
    /// Messages of a process to itself.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::btl, name "self", params &[]
}
