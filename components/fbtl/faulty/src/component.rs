//! Registration.

use crate::module::Faulty;
use crate::{dice, params, pvars};
use ompi_core::framework::fbtl::{self, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct FaultyComponent;

impl mca::Component for FaultyComponent {
    opal_core::component_info!();
}

impl fbtl::Component for FaultyComponent {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        dice::seed();
        Ok((PRIORITY, &Faulty))
    }
}

opal_core::component! {
    /// Faults on purpose, from a seed, in what moves between memory and a file.
    pub static COMPONENT: FaultyComponent = FaultyComponent;
    in ompi_core::framework::fbtl, name "faulty", params params::ALL, pvars pvars::ALL
}

/// Below every other one: it runs where it alone is wanted.
const PRIORITY: i32 = 0;
