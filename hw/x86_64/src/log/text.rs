//! Lines of text.

use super::port;
use crate::{rank, tsc};
use core::fmt::{self, Write};

/// What crate `log` calls.
pub struct Lines;
/// The only one.
pub static PORT: Lines = Lines;

impl ::log::Log for Lines {
    fn enabled(&self, _: &::log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &::log::Record<'_>) {
        port::take();
        let (us, core) = (tsc::ns() / 1000, rank::core());
        let (seconds, rest) = (us / 1_000_000, us % 1_000_000);
        let (level, target, text) = (record.level(), record.target(), record.args());
        // Nothing in `Line` fails.
        let _ = writeln!(Line, "{seconds}.{rest:06} core {core} {level} {target}: {text}");
        port::give();
    }

    fn flush(&self) {}
}

struct Line;

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        port::send(text.as_bytes());
        Ok(())
    }
}
