//! The console: serial port 1, a line at a time where several ranks share it.
//!
//! Where a machine has several ranks each line begins with the byte 1, the core's number and a space, so that whoever
//! reads it can tell them apart.
#![allow(unsafe_code)]

use crate::{rank, serial};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, Ordering};
use heapless::Vec;
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

/// A rank's line that is not complete yet: never full between two calls.
struct Line(Vec<u8, LINE_BYTES>);

impl Line {
    fn push(&mut self, byte: u8) {
        self.0.push(byte).expect("`out` comes before the last byte of the room");
        if byte == b'\n' || self.0.len() == LINE_BYTES - 1 {
            self.out();
        }
    }

    fn out(&mut self) {
        let Some(last) = self.0.last() else { return };
        if *last != b'\n' {
            self.0.push(b'\n').expect("`push` leaves room for the end of the line");
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
        self.0.iter().for_each(|byte| put(*byte));
        TAKEN.store(false, Ordering::Release);
        self.0.clear();
    }
}

fn put(byte: u8) {
    serial::FIRST.put(byte);
}

/// What a line of a machine with several ranks begins with.
pub const MARK: u8 = 1;
const LINE_BYTES: usize = 1024;
static LINE: Mutex<Line> = Mutex::new(Line(Vec::new()));
#[unsafe(link_section = ".shared")]
static TAKEN: AtomicBool = AtomicBool::new(false);
