//! Registration.

use crate::module::Map;
use crate::params;
use opal_core::framework::{shmem, smsc};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;

/// The component.
pub struct Component {
    module: Once<Map>,
}

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if shmem::inherited().is_some_and(|place| place.local_size > 1) {
            return Ok(());
        }
        Err(Declined("this rank is alone on its node"))
    }
}

impl smsc::Component for Component {
    fn query(&self, _launcher: Option<u32>) -> Result<(i32, &'static dyn smsc::Module), Declined> {
        let module = Map::new().ok_or(Declined("no range of shareable memory (is `ulimit -v` or `ulimit -f` set?)"))?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| module)))
    }
}

opal_core::component! {
    /// Copies between memory that both processes have mapped.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::smsc, name "map", params params::ALL
}

/// Above smsc/cma, for what it reaches.
const PRIORITY: i32 = 30;
