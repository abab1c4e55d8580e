//! What a tool may read of this process's sleeps.

use super::counted::{count_waits, waited_ns, waits};
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
        "wait_time",
        PvarClass::Timer,
        2,
        "Time in waits of this process, from their first look at the clock on, some microseconds after they begin, in seconds. What is \
         not in wait_asleep was spent spinning, or yielding where there are more ranks than cores. Counting begins when a handle is \
         allocated.",
        Reading::Of(waited_ns),
    )
    .when_wanted(count_waits),
    &Pvar::new(
        "wait_count",
        PvarClass::Counter,
        4,
        "Waits that wait_time counts.",
        Reading::Of(waits),
    )
    .when_wanted(count_waits),
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
