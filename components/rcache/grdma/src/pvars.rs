//! Performance variables: what MPI's tool interface reads of this component.

use opal_core::mca::Pvar;
use opal_core::mca::pvar::{Counter, Level, PvarClass, Reading};

/// Registrations that were made.
pub static MADE: Counter = Counter::new();
/// Acquisitions of what was registered.
pub static FOUND: Counter = Counter::new();
/// Registrations for one transfer.
pub static NOT_KEPT: Counter = Counter::new();
/// Notices of memory that goes.
pub static NOTICES: Counter = Counter::new();
/// Registrations that ended to make room.
pub static GIVEN_UP: Counter = Counter::new();
/// Bytes that are kept registered.
pub static KEPT_BYTES: Level = Level::new();

/// All of them.
pub static ALL: &[&Pvar] = &[
    &Pvar::new(
        "registrations",
        PvarClass::Counter,
        4,
        "How often memory was registered with a transport.",
        Reading::Of(|| MADE.now()),
    ),
    &Pvar::new(
        "hits",
        PvarClass::Counter,
        4,
        "How often memory was needed that was registered already.",
        Reading::Of(|| FOUND.now()),
    ),
    &Pvar::new(
        "not_kept",
        PvarClass::Counter,
        4,
        "Of rcache_grdma_registrations those that ended with their transfer, because nobody would tell of the end of their memory or there \
         was no room.",
        Reading::Of(|| NOT_KEPT.now()),
    ),
    &Pvar::new(
        "notices",
        PvarClass::Counter,
        5,
        "How often the program gave memory back, as far as that was told and looked at.",
        Reading::Of(|| NOTICES.now()),
    ),
    &Pvar::new(
        "given_up",
        PvarClass::Counter,
        4,
        "Registrations that ended to make room for others.",
        Reading::Of(|| GIVEN_UP.now()),
    ),
    &Pvar::new(
        "kept",
        PvarClass::Level,
        4,
        "How much memory is kept registered, in bytes.",
        Reading::Of(|| KEPT_BYTES.now()),
    ),
];
