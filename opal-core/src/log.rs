//! Lines for people: one `write` per line to standard error, prefixed with host, process and rank.

use crate::sync::{AtomicBool, Mutex, Once, Ordering};
use alloc::string::String;
use core::fmt::{self, Write};

static PREFIX: Once<String> = Once::new();
static LINE: Mutex<()> = Mutex::new(());

/// Sets the prefix of each line, such as `node1:4711 rank 3`; later calls change nothing.
pub fn set_prefix(prefix: String) {
    PREFIX.call_once(|| prefix);
}

/// Writes one message, line by line, each with the prefix in brackets. Long messages are not cut.
pub fn message(text: fmt::Arguments<'_>) {
    let mut whole = String::new();
    let _ = whole.write_fmt(text);
    let mut out = String::with_capacity(whole.len() + 64);
    for line in whole.lines() {
        match PREFIX.get() {
            Some(prefix) => _ = writeln!(out, "[{prefix}] {line}"),
            None => _ = writeln!(out, "[ompi-rs] {line}"),
        }
    }
    let _one_line_at_a_time = LINE.lock();
    crate::sys::write_stderr(out.as_bytes());
}

/// Writes a message: `message!("rank {} is gone", 3)`.
#[macro_export]
macro_rules! message {
    ($($arg:tt)*) => { $crate::log::message(::core::format_args!($($arg)*)) };
}

/// Writes a message when a framework's `<framework>_base_verbose` is at least `level`:
/// `verbose!(btl::FRAMEWORK, 10, "{} declines: {}", name, why)`.
#[macro_export]
macro_rules! verbose {
    ($framework:expr, $level:expr, $($arg:tt)*) => {
        if $framework.verbosity() >= $level {
            $crate::log::message(::core::format_args!("{}: {}", $framework.name, ::core::format_args!($($arg)*)))
        }
    };
}

/// As [`verbose!`](crate::verbose), but each place that holds it writes once per process: for what happens with every
/// message.
#[macro_export]
macro_rules! verbose_once {
    ($framework:expr, $level:expr, $($arg:tt)*) => {{
        static WRITTEN: $crate::sync::AtomicBool = $crate::sync::AtomicBool::new(false);
        if $crate::log::is_first(&WRITTEN) {
            $crate::log::out_of_line(|| $crate::verbose!($framework, $level, $($arg)*));
        }
    }};
}

/// Whether nobody asked before. Relaxed: which thread writes does not matter.
#[inline(always)]
pub fn is_first(written: &AtomicBool) -> bool {
    !written.load(Ordering::Relaxed) && !written.swap(true, Ordering::Relaxed)
}

/// Calls `write`, away from the code around it.
#[cold]
#[inline(never)]
pub fn out_of_line(write: impl FnOnce()) {
    write();
}
