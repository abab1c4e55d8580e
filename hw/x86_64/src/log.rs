//! The machine's log: what this crate, drivers and Rust programs say by `info!` and its relatives, on serial port 2.
//!
//! Its format is chosen when the image is made: lines of text, which any terminal shows, or with feature `defmt` frames of
//! numbers, whose texts stay in the image file. The macros take the formats that the two have in common:
//! arguments behind the text, `{}` and `{:#x}` for numbers, truth values and strings.
//!
//! Nothing is formatted on a machine without serial port 2. Each core is a logger of its own, and one line goes out at
//! a time.
#![allow(unsafe_code)]

#[cfg(feature = "defmt")]
mod frames;
mod port;
#[cfg(not(feature = "defmt"))]
mod text;

#[cfg(feature = "defmt")]
use frames as form;
#[cfg(not(feature = "defmt"))]
use text as form;

use crate::{boot_line, serial};
use core::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "defmt")]
#[doc(hidden)]
pub use ::defmt;
#[doc(hidden)]
pub use ::log as facade;

/// Logs what must not be.
#[macro_export]
macro_rules! error { ($($arg:tt)*) => { $crate::log_at!(Error, error, $($arg)*) }; }

/// Logs what may surprise.
#[macro_export]
macro_rules! warn { ($($arg:tt)*) => { $crate::log_at!(Warn, warn, $($arg)*) }; }

/// Logs a step of the machine.
#[macro_export]
macro_rules! info { ($($arg:tt)*) => { $crate::log_at!(Info, info, $($arg)*) }; }

/// Logs what helps to find a defect.
#[macro_export]
macro_rules! debug { ($($arg:tt)*) => { $crate::log_at!(Debug, debug, $($arg)*) }; }

/// Logs every step.
#[macro_export]
macro_rules! trace { ($($arg:tt)*) => { $crate::log_at!(Trace, trace, $($arg)*) }; }

#[cfg(not(feature = "defmt"))]
#[doc(hidden)]
#[macro_export]
macro_rules! log_at {
    ($level:ident, $call:ident, $($arg:tt)*) => {
        $crate::log::facade::log!($crate::log::facade::Level::$level, $($arg)*)
    };
}

// What defmt's macros make says `defmt::` wherever it stands.
#[cfg(feature = "defmt")]
#[doc(hidden)]
#[macro_export]
macro_rules! log_at {
    ($level:ident, $call:ident, $($arg:tt)*) => {
        if $crate::log::facade::Level::$level <= $crate::log::facade::max_level() {
            use $crate::log::defmt;
            defmt::$call!($($arg)*)
        }
    };
}

/// Looks for the port and takes the level from the boot line. Once on each core.
pub fn open(boot_line: &str) {
    if !serial::SECOND.is_there() {
        return;
    }
    // The first core's hand-over to the others comes later.
    if !OPENED.swap(true, Ordering::Relaxed) {
        serial::SECOND.open();
    }
    // The second time on the first core it is this one already.
    let _ = facade::set_logger(&form::PORT);
    let level = boot_line::word(boot_line, "log").and_then(|word| word.parse().ok());
    facade::set_max_level(level.unwrap_or(facade::LevelFilter::Debug));
}

#[unsafe(link_section = ".shared")]
static OPENED: AtomicBool = AtomicBool::new(false);
