//! Registration.

use opal_core::framework::timer;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a counter of one rate. A static component that declines ends MPI_Init.
        Err(Declined(NOT_WRITTEN))
    }
}

impl timer::Component for Component {}

opal_core::component! {
    /// A clock that is not written yet.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::timer, name "template", params &[]
}

/// 2. Never goes back. What stands here is right and no faster than timer/clock: something to compare with.
fn ticks() -> u64 {
    opal_core::sys::monotonic_ns()
}

/// 3. Ticks per second.
fn frequency() -> u64 {
    1_000_000_000
}

opal_core::provide_timer!(ticks, frequency);

const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
