//! Telling the framework, and people who asked for every step.

use core::fmt::{self, Write};
use opal_core::framework::memory;
use opal_core::sys;

/// A range is about to go.
pub fn released(call: &str, address: usize, bytes: usize) {
    if bytes == 0 {
        return;
    }
    memory::released(address, bytes);
    if memory::FRAMEWORK.verbosity() >= EVERY_STEP {
        let mut line = Line { bytes: [0; 160], used: 0 };
        let _ = writeln!(line, "[ompi-rs] memory: {call} releases {bytes} bytes at {address:#x}");
        sys::write_stderr(&line.bytes[..line.used]);
    }
}

/// `message!` allocates, and an allocation may be what is going on.
struct Line {
    bytes: [u8; 160],
    used: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let place = self.bytes.get_mut(self.used..self.used + text.len()).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.used += text.len();
        Ok(())
    }
}

const EVERY_STEP: i64 = 100;
