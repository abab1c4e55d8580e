//! The console: serial port 1, a line at a time where several ranks share it.
//!
//! Where a machine has several ranks each line begins with the byte 1, the core's number and a space, so that whoever
//! reads it can tell them apart.
#![allow(unsafe_code)]

use crate::{rank, serial};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, Ordering};
use opal_core::sync::Mutex;

/// Prints to the console, as the standard library's macro does.
#[macro_export]
macro_rules! print {
    ($($arg:tt)*) => { $crate::console::print(::core::format_args!($($arg)*)) };
}

/// Prints a line to the console.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($arg:tt)*) => { $crate::print!("{}\n", ::core::format_args!($($arg)*)) };
}

/// The same: there is one console.
#[macro_export]
macro_rules! eprintln {
    ($($arg:tt)*) => { $crate::println!($($arg)*) };
}

/// Prints.
pub fn print(text: fmt::Arguments<'_>) {
    let _ = Console.write_fmt(text);
}

/// Sets the port up. Once, by the first core.
pub fn open() {
    serial::FIRST.open();
}

/// Writes bytes; where several ranks share the port a line goes out when it is complete.
pub fn write(bytes: &[u8]) {
    if rank::cores() == 1 {
        bytes.iter().for_each(|byte| put(*byte));
        return;
    }
    let mut line = LINE.lock();
    for byte in bytes {
        line.push(*byte);
    }
}

/// Writes what is left of a line.
pub fn flush() {
    if rank::cores() > 1 {
        LINE.lock().out();
    }
}

struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write(text.as_bytes());
        Ok(())
    }
}

/// A rank's line that is not complete yet.
struct Line {
    bytes: [u8; LINE_BYTES],
    length: usize,
}

impl Line {
    fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
        if byte == b'\n' || self.length == LINE_BYTES - 1 {
            self.out();
        }
    }

    fn out(&mut self) {
        if self.length == 0 {
            return;
        }
        if self.bytes[self.length - 1] != b'\n' {
            self.bytes[self.length] = b'\n';
            self.length += 1;
        }
        // Acquire and Release pair with each other: one line at a time.
        while TAKEN.swap(true, Ordering::Acquire) {
            core::hint::spin_loop();
        }
        put(MARK);
        let core = rank::core();
        if core >= 10 {
            put(b'0' + (core / 10) as u8);
        }
        put(b'0' + (core % 10) as u8);
        put(b' ');
        self.bytes[..self.length].iter().for_each(|byte| put(*byte));
        TAKEN.store(false, Ordering::Release);
        self.length = 0;
    }
}

fn put(byte: u8) {
    serial::FIRST.put(byte);
}

/// What a line of a machine with several ranks begins with.
pub const MARK: u8 = 1;
const LINE_BYTES: usize = 1024;
static LINE: Mutex<Line> = Mutex::new(Line { bytes: [0; LINE_BYTES], length: 0 });
#[unsafe(link_section = ".shared")]
static TAKEN: AtomicBool = AtomicBool::new(false);
