//! Registration, and whether the system offers io_uring.

use crate::module::Uring;
use crate::{params, raw};
use ompi_core::framework::fbtl::{self, FRAMEWORK, Module};
use opal_core::mca::{self, Declined};
use opal_core::verbose;

/// The component.
pub struct UringComponent;

impl mca::Component for UringComponent {
    opal_core::component_info!();
}

impl fbtl::Component for UringComponent {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        match raw::offered() {
            Ok(()) => Ok((20, &Uring)),
            Err(errno) => {
                verbose!(FRAMEWORK, 10, "io_uring_setup(2) fails: {errno}");
                Err(Declined(
                    "the system does not offer io_uring to this process: nonblocking accesses are done at once",
                ))
            }
        }
    }
}

opal_core::component! {
    /// Moves runs of bytes beside the program, by io_uring.
    pub static COMPONENT: UringComponent = UringComponent;
    in ompi_core::framework::fbtl, name "uring", params params::ALL
}
