//! The clock: static, called directly.
#![allow(unsafe_code)] // linkme's expansion and the component's symbols

use crate::mca;

/// A clock. Its readings are the symbols that [`provide_timer!`](crate::provide_timer) defines.
pub trait Component: mca::Component {}

crate::framework! {
    /// Reads a clock that never goes back.
    "timer", Opal, version 1, Static, OMPI_TIMERS: dyn Component
}

#[cfg(not(test))]
mod component {
    // SAFETY: `provide_timer!` defines them with these very signatures.
    unsafe extern "Rust" {
        #[link_name = "__opal_timer_ticks_v1"]
        pub safe fn ticks() -> u64;
        #[link_name = "__opal_timer_frequency_v1"]
        pub safe fn frequency() -> u64;
    }
}
#[cfg(test)]
use crate::test_image::timer as component;

/// Ticks since an unspecified start; never goes back on one core.
#[inline(always)]
pub fn ticks() -> u64 {
    component::ticks()
}

/// Ticks per second, at least 1.
pub fn frequency() -> u64 {
    component::frequency()
}

/// How many ticks so many nanoseconds are, rounded down.
pub fn ticks_in(ns: u64) -> u64 {
    (u128::from(ns) * u128::from(frequency()) / 1_000_000_000) as u64
}

/// Nanoseconds since the same start.
pub fn now_ns() -> u64 {
    (u128::from(ticks()) * 1_000_000_000 / u128::from(frequency())) as u64
}

/// Defines the framework's symbols: `provide_timer!(raw::ticks, raw::frequency)`.
#[macro_export]
macro_rules! provide_timer {
    ($($ticks:ident)::+, $($frequency:ident)::+) => {
        #[allow(unsafe_code)]
        const _: () = {
            #[unsafe(export_name = "__opal_timer_ticks_v1")]
            #[inline]
            fn provided_ticks() -> u64 {
                $($ticks)::+()
            }
            #[unsafe(export_name = "__opal_timer_frequency_v1")]
            fn provided_frequency() -> u64 {
                $($frequency)::+()
            }
        };
    };
}
