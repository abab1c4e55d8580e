//! Registration.

use opal_core::framework::memcpy;
use opal_core::mca;

/// The component.
pub struct Portable;

impl mca::Component for Portable {
    opal_core::component_info!();
}

impl memcpy::Component for Portable {}

opal_core::component! {
    /// Copies as the compiler does.
    pub static COMPONENT: Portable = Portable;
    in opal_core::framework::memcpy, name "portable", params &[]
}

opal_core::provide_memcpy!(crate::raw::copy);
