//! Registration.

use crate::module::Cma;
use crate::params;
use crate::raw;
use opal_core::framework::{shmem, smsc};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;

/// The component.
pub struct Component {
    module: Once<Cma>,
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
    fn query(&self, launcher: Option<u32>) -> Result<(i32, &'static dyn smsc::Module), Declined> {
        if let Some(launcher) = launcher.filter(|_| params::ALLOW_JOB.flag() && restricts_to_descendants()) {
            // Before the address is published: from then on peers try.
            raw::allow_descendants_of(launcher);
        }
        let module = Cma::new().ok_or(Declined("the system gives no random bytes"))?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| module)))
    }
}

/// Yama lets a process reach into its descendants only, unless these allow it to others (PR_SET_PTRACER). Not there: no
/// restriction.
fn restricts_to_descendants() -> bool {
    opal_core::sys::read_file("/proc/sys/kernel/yama/ptrace_scope").is_some_and(|text| text.first() == Some(&b'1'))
}

opal_core::component! {
    /// Cross-memory attach: the kernel copies between two processes.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::smsc, name "cma", params params::ALL
}

const PRIORITY: i32 = 20;
