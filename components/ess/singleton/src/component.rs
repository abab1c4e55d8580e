//! Registration.

use crate::module::Singleton;
use crate::params;
use alloc::boxed::Box;
use alloc::format;
use opal_core::mca::{self, Declined};
use orte_core::environment::{BOOT_SIZE, SEGMENT, other_launcher};
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
        match other_launcher(opal_core::sys::variable) {
            Some(sentence) => Err(Declined(Box::leak(Box::from(sentence)))),
            None => Ok(()),
        }
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
    in orte_core::framework::ess, name "singleton", params params::ALL
}

const PRIORITY: i32 = 10;
