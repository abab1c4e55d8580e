//! Lines for people: one `write` per line to standard error, prefixed with host, process and rank.

use crate::sync::{Mutex, Once};
use alloc::string::String;
use core::fmt::{self, Write};

static PREFIX: Once<String> = Once::new();
static LINE: Mutex<()> = Mutex::new(());

/// Says once who speaks, such as `node1:4711 rank 3`; later calls change nothing.
pub fn set_prefix(prefix: String) {
    PREFIX.call_once(|| prefix);
}

/// Writes one message, line by line, each prefixed with `[who]`. Long messages are not cut.
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
