//! Registration.

use crate::module::MODULE;
use opal_core::framework::shmem::{self, Inherited};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a file system, the launcher's segment.
        Err(Declined(NOT_WRITTEN))
    }
}

impl shmem::Component for Component {
    fn query(&self, _inherited: Option<Inherited>) -> Result<(i32, &'static dyn shmem::Module), Declined> {
        Ok((PRIORITY, &MODULE))
    }
}

opal_core::component! {
    /// A way to share memory that is not written yet.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::shmem, name "template", params &[]
}

/// 2. The highest one that accepts is used: shmem/memfd has 50, shmem/posix 30.
const PRIORITY: i32 = 10;
const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
