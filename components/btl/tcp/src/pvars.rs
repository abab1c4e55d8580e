//! Performance variables: what MPI's tool interface reads of this component.

use crate::poll::TCP;
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};
use opal_core::sync::Ordering;

/// All of them.
pub static ALL: &[&Pvar] = &[
    &Pvar::new(
        "resumed",
        PvarClass::Counter,
        3,
        "How often a connection between two hosts broke and went on over another socket.",
        Reading::Of(resumed),
    ),
    &Pvar::new(
        "sent_again",
        PvarClass::Aggregate,
        4,
        "Bytes that were sent again because the connection broke before the peer had them.",
        Reading::Of(sent_again),
    ),
];

fn resumed() -> u64 {
    TCP.get().map_or(0, |tcp| tcp.transport.resumed.load(Ordering::Relaxed))
}

fn sent_again() -> u64 {
    TCP.get().map_or(0, |tcp| tcp.transport.sent_again.load(Ordering::Relaxed))
}
