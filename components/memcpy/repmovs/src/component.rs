//! Registration.

use opal_core::framework::memcpy;
use opal_core::mca;

/// The component.
pub struct Repmovs;

impl mca::Component for Repmovs {
    opal_core::component_info!();
}

impl memcpy::Component for Repmovs {}

opal_core::component! {
    /// Copies by `rep movsb`.
    pub static COMPONENT: Repmovs = Repmovs;
    in opal_core::framework::memcpy, name "repmovs", params &[]
}

opal_core::provide_memcpy!(crate::raw::copy);
