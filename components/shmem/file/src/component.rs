//! Registration.

use crate::params;
use opal_core::framework::shmem::{self, Inherited};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;
use opal_core::sys::{self, TmpFile};

/// The component.
pub struct Component {
    module: Once<TmpFile>,
}

impl mca::Component for Component {
    opal_core::component_info!();
}

impl shmem::Component for Component {
    fn query(&self, _inherited: Option<Inherited>) -> Result<(i32, &'static dyn shmem::Module), Declined> {
        let folder = match params::FOLDER.text() {
            "" => sys::variable("TMPDIR").filter(|folder| !folder.is_empty()).unwrap_or("/tmp"),
            folder => folder,
        };
        let module = TmpFile::new(*b"fil1", folder, true).map_err(Declined)?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| module)))
    }
}

opal_core::component! {
    /// Files without a name in a folder of choice, opened through /proc.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::shmem, name "file", params params::ALL
}

/// Below what lives in memory.
const PRIORITY: i32 = 10;
