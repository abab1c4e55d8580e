//! Performance variables: how many faults of each kind were made.

use crate::dice::{CORRUPTED, DELAYED, DROPPED, DUPLICATED, REFUSED, REORDERED};
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};

/// All of them.
pub static ALL: &[&Pvar] = &[
    &Pvar::new("corrupted", PvarClass::Counter, 9, "Messages with a changed bit.", Reading::Of(|| CORRUPTED.now())),
    &Pvar::new("dropped", PvarClass::Counter, 9, "Messages that vanished.", Reading::Of(|| DROPPED.now())),
    &Pvar::new("duplicated", PvarClass::Counter, 9, "Messages that were sent twice.", Reading::Of(|| DUPLICATED.now())),
    &Pvar::new("reordered", PvarClass::Counter, 9, "Messages that others overtook.", Reading::Of(|| REORDERED.now())),
    &Pvar::new("delayed", PvarClass::Counter, 9, "Messages that were delayed.", Reading::Of(|| DELAYED.now())),
    &Pvar::new("refused", PvarClass::Counter, 9, "Sends that were refused.", Reading::Of(|| REFUSED.now())),
];
