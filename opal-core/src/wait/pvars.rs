//! What a tool may read of this process's sleeps.

use super::{asleep_ns, sleeps};
use crate::mca::pvar::{Pvar, PvarClass, Reading};

/// The performance variables.
pub static PVARS: &[&Pvar] = &[
    &Pvar::new(
        "wait_asleep",
        PvarClass::Timer,
        2,
        "Time in which a wait of this process slept, in seconds. A wait sleeps after about a millisecond in which nothing moved.",
        Reading::Of(asleep_ns),
    ),
    &Pvar::new(
        "wait_woken",
        PvarClass::Counter,
        4,
        "Sleeps that a process of the node ended, which had sent something.",
        Reading::Of(|| sleeps().woken),
    ),
    &Pvar::new(
        "wait_woken_by_sockets",
        PvarClass::Counter,
        4,
        "Sleeps that a socket ended.",
        Reading::Of(|| sleeps().socket),
    ),
    &Pvar::new(
        "wait_slept_in_vain",
        PvarClass::Counter,
        4,
        "Sleeps that nothing ended for as long as one may last.",
        Reading::Of(|| sleeps().timed_out),
    ),
];
