//! Registration.

use opal_core::framework::shmem::{self, Inherited};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;
use opal_core::sys::TmpFile;

/// The component.
pub struct Component {
    module: Once<TmpFile>,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl shmem::Component for Component {
    fn query(&self, _inherited: Option<Inherited>) -> Result<(i32, &'static dyn shmem::Module), Declined> {
        let module = TmpFile::new(*b"psx1", "/dev/shm", false).map_err(Declined)?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| module)))
    }
}

opal_core::component! {
    /// Files without a name in /dev/shm, opened through /proc.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::shmem, name "posix", params &[]
}

/// Below memfd, whose segment is sealed.
const PRIORITY: i32 = 30;
