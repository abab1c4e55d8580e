//! Performance variables: what MPI's tool interface reads of this component.

use crate::module::ETH;
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};

/// All of them.
pub static ALL: &[&Pvar] = &[&Pvar::new(
    "sent_again",
    PvarClass::Counter,
    4,
    "Frames that were sent again because the peer had not acknowledged them in time, or said that one is missing.",
    Reading::Of(|| ETH.get().map_or(0, |eth| eth.sent_again())),
)];
