//! Stands in for the image crate and for the static components in this crate's own unit tests, which have none.

use crate::mca::Info;

pub fn static_components() -> &'static [&'static Info] {
    &[]
}

/// For `framework::memory`.
pub mod memory {
    pub fn watches() -> bool {
        false
    }
    pub fn sees(_address: usize, _bytes: usize) -> bool {
        false
    }
}

/// For `framework::timer`.
pub mod timer {
    pub fn ticks() -> u64 {
        crate::sys::monotonic_ns()
    }
    pub fn frequency() -> u64 {
        1_000_000_000
    }
}
