//! Registration.

use opal_core::framework::timer;
use opal_core::mca;

/// The component.
pub struct Clock;

impl mca::Component for Clock {
    opal_core::component_info!();
}

impl timer::Component for Clock {}

opal_core::component! {
    /// The system's monotonic clock.
    pub static COMPONENT: Clock = Clock;
    in opal_core::framework::timer, name "clock", params &[]
}

fn frequency() -> u64 {
    1_000_000_000
}

opal_core::provide_timer!(opal_core::sys::monotonic_ns, frequency);
