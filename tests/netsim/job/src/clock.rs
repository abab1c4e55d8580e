//! Virtual time: a component of framework timer that shows the simulation's clock.

use crate::host;
use opal_core::framework::timer;
use opal_core::mca;

/// The component.
pub struct Virtual;

impl mca::Component for Virtual {
    fn info(&self) -> &'static mca::Info {
        &INFO
    }
}

impl timer::Component for Virtual {}

opal_core::component! {
    /// The simulation's clock.
    pub static COMPONENT: Virtual = Virtual;
    in opal_core::framework::timer, name "virtual", params &[]
}

fn frequency() -> u64 {
    1_000_000_000
}

opal_core::provide_timer!(host::now_ns, frequency);
