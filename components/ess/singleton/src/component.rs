//! Registration.

use crate::module::Singleton;
use alloc::boxed::Box;
use alloc::format;
use opal_core::mca::{self, Declined};
use orte_core::environment::{ADVICE, BOOT_SIZE, SEGMENT, SIZE};
use orte_core::framework::ess;

/// The component.
pub struct Component {
    module: Singleton,
}

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if opal_core::sys::variable(SEGMENT).is_some() {
            return Err(Declined("a launcher started this process, so it does not run alone"));
        }
        if cfg!(ompi_bare) && opal_core::sys::variable(BOOT_SIZE).is_some_and(|size| size != "1") {
            return Err(Declined("the boot line says that this rank is one of several"));
        }
        // Other launchers that run several processes: Open MPI's, and those that speak PMI.
        for name in [SIZE, "PMI_SIZE"] {
            let size = opal_core::sys::variable(name).and_then(|text| text.parse().ok()).unwrap_or(1u32);
            if size > 1 {
                let sentence = format!(
                    "{name} is {size}, so another launcher started this process as one of several; {ADVICE}, \
                     or unset {name} to run it alone"
                );
                return Err(Declined(Box::leak(Box::from(sentence))));
            }
        }
        Ok(())
    }
}

impl ess::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn ess::Module), Declined> {
        opal_core::sys::mark_in_use();
        opal_core::log::set_prefix(format!("{}:{} rank 0", opal_core::sys::hostname(), opal_core::sys::pid()));
        Ok((PRIORITY, &COMPONENT.module))
    }
}

opal_core::component! {
    /// A process that nobody launched: rank 0 of 1.
    pub static COMPONENT: Component = Component { module: Singleton::new() };
    in orte_core::framework::ess, name "singleton", params &[]
}

const PRIORITY: i32 = 10;
