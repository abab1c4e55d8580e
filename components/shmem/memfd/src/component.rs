//! Registration.

use crate::module::Memfd;
use opal_core::framework::shmem::{self, Inherited};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;

/// The component.
pub struct Component {
    module: Once<Memfd>,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl shmem::Component for Component {
    fn query(&self, inherited: Option<Inherited>) -> Result<(i32, &'static dyn shmem::Module), Declined> {
        let inherited = inherited.ok_or(Declined("no launcher left a segment"))?;
        let module = Memfd::new(inherited).map_err(Declined)?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| module)))
    }
}

opal_core::component! {
    /// Slices of the memory file that the launcher left.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::shmem, name "memfd", params &[]
}

const PRIORITY: i32 = 50;
