//! Serial ports of a PC (National Semiconductor, PC16550D).
#![allow(unsafe_code)]

use x86_64::instructions::port::Port;

/// One port, by its first register.
#[derive(Clone, Copy, Debug)]
pub struct Serial(u16);

/// The console.
pub const FIRST: Serial = Serial(0x3f8);
/// The log.
pub const SECOND: Serial = Serial(0x2f8);

impl Serial {
    /// Sets it up: 115200 baud, 8 bits, no parity. Once, by the first core.
    pub fn open(self) {
        // Interrupts off; divisor 1; 8N1; FIFOs on and empty; DTR, RTS.
        for (register, value) in [(1, 0), (3, 0x80), (0, 1), (1, 0), (3, 3), (2, 7), (4, 3)] {
            self.write(register, value);
        }
    }

    /// Whether there is one: its scratch register keeps what it is told.
    pub fn is_there(self) -> bool {
        [0x5a, 0xa5].into_iter().all(|value| {
            self.write(7, value);
            self.read(7) == value
        })
    }

    /// Sends a byte.
    pub fn put(self, byte: u8) {
        // The transmitter takes another byte; a port that is not there reads 0xff.
        while self.read(5) & 0x20 == 0 {
            core::hint::spin_loop();
        }
        self.write(0, byte);
    }

    fn write(self, register: u16, value: u8) {
        // SAFETY: a register of a serial port, or of nothing at all.
        unsafe { Port::new(self.0 + register).write(value) }
    }

    fn read(self, register: u16) -> u8 {
        // SAFETY: as above.
        unsafe { Port::new(self.0 + register).read() }
    }
}
