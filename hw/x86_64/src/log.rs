//! The machine's log: what crate `log` is told, by this crate, by drivers and by Rust programs, as lines on serial port 2.
//!
//! Nothing is formatted where no such port is. Each core is a logger of its own, and one line goes out at a time.
#![allow(unsafe_code)]

use crate::{line, rank, serial, tsc};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, Ordering};
use log::{LevelFilter, Log, Metadata, Record};

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
    let _ = log::set_logger(&PORT);
    let level = line::word(boot_line, "log").and_then(|word| word.parse().ok());
    log::set_max_level(level.unwrap_or(LevelFilter::Debug));
}

struct Port;
static PORT: Port = Port;

impl Log for Port {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        // Acquire and Release pair with each other: one line at a time.
        while TAKEN.swap(true, Ordering::Acquire) {
            core::hint::spin_loop();
        }
        let (us, core) = (tsc::ns() / 1000, rank::core());
        let (seconds, rest) = (us / 1_000_000, us % 1_000_000);
        let (level, target, text) = (record.level(), record.target(), record.args());
        // Nothing in `Line` fails.
        let _ = writeln!(Line, "{seconds}.{rest:06} core {core} {level} {target}: {text}");
        TAKEN.store(false, Ordering::Release);
    }

    fn flush(&self) {}
}

struct Line;

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| serial::SECOND.put(byte));
        Ok(())
    }
}

#[unsafe(link_section = ".shared")]
static OPENED: AtomicBool = AtomicBool::new(false);
#[unsafe(link_section = ".shared")]
static TAKEN: AtomicBool = AtomicBool::new(false);
