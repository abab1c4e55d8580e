//! Registration.

use crate::module::Ivshmem;
use opal_core::framework::shmem::{self, Inherited};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;

/// The component.
pub struct Component {
    module: Once<Ivshmem>,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl shmem::Component for Component {
    fn query(&self, inherited: Option<Inherited>) -> Result<(i32, &'static dyn shmem::Module), Declined> {
        let inherited = inherited.ok_or(Declined("the boot line names no job that shares memory"))?;
        let module = Ivshmem::new(inherited).map_err(Declined)?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| module)))
    }
}

opal_core::component! {
    /// Slices of the memory that guests of one host share.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::shmem, name "ivshmem", params &[]
}

const PRIORITY: i32 = 50;
