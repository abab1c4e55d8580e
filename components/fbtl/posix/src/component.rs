//! Registration.

use crate::module::Posix;
use ompi_core::framework::fbtl::{self, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct PosixComponent;

impl mca::Component for PosixComponent {
    opal_core::component_info!();
}

impl fbtl::Component for PosixComponent {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        Ok((10, &Posix))
    }
}

opal_core::component! {
    /// Moves runs of bytes with preadv and pwritev.
    pub static COMPONENT: PosixComponent = PosixComponent;
    in ompi_core::framework::fbtl, name "posix", params &[]
}
