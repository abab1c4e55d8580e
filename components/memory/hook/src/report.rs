//! Telling the framework, and people who asked for every step.

use crate::mapped::MAPPED;
use core::fmt::{self, Write};
use heapless::String;
use opal_core::framework::memory;
use opal_core::sys;

/// A range is about to go, and what comes there next may be somebody else's.
pub fn unmapped(call: &str, address: usize, bytes: usize) {
    MAPPED.take(address, address.saturating_add(bytes));
    released(call, address, bytes);
}

/// The pages of a range are about to go.
pub fn released(call: &str, address: usize, bytes: usize) {
    if bytes == 0 {
        return;
    }
    memory::released(address, bytes);
    if memory::FRAMEWORK.verbosity() >= EVERY_STEP {
        sys::write_stderr(line(call, address, bytes).as_bytes());
    }
}

/// In place: `message!` allocates, and an allocation may be what is going on.
fn line(call: &str, address: usize, bytes: usize) -> String<LINE_BYTES> {
    let mut line = String::new();
    match writeln!(line, "[ompi-rs] memory: {call} releases {bytes} bytes at {address:#x}") {
        Ok(()) => line,
        // Half a line would run into the next one.
        Err(fmt::Error) => String::try_from(TOO_LONG).unwrap_or_default(),
    }
}

const EVERY_STEP: i64 = 100;
const LINE_BYTES: usize = 160;
const TOO_LONG: &str = "[ompi-rs] memory: a range is released; the line that says which has no room\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_has_no_room_is_said_so() {
        let most = line("mremap", usize::MAX, usize::MAX);
        assert_eq!(most, "[ompi-rs] memory: mremap releases 18446744073709551615 bytes at 0xffffffffffffffff\n");
        let rest = LINE_BYTES - (most.len() - "mremap".len());
        let filled = "x".repeat(rest);
        assert_eq!(line(&filled, usize::MAX, usize::MAX).len(), LINE_BYTES);
        assert_eq!(line(&(filled + "x"), usize::MAX, usize::MAX), TOO_LONG);
    }
}
