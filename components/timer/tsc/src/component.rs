//! Registration.

use crate::{rate, raw};
use opal_core::framework::timer;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Tsc;

impl mca::Component for Tsc {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if !raw::invariant() {
            return Err(Declined(
                "this processor does not promise a time-stamp counter of one rate; build the library with timer/clock",
            ));
        }
        rate::begin();
        Ok(())
    }
}

impl timer::Component for Tsc {}

opal_core::component! {
    /// The processor's time-stamp counter.
    pub static COMPONENT: Tsc = Tsc;
    in opal_core::framework::timer, name "tsc", params &[]
}

opal_core::provide_timer!(crate::raw::ticks, crate::rate::frequency);
