//! What opal-core asks of a bare image, the heap and the panic handler.
#![allow(unsafe_code)]

use crate::boot_line::{ARGUMENTS_MAX, BootLine, VARIABLES_MAX};
use crate::heap::Heap;
use crate::{apic, console, eprintln, exit, fault, rank, tsc};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};
use heapless::Vec;
use opal_core::sync::Once;

/// A boot line's parts, as slices.
struct Kept {
    environment: Vec<(&'static str, &'static str), VARIABLES_MAX>,
    arguments: Vec<&'static str, ARGUMENTS_MAX>,
}

static LINE: Once<BootLine> = Once::new();
static KEPT: Once<Kept> = Once::new();

/// Keeps the boot line for the program and for the library.
pub fn keep(line: BootLine) {
    let line = LINE.call_once(|| line);
    let rank = line.variables().find(|(name, _)| *name == "RANK").and_then(|(_, value)| value.parse().ok());
    rank::set_number(rank.unwrap_or(rank::core()));
    // The tables are as large as those of the line.
    KEPT.call_once(|| Kept { environment: line.variables().collect(), arguments: line.arguments().collect() });
}

/// The program's arguments, without its name.
pub fn arguments() -> &'static [&'static str] {
    KEPT.get().map_or(&[], |kept| &kept.arguments)
}

/// The variables that the boot line became.
#[unsafe(export_name = "__opal_bare_environment_v1")]
pub fn environment() -> &'static [(&'static str, &'static str)] {
    KEPT.get().map_or(&[], |kept| &kept.environment)
}

#[unsafe(export_name = "__opal_bare_write_v1")]
fn write(bytes: &[u8]) {
    console::write(bytes);
}

#[unsafe(export_name = "__opal_bare_exit_v1")]
fn exit(status: i32) -> ! {
    exit::exit(status)
}

#[unsafe(export_name = "__opal_bare_monotonic_ns_v1")]
fn monotonic_ns() -> u64 {
    tsc::ns()
}

#[unsafe(export_name = "__opal_bare_nap_us_v1")]
fn nap_us(microseconds: u64) {
    apic::nap_us(microseconds);
}

#[global_allocator]
static HEAP: Heap = Heap::new();

/// Says where and ends the machine.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    static PANICKING: AtomicBool = AtomicBool::new(false);
    // Relaxed: one thread; it guards against a panic in here.
    if !PANICKING.swap(true, Ordering::Relaxed) {
        match info.location() {
            Some(at) => {
                eprintln!("\n[rank {}] panicked at {}:{}: {}", rank::number(), at.file(), at.line(), info.message())
            }
            None => eprintln!("\n[rank {}] panicked: {}", rank::number(), info.message()),
        }
        fault::backtrace(panic as *const () as u64, fault::frame());
    }
    exit::exit(STATUS)
}

/// As the standard library's.
const STATUS: i32 = 101;
