//! Performance variables: what MPI's tool interface reads of this component.

use crate::module::ETH;
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};

/// All of them.
pub static ALL: &[&Pvar] = &[&SENT_AGAIN, &FORGED];

static SENT_AGAIN: Pvar = Pvar::new(
    "sent_again",
    PvarClass::Counter,
    4,
    "Frames that were sent again because the peer had not acknowledged them in time, or said that one is missing.",
    Reading::Of(|| ETH.get().map_or(0, |eth| eth.sent_again())),
);

static FORGED: Pvar = Pvar::new(
    "forged",
    PvarClass::Counter,
    4,
    "Frames that say to be of this job and were not made with its secret; they are ignored.",
    Reading::Of(|| ETH.get().map_or(0, |eth| eth.forged())),
);
