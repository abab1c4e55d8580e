//! Registration.

use crate::module::Lustre;
use ompi_core::framework::fs::{self, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct LustreComponent;

impl mca::Component for LustreComponent {
    opal_core::component_info!();
}

impl fs::Component for LustreComponent {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        Ok((20, &Lustre))
    }
}

opal_core::component! {
    /// Files of a Lustre file system: laid over its devices as hints say.
    pub static COMPONENT: LustreComponent = LustreComponent;
    in ompi_core::framework::fs, name "lustre", params &[]
}
