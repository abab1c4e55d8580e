//! Lines of text.

use super::{facade, give_port, send, take_port};
use crate::{rank, tsc};
use core::fmt::{self, Write};

/// What crate `log` calls.
pub struct Lines;
/// The only one.
pub static PORT: Lines = Lines;

impl facade::Log for Lines {
    fn enabled(&self, _: &facade::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &facade::Record<'_>) {
        take_port();
        let (us, core) = (tsc::ns() / 1000, rank::core());
        let (seconds, rest) = (us / 1_000_000, us % 1_000_000);
        let (level, target, text) = (record.level(), record.target(), record.args());
        // Nothing in `Line` fails.
        let _ = writeln!(Line, "{seconds}.{rest:06} core {core} {level} {target}: {text}");
        give_port();
    }

    fn flush(&self) {}
}

struct Line;

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        send(text.as_bytes());
        Ok(())
    }
}
