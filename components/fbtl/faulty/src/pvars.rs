//! Performance variables: how many faults of each kind were made, and how many bytes were moved.

use crate::dice::{INTERRUPTED, READ_BYTES, REFUSED, SHORTENED, TRUNCATED, WRITTEN_BYTES};
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};

/// All of them.
pub static ALL: &[&Pvar] = &[
    &Pvar::new("shortened", PvarClass::Counter, 9, "Calls that moved less.", Reading::Of(|| SHORTENED.now())),
    &Pvar::new("interrupted", PvarClass::Counter, 9, "Calls that a signal ended.", Reading::Of(|| INTERRUPTED.now())),
    &Pvar::new("truncated", PvarClass::Counter, 9, "Times that a file was cut.", Reading::Of(|| TRUNCATED.now())),
    &Pvar::new("refused", PvarClass::Counter, 9, "Calls that were refused.", Reading::Of(|| REFUSED.now())),
    &Pvar::new("read_bytes", PvarClass::Aggregate, 9, "Bytes that were read.", Reading::Of(|| READ_BYTES.now())),
    &Pvar::new(
        "written_bytes",
        PvarClass::Aggregate,
        9,
        "Bytes that were written.",
        Reading::Of(|| WRITTEN_BYTES.now()),
    ),
];
