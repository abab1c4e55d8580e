//! Registration.

use crate::module::{self, Keeper};
use crate::{params, pvars};
use alloc::boxed::Box;
use opal_core::framework::{btl, memory, rcache};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Grdma;

impl mca::Component for Grdma {
    opal_core::component_info!();
}

impl rcache::Component for Grdma {
    fn query(&self) -> Result<i32, Declined> {
        match memory::on_release(module::told) {
            Ok(()) => Ok(50),
            Err(_) => Err(Declined(
                "nobody tells of memory that the program gives back, so registrations end with their transfer; build the library with \
                 memory/hook",
            )),
        }
    }

    fn keep(&self, of: &'static dyn btl::Module) -> Box<dyn rcache::Module + Send> {
        Box::new(Keeper::new(of))
    }
}

opal_core::component! {
    /// Keeps memory registered until it is given back.
    pub static COMPONENT: Grdma = Grdma;
    in opal_core::framework::rcache, name "grdma", params params::ALL, pvars pvars::ALL
}
