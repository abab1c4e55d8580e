//! The end of a rank, and of the machine.
#![allow(unsafe_code)]

use crate::{console, rank};
use x86_64::instructions::port::Port;

/// Ends this rank. The machine ends with the first rank that failed, or with the last one.
pub fn exit(status: i32) -> ! {
    console::flush();
    #[cfg(feature = "image")]
    crate::info!("the rank ends with status {}", status);
    if rank::cores() > 1 {
        // The reader of a console of several ranks learns whose status it is.
        console::print(format_args!("{ENDED}{status}\n"));
    }
    if status != 0 || rank::leave() {
        end_machine(status);
    }
    halt()
}

/// Ends the machine at once.
fn end_machine(status: i32) -> ! {
    // QEMU's isa-debug-exit ends with (value << 1) | 1, of which 1 is also what QEMU itself fails with.
    let value = if (0..STATUS_MAX).contains(&status) { status + 1 } else { STATUS_MAX + 1 };
    // SAFETY: that device, or nothing at all.
    unsafe { Port::new(EXIT_PORT).write(value as u32) };
    console::write(b"the program has ended; this machine halts\n");
    console::flush();
    halt()
}

fn halt() -> ! {
    loop {
        // With interrupts off nothing but the power switch ends this.
        x86_64::instructions::hlt();
    }
}

/// Begins the last line of a rank where several share a machine; its exit status follows.
pub const ENDED: char = '\u{2}';
/// The highest exit status that arrives as it is; all higher ones arrive as this.
pub const STATUS_MAX: i32 = 125;
const EXIT_PORT: u16 = 0xf4;
