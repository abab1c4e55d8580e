//! Registration.

use crate::module::Ufs;
use ompi_core::framework::fs::{self, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct UfsComponent;

impl mca::Component for UfsComponent {
    opal_core::component_info!();
}

impl fs::Component for UfsComponent {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        Ok((10, &Ufs))
    }
}

opal_core::component! {
    /// Files of the system: tmpfs, ext4, xfs and what else behaves like them.
    pub static COMPONENT: UfsComponent = UfsComponent;
    in ompi_core::framework::fs, name "ufs", params &[]
}
